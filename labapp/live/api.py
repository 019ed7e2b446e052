"""REST for agents: checkpoints down, reports and recordings up. Every call may be repeated."""

from collections.abc import Iterator
from typing import Any, BinaryIO
from uuid import UUID

from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError as BadRequest
from rest_framework.parsers import BaseParser, JSONParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labapp import storage
from labapp.cells.authentication import AgentAuthentication, IsAgent
from labapp.live import uploads
from labapp.live.trials import trial_report
from labapp.policies.models import Checkpoint
from labapp.studies.models import Trial
from robots.agent.protocol import Proposal, TrialEvent
from robots.config import from_json
from robots.errors import ConfigError

CHUNK = 1 << 20
TRAINING_ONLY = ("resume.safetensors",)  # optimiser state: a robot has no use for it


class RawParser(BaseParser):
    """Leaves the body as a stream: a video is never held in memory."""

    media_type = "application/octet-stream"

    def parse(self, stream: BinaryIO, media_type: str | None = None, parser_context: Any = None) -> BinaryIO:
        return stream


class AgentView(APIView):
    authentication_classes = [AgentAuthentication]
    permission_classes = [IsAgent]

    def trial(self, request: Request, trial_id: UUID) -> Trial:
        """A trial of this agent; another agent's does not exist for it."""
        trial = Trial.objects.select_related("study__cell").filter(pk=trial_id, agent=request.auth).first()
        if trial is None:
            raise Http404("This agent has no such trial.")
        return trial


class CheckpointFileSerializer(serializers.Serializer):
    name = serializers.CharField()
    sha256 = serializers.CharField()
    url = serializers.CharField()


class CheckpointSerializer(serializers.Serializer):
    sha256 = serializers.CharField()
    files = CheckpointFileSerializer(many=True)


class ReportSerializer(serializers.Serializer):
    proposal = serializers.DictField(help_text="The referee's proposal.")
    events = serializers.ListField(child=serializers.DictField(), required=False, help_text="All events of the trial.")


class RecordingSerializer(serializers.Serializer):
    files = serializers.DictField(child=serializers.CharField(), help_text="Relative path to SHA-256.")
    videos = serializers.DictField(child=serializers.CharField(), required=False, help_text="Camera to path.")


class CheckpointView(AgentView):
    @extend_schema(responses=CheckpointSerializer, summary="Files of a checkpoint")
    def get(self, request: Request, sha256: str) -> Response:
        manifest = storage.folder_manifest(checkpoint_or_404(sha256).prefix)
        files = [
            {"name": name, "sha256": entry["sha256"], "url": reverse("api:agent-checkpoint-file", args=[sha256, name])}
            for name, entry in sorted(manifest.items())
            if name not in TRAINING_ONLY
        ]
        return Response({"sha256": sha256, "files": files})


class CheckpointFileView(AgentView):
    @extend_schema(
        operation_id="agent_checkpoint_file_retrieve",
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
        summary="A checkpoint file",
    )
    def get(self, request: Request, sha256: str, name: str) -> StreamingHttpResponse:
        prefix = checkpoint_or_404(sha256).prefix
        if name not in storage.folder_manifest(prefix):
            raise Http404("This checkpoint has no such file.")
        key = f"{prefix}/{name}"
        headers = {"Content-Length": str(storage.stat(key).size_bytes)}
        return StreamingHttpResponse(storage.open_range(key), headers=headers, content_type="application/octet-stream")


class TrialReportView(AgentView):
    parser_classes = [JSONParser]

    @extend_schema(request=ReportSerializer, responses={204: None}, summary="Report the end of a trial")
    def put(self, request: Request, trial_id: UUID) -> HttpResponse:
        trial = self.trial(request, trial_id)
        serializer = ReportSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        try:
            proposal = from_json(Proposal, serializer.validated_data["proposal"])
            events = [from_json(TrialEvent, event) for event in serializer.validated_data.get("events", [])]
        except ConfigError as error:
            raise BadRequest(str(error)) from error
        trial_report(trial=trial, proposal=proposal, events=events, now=timezone.now())
        return Response(status=204)


class TrialEpisodeView(AgentView):
    parser_classes = [JSONParser]

    @extend_schema(responses=RecordingSerializer, summary="Files of the recording that are here")
    def get(self, request: Request, trial_id: UUID) -> Response:
        return Response({"files": uploads.episode_files(self.trial(request, trial_id)), "videos": {}})

    @extend_schema(request=RecordingSerializer, responses={204: None}, summary="Make the recording whole")
    def put(self, request: Request, trial_id: UUID) -> Response:
        trial = self.trial(request, trial_id)
        serializer = RecordingSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        values = serializer.validated_data
        with refused_as_400():
            uploads.episode_complete(trial=trial, files=values["files"], videos=values.get("videos", {}))
        return Response(status=204)


class TrialEpisodeFileView(AgentView):
    parser_classes = [RawParser]

    @extend_schema(
        operation_id="agent_trials_episode_file_update",
        request={"application/octet-stream": OpenApiTypes.BINARY},
        responses={204: None},
        summary="Upload one file of the recording",
        description="The header X-Content-SHA256 carries the file's hash.",
    )
    def put(self, request: Request, trial_id: UUID, path: str) -> Response:
        trial = self.trial(request, trial_id)
        sha256 = request.headers.get("X-Content-SHA256", "")
        if int(request.headers.get("Content-Length") or 0) > uploads.MAX_FILE_BYTES:
            return Response({"detail": f"At most {uploads.MAX_FILE_BYTES // 2**20} MB a file."}, status=413)
        with refused_as_400():
            uploads.episode_file_store(trial=trial, path=path, sha256=sha256, chunks=chunks_of(request.stream))
        return Response(status=204)


class refused_as_400:  # noqa: N801 - reads as a statement
    """Turns a service's ValidationError into a 400 with its words."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        if isinstance(error, ValidationError):
            raise BadRequest(error.messages) from error


def checkpoint_or_404(sha256: str) -> Checkpoint:
    checkpoint = Checkpoint.objects.filter(sha256=sha256).first()
    if checkpoint is None:
        raise Http404("There is no such checkpoint.")
    return checkpoint


def chunks_of(stream: BinaryIO | None) -> Iterator[bytes]:
    while stream is not None and (chunk := stream.read(CHUNK)):
        yield chunk
