"""REST of studies and trials, over the same services as the pages. A conflict is 409 and says what is there now."""

from abc import ABC, abstractmethod
from typing import Any
from urllib.parse import unquote
from uuid import UUID

from django.core.exceptions import ValidationError as Refused
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labapp.accounts.models import Role
from labapp.accounts.roles import EVERYONE, RESEARCH, HasRole
from labapp.cells.agents import agent_for, stop_cell
from labapp.cells.models import Cell
from labapp.forms import field_errors
from labapp.studies import serializers, services, trials
from labapp.studies.console import console_state, trial_facts
from labapp.studies.dispatch import study_changed, trial_dispatch, trial_recall
from labapp.studies.filters import TrialFilter
from labapp.studies.forms import PRESETS
from labapp.studies.history import put_back
from labapp.studies.models import OperatorSession, Study, Trial
from labapp.studies.selectors import studies_at_rig
from labapp.studies.sessions import SessionConflict, session_end, session_start

TRIAL_ROWS = ("study__cell", "slot__object", "slot__arm", "slot__condition", "arm", "condition", "operator")


class Conflict(APIException):
    status_code = 409
    default_code = "conflict"


class OtherPerson(APIException):
    status_code = 412
    default_code = "other_person"


class StudiesView(APIView):
    """What every view here shares: services refuse with 400 by field, or 409; a page of somebody else's is told 412."""

    permission_classes = [HasRole.of(*EVERYONE)]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """A page that names its person is answered as that person only: tabs share a sign-in, not a decision."""
        super().initial(request, *args, **kwargs)
        name, signed_in = unquote(request.headers.get("X-Signed-In-As", "")), request.user.get_username()
        if name and name != signed_in:
            raise OtherPerson(f"This is {name}'s page, and {signed_in} has signed in meanwhile: load the page again.")

    def handle_exception(self, error: Exception) -> Response:
        if isinstance(error, Refused):
            error = ValidationError(field_errors(error))
        if isinstance(error, trials.TrialConflict | SessionConflict):
            error = Conflict(str(error))
        return super().handle_exception(error)

    @staticmethod
    def data(request: Request, serializer: type) -> dict[str, Any]:
        checked = serializer(data=request.data)
        checked.is_valid(raise_exception=True)
        return checked.validated_data


class StudyList(StudiesView, ListAPIView):
    permission_classes = [HasRole.of(Role.RESEARCHER, read=EVERYONE)]
    serializer_class = serializers.StudySerializer
    queryset = Study.objects.select_related("cell").prefetch_related("arms__policy", "conditions")
    filterset_fields = ("status", "is_simulated")

    @extend_schema(request=serializers.StudyCreateSerializer, responses={201: serializers.StudySerializer})
    def post(self, request: Request) -> Response:
        values = self.data(request, serializers.StudyCreateSerializer)
        checkpoints, preset = values.pop("policies"), values.pop("preset")
        study = services.study_create(checkpoints=checkpoints, conditions=PRESETS[preset], actor=request.user, **values)
        return Response(self.get_serializer(study).data, status=201)


class StudyDetail(StudiesView):
    @extend_schema(responses=serializers.StudySerializer)
    def get(self, request: Request, slug: str) -> Response:
        return study_response(request, slug)


def study_response(request: Request, slug: str) -> Response:
    study = get_object_or_404(StudyList.queryset, slug=slug)
    return Response(serializers.StudySerializer(study, context={"request": request}).data)


class StudyLock(StudiesView):
    permission_classes = [HasRole.of(Role.RESEARCHER)]

    @extend_schema(request=None, responses=serializers.StudySerializer)
    def post(self, request: Request, slug: str) -> Response:
        services.study_lock(study=get_object_or_404(Study, slug=slug), actor=request.user, now=timezone.now())
        return study_response(request, slug)


class StudyUnblind(StudiesView):
    permission_classes = [HasRole.of(Role.PI)]

    @extend_schema(request=serializers.ReasonSerializer, responses=serializers.StudySerializer)
    def post(self, request: Request, slug: str) -> Response:
        values = self.data(request, serializers.ReasonSerializer)
        study = get_object_or_404(Study, slug=slug)
        services.study_unblind(study=study, actor=request.user, now=timezone.now(), **values)
        return study_response(request, slug)


class StudyFinish(StudiesView):
    permission_classes = [HasRole.of(*RESEARCH)]

    @extend_schema(request=serializers.ReasonSerializer, responses=serializers.StudySerializer)
    def post(self, request: Request, slug: str) -> Response:
        values = self.data(request, serializers.ReasonSerializer)
        study = get_object_or_404(Study, slug=slug)
        services.study_finish(study=study, actor=request.user, now=timezone.now(), **values)
        return study_response(request, slug)


class ConsoleState(StudiesView):
    @extend_schema(responses=OpenApiTypes.OBJECT, summary="What the operator console shows")
    def get(self, request: Request, slug: str) -> Response:
        now = timezone.now()
        return Response(console_state(get_object_or_404(studies_at_rig(now), slug=slug), request.user, now))


class SessionView(StudiesView):
    @extend_schema(request=serializers.SessionSerializer, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, slug: str) -> Response:
        values = self.data(request, serializers.SessionSerializer)
        study = get_object_or_404(Study.objects.select_related("cell"), slug=slug)
        session = session_start(study=study, operator=request.user, now=timezone.now(), **values)
        study_changed(study)
        return Response({"id": session.pk, "started_at": session.started_at}, status=201)

    @extend_schema(request=serializers.SessionSerializer, responses={204: None})
    def delete(self, request: Request, slug: str) -> Response:
        study = get_object_or_404(Study.objects.select_related("cell"), slug=slug)
        session_end(study=study, operator=request.user, now=timezone.now())
        study_changed(study)
        return Response(status=204)


class TrialList(StudiesView, ListAPIView):
    """Trials of a study with the filters of the page; POST starts the next one."""

    serializer_class = serializers.TrialSerializer
    filter_backends = ()
    queryset = Trial.objects.none()

    def get_queryset(self) -> QuerySet[Trial]:
        study = get_object_or_404(Study, slug=self.kwargs["slug"])
        rows = study.trials.select_related(*TRIAL_ROWS).prefetch_related("videos__media")
        found = TrialFilter(self.request.query_params, rows, study=study)
        if not found.is_valid():
            raise ValidationError(found.errors)
        return found.qs

    def paginate_queryset(self, queryset: QuerySet[Trial]) -> list[Trial]:
        """With ``until`` the trials as they were then."""
        return list(put_back(super().paginate_queryset(queryset)))

    @extend_schema(request=serializers.StartSerializer, responses={201: OpenApiTypes.OBJECT})
    def post(self, request: Request, slug: str) -> Response:
        values = self.data(request, serializers.StartSerializer)
        study = get_object_or_404(Study.objects.select_related("cell"), slug=slug)
        is_known = study.trials.filter(pk=values["id"]).exists()
        now = timezone.now()
        agent = agent_for(study.cell, now)
        if agent is None and not is_known:
            raise Refused("No agent is connected to this cell: the robot cannot be started.")
        trial = trials.trial_start(
            trial_id=values["id"],
            study=study,
            slot=study.slots.filter(pk=values["slot"]).first() if "slot" in values else None,
            session=OperatorSession.objects.filter(pk=values.get("session"), operator=request.user).first(),
            operator=request.user,
            agent=agent,
            now=now,
        )
        if not is_known:
            trial_dispatch(trial)
        return Response(trial_facts(trial), status=200 if is_known else 201)


class TrialChange(StudiesView, ABC):
    """One change of a trial: the subclass names its serializer and does it."""

    serializer_class: type = serializers.VersionSerializer

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, trial_id: UUID) -> Response:
        trial = get_object_or_404(Trial.objects.select_related(*TRIAL_ROWS), pk=trial_id)
        changed = self.change(trial, self.data(request, self.serializer_class), request)
        study_changed(trial.study)
        return Response(trial_facts(changed))

    @abstractmethod
    def change(self, trial: Trial, values: dict[str, Any], request: Request) -> Trial:
        """Call the service and return the trial as it is now."""


class TrialConfirm(TrialChange):
    serializer_class = serializers.OutcomeSerializer

    def change(self, trial: Trial, values: dict[str, Any], request: Request) -> Trial:
        version = values.pop("version")
        outcome = trials.Outcome(**values)
        return trials.trial_confirm(
            trial=trial, outcome=outcome, version=version, actor=request.user, now=timezone.now()
        )


class TrialUndo(TrialChange):
    def change(self, trial: Trial, values: dict[str, Any], request: Request) -> Trial:
        return trials.trial_undo(trial=trial, actor=request.user, now=timezone.now(), **values)


class TrialCorrect(TrialChange):
    serializer_class = serializers.CorrectionSerializer

    def change(self, trial: Trial, values: dict[str, Any], request: Request) -> Trial:
        version, reason = values.pop("version"), values.pop("reason")
        outcome = trials.Outcome(**values)
        return trials.trial_correct(
            trial=trial, outcome=outcome, reason=reason, version=version, actor=request.user, now=timezone.now()
        )


class TrialInvalidate(TrialChange):
    serializer_class = serializers.InvalidSerializer

    def change(self, trial: Trial, values: dict[str, Any], request: Request) -> Trial:
        is_running = trial.status == Trial.Status.RUNNING
        changed = trials.trial_invalidate(trial=trial, actor=request.user, now=timezone.now(), **values)
        if is_running:
            trial_recall(changed, "The operator ended the trial as invalid.")
        return changed


class TrialStop(StudiesView):
    """End a running trial early; the operator scores what was seen."""

    @extend_schema(request=None, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, trial_id: UUID) -> Response:
        trial = get_object_or_404(Trial.objects.select_related(*TRIAL_ROWS), pk=trial_id)
        trial_recall(trial, f"Stopped by {request.user.get_username()}.")
        return Response(trial_facts(trial))


class CellStop(StudiesView):
    """The software stop over REST, for a page whose socket is down."""

    @extend_schema(request=None, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, slug: str) -> Response:
        reached = stop_cell(get_object_or_404(Cell, slug=slug), True, request.user.get_username())
        return Response({"agents": reached})
