"""REST of attributions: researchers and the trial's own agent attach them, who may know policies reads them."""

from typing import Any, BinaryIO
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.authentication import SessionAuthentication
from rest_framework.exceptions import APIException, PermissionDenied, ValidationError
from rest_framework.parsers import BaseParser, JSONParser
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labapp.accounts.authentication import TokenAuthentication
from labapp.accounts.roles import EVERYONE, RESEARCH, has_role
from labapp.api import ServiceErrorsMixin
from labapp.cells.authentication import AgentAuthentication
from labapp.cells.models import Agent
from labapp.studies.browser import attributions
from labapp.studies.browser.attribution import MAX_ROWS, SHARES, Attribution, from_json, from_parquet, thinned
from labapp.studies.browser.models import TrialAttribution
from labapp.studies.models import Trial
from labapp.studies.selectors import sees_policies

MAX_BYTES = 64 * 1024 * 1024
PARQUET = "application/vnd.apache.parquet"
HIDDEN = "Hidden while the study is blinded: the names of what is attributed to may tell the policy."
KIND = OpenApiParameter("kind", str, enum=["shares", "scores"], description="Of a Parquet table; JSON names it.")


class TooLarge(APIException):
    status_code, default_code = 413, "too_large"
    default_detail = f"At most {MAX_BYTES // 2**20} MB."


class LengthRequired(APIException):
    status_code, default_code = 411, "length_required"
    default_detail = f"Send the body with its Content-Length: at most {MAX_BYTES // 2**20} MB are read."


class ParquetParser(BaseParser):
    media_type = PARQUET

    def parse(self, stream: BinaryIO, media_type: str | None = None, parser_context: Any = None) -> bytes:
        return stream.read(MAX_BYTES + 1)


class ReadsOrAttaches(BasePermission):
    """People read, research writes; an agent writes, of its own trials."""

    message = "Only researchers, PIs and the trial's own agent attach attributions."

    def has_permission(self, request: Request, view: Any) -> bool:
        if isinstance(request.auth, Agent):
            return request.method == "PUT"
        return has_role(request.user, *(EVERYONE if request.method in ("GET", "HEAD", "OPTIONS") else RESEARCH))


class AttributionSerializer(serializers.ModelSerializer):
    author = serializers.CharField(source="author.username", default=None)
    agent = serializers.CharField(source="agent.name", default=None)

    class Meta:
        model = TrialAttribution
        fields = ("name", "kind", "components", "row_count", "sha256", "author", "agent", "stored_at")


class AttributionInput(serializers.Serializer):
    """Only for the schema: what `attribution.from_json` checks."""

    time_s = serializers.ListField(child=serializers.FloatField(), help_text="Rising, from the trial's start.")
    shares = serializers.DictField(
        child=serializers.ListField(child=serializers.FloatField(allow_null=True)),
        required=False,
        help_text="By component; each row sums to 1.",
    )
    scores = serializers.DictField(
        child=serializers.ListField(child=serializers.FloatField(allow_null=True)),
        required=False,
        help_text="In place of shares: each value stands for itself, between 0 and 1.",
    )


class AttributionView(ServiceErrorsMixin, APIView):
    authentication_classes = [TokenAuthentication, SessionAuthentication, AgentAuthentication]
    permission_classes = [ReadsOrAttaches]
    parser_classes = [JSONParser, ParquetParser]

    def trial(self, request: Request, trial_id: UUID) -> Trial:
        """The trial, for one who may know what its attributions name; an agent has only its own."""
        rows = Trial.objects.select_related("study")
        if isinstance(request.auth, Agent):
            return get_object_or_404(rows, pk=trial_id, agent=request.auth)
        trial = get_object_or_404(rows, pk=trial_id)
        if not sees_policies(request.user, trial.study):
            raise PermissionDenied(HIDDEN)
        return trial

    def rows(self, trial: Trial) -> QuerySet[TrialAttribution]:
        return trial.attributions.select_related("author", "agent")


class AttributionList(AttributionView):
    @extend_schema(operation_id="trial_attributions_list", responses=AttributionSerializer(many=True))
    def get(self, request: Request, trial_id: UUID) -> Response:
        return Response(AttributionSerializer(self.rows(self.trial(request, trial_id)), many=True).data)


class AttributionDetail(AttributionView):
    @extend_schema(operation_id="trial_attributions_retrieve", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, trial_id: UUID, name: str) -> Response:
        """Facts and all rows."""
        row = get_object_or_404(self.rows(self.trial(request, trial_id)), name=name)
        series = thinned(attributions.attribution_read(row), MAX_ROWS)
        columns = dict(zip(series["components"], series["values"], strict=True))
        return Response(AttributionSerializer(row).data | {"time_s": series["times_s"], row.kind: columns})

    @extend_schema(
        operation_id="trial_attributions_update",
        parameters=[KIND],
        request={"application/json": AttributionInput, PARQUET: OpenApiTypes.BINARY},
        responses={200: AttributionSerializer},
    )
    def put(self, request: Request, trial_id: UUID, name: str) -> Response:
        """Attach an attribution; one of the same name is replaced. Sent twice, it is there once."""
        trial = self.trial(request, trial_id)
        by = {"agent": request.auth} if isinstance(request.auth, Agent) else {"author": request.user}
        row = attributions.attribution_attach(trial=trial, name=name, given=given(request), **by)
        return Response(AttributionSerializer(row).data)

    @extend_schema(operation_id="trial_attributions_destroy", responses={204: None})
    def delete(self, request: Request, trial_id: UUID, name: str) -> Response:
        row = get_object_or_404(self.rows(self.trial(request, trial_id)), name=name)
        attributions.attribution_remove(row=row)
        return Response(status=204)


def given(request: Request) -> Attribution:
    """The attribution in a request's body."""
    length = request.META.get("CONTENT_LENGTH") or ""
    if not length.isdecimal():
        raise LengthRequired
    if int(length) > MAX_BYTES:
        raise TooLarge
    body = request.data
    if isinstance(body, bytes):
        return from_parquet(body, request.query_params.get("kind", SHARES))
    if not isinstance(body, dict):
        raise ValidationError({SHARES: ["Send an object with “time_s” and “shares” or “scores”."]})
    return from_json(body)
