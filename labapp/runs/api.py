"""Runs over REST: list, detail, log, metrics, cancel, retry. Launching belongs to the app whose run it is."""

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ReadOnlyModelViewSet

from labapp.accounts.models import Role
from labapp.accounts.roles import RESEARCH, HasRole
from labapp.runs.filters import RunFilter
from labapp.runs.models import Run, RunArtifact, RunEvent, RunMetric
from labapp.runs.selectors import runs_for_list
from labapp.runs.services import RunStateError, run_cancel, run_retry


class RunArtifactSerializer(serializers.ModelSerializer):
    class Meta:
        model = RunArtifact
        fields = ["path", "kind", "sha256", "size_bytes", "file_count", "created_at"]


class RunSerializer(serializers.ModelSerializer):
    created_by = serializers.CharField(source="created_by.username", default=None, read_only=True)
    percent = serializers.FloatField(read_only=True, allow_null=True)
    artifacts = RunArtifactSerializer(many=True, read_only=True)

    class Meta:
        model = Run
        fields = [
            "id", "kind", "title", "queue", "params", "status", "created_by", "created_at", "started_at", "finished_at",
            "attempt", "worker", "progress_done", "progress_total", "progress_unit", "percent", "error", "error_field",
            "result", "artifacts",
        ]  # fmt: skip


class RunEventSerializer(serializers.ModelSerializer):
    class Meta:
        model = RunEvent
        fields = ["seq", "at", "level", "message"]


class RunMetricSerializer(serializers.ModelSerializer):
    class Meta:
        model = RunMetric
        fields = ["step", "name", "value", "flag"]


class RunViewSet(ReadOnlyModelViewSet):
    """Long jobs: generation, training, import, analysis."""

    queryset = Run.objects.all()
    serializer_class = RunSerializer
    filterset_class = RunFilter
    permission_classes = [HasRole.of(Role.RESEARCHER, read=RESEARCH)]

    def get_queryset(self) -> QuerySet[Run]:
        return runs_for_list().prefetch_related("artifacts")

    @extend_schema(request=None, responses=RunSerializer)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        """Ask a running run to stop, or take a queued one back."""
        return self._change(lambda run: run_cancel(run_id=run.pk, by=request.user, now=timezone.now()))

    @extend_schema(request=None, responses=RunSerializer)
    @action(detail=True, methods=["post"])
    def retry(self, request: Request, pk: str) -> Response:
        """Queue a failed, cancelled or lost run again; it resumes."""
        return self._change(lambda run: run_retry(run_id=run.pk, by=request.user))

    @extend_schema(
        parameters=[OpenApiParameter("after", int, description="Only lines with a higher number.")],
        responses=RunEventSerializer(many=True),
        filters=False,
    )
    @action(detail=True, filter_backends=[])
    def events(self, request: Request, pk: str) -> Response:
        """The log, in order."""
        after = serializers.IntegerField(min_value=0).run_validation(request.query_params.get("after", 0))
        rows = self.get_object().events.filter(seq__gt=after)
        return self._page(rows, RunEventSerializer)

    @extend_schema(responses=RunMetricSerializer(many=True), filters=False)
    @action(detail=True, filter_backends=[])
    def metrics(self, request: Request, pk: str) -> Response:
        """One value per step and name; a value that is no number is null with a flag."""
        return self._page(self.get_object().metrics.all(), RunMetricSerializer)

    def _page(self, rows: QuerySet, serializer: type[serializers.ModelSerializer]) -> Response:
        page = self.paginate_queryset(rows)
        return self.get_paginated_response(serializer(page, many=True).data)

    def _change(self, change) -> Response:
        try:
            run = change(self.get_object())
        except RunStateError as error:
            return Response({"detail": str(error)}, status=status.HTTP_409_CONFLICT)
        return Response(self.get_serializer(run).data)
