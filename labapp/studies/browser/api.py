"""REST of notes and flags: who sees the trial reads and adds, only the author changes, deletes and restores."""

import uuid
from typing import ClassVar
from uuid import UUID

from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labapp.accounts.roles import EVERYONE, HasRole
from labapp.api import ServiceErrorsMixin
from labapp.studies.browser import remarks
from labapp.studies.browser.models import TrialFlag, TrialNote
from labapp.studies.browser.serializers import FlagSerializer, NoteSerializer
from labapp.studies.models import Trial


class RemarkView(ServiceErrorsMixin, APIView):
    """What every view here shares; the subclass names model and serializer."""

    permission_classes = [HasRole.of(*EVERYONE)]
    model: ClassVar[type[TrialNote] | type[TrialFlag]]
    serializer_class: type[NoteSerializer]

    def values(self, request: Request, *, partial: bool = False) -> dict:
        given = self.serializer_class(data=request.data, partial=partial)
        given.is_valid(raise_exception=True)
        return dict(given.validated_data)

    def answer(self, remark: remarks.Remark, status: int = 200) -> Response:
        return Response(self.serializer_class(remark).data, status=status)


class RemarkList(RemarkView):
    def get(self, request: Request, trial_id: UUID) -> Response:
        trial = get_object_or_404(Trial, pk=trial_id)
        found = self.model.objects.filter(trial=trial, deleted_at=None).select_related("author")
        return Response(self.serializer_class(found, many=True).data)

    def post(self, request: Request, trial_id: UUID) -> Response:
        trial = get_object_or_404(Trial.objects.select_related("study"), pk=trial_id)
        values = self.values(request)
        remark_id = values.pop("id", None) or uuid.uuid4()
        made = remarks.remark_create(self.model, remark_id=remark_id, trial=trial, author=request.user, **values)
        return self.answer(made, status=201)


class RemarkDetail(RemarkView):
    def patch(self, request: Request, remark_id: UUID) -> Response:
        get_object_or_404(self.model, pk=remark_id)
        values = self.values(request, partial=True)
        now = timezone.now()
        return self.answer(remarks.remark_edit(self.model, remark_id=remark_id, actor=request.user, now=now, **values))

    def delete(self, request: Request, remark_id: UUID) -> Response:
        get_object_or_404(self.model, pk=remark_id)
        remarks.remark_delete(self.model, remark_id=remark_id, actor=request.user, now=timezone.now())
        return Response(status=204)


class RemarkRestore(RemarkView):
    """Undo a deletion."""

    def post(self, request: Request, remark_id: UUID) -> Response:
        get_object_or_404(self.model, pk=remark_id)
        return self.answer(remarks.remark_restore(self.model, remark_id=remark_id, actor=request.user))


@extend_schema_view(
    get=extend_schema(responses=NoteSerializer(many=True)),
    post=extend_schema(request=NoteSerializer, responses={201: NoteSerializer}),
)
class NoteList(RemarkList):
    model, serializer_class = TrialNote, NoteSerializer


@extend_schema_view(
    get=extend_schema(responses=FlagSerializer(many=True)),
    post=extend_schema(request=FlagSerializer, responses={201: FlagSerializer}),
)
class FlagList(RemarkList):
    model, serializer_class = TrialFlag, FlagSerializer


class NoteDetail(RemarkDetail):
    model, serializer_class = TrialNote, NoteSerializer


class FlagDetail(RemarkDetail):
    model, serializer_class = TrialFlag, FlagSerializer


@extend_schema_view(post=extend_schema(request=None, responses=NoteSerializer))
class NoteRestore(RemarkRestore):
    model, serializer_class = TrialNote, NoteSerializer


@extend_schema_view(post=extend_schema(request=None, responses=FlagSerializer))
class FlagRestore(RemarkRestore):
    model, serializer_class = TrialFlag, FlagSerializer
