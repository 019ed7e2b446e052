"""Demonstration sets over REST: read, record, import; and the uploads that imports come from."""

from pathlib import PurePosixPath
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.parsers import FileUploadParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labapp.accounts.models import Role
from labapp.accounts.roles import HasRole
from labapp.api import MadeViewSet, ServiceErrorsMixin, checked, run_field
from labapp.cells.models import Cell
from labapp.demos import selectors, services, uploads
from labapp.demos.models import Demonstration, DemonstrationSet
from labapp.demos.params import EpisodeOptions


class DemonstrationSetSerializer(serializers.ModelSerializer):
    cell = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    created_by = serializers.CharField(source="created_by.username", default=None, read_only=True)
    run = run_field()
    is_simulated = serializers.BooleanField(read_only=True)

    class Meta:
        model = DemonstrationSet
        fields = [
            "name", "source", "is_simulated", "cell", "embodiment", "views", "fps", "episodes", "frames",
            "episodes_with_video", "report", "sha256", "run", "created_by", "created_at", "ready_at",
        ]  # fmt: skip


class DemonstrationSerializer(serializers.ModelSerializer):
    object = serializers.SlugRelatedField(slug_field="name", read_only=True)

    class Meta:
        model = Demonstration
        fields = ["index", "task", "length", "duration_s", "object", "belt_speed", "outcome", "has_video", "extra"]


class EpisodeOptionsSerializer(serializers.Serializer):
    """Ranges are checked where the run's parameters are made, for forms and API alike."""

    n = serializers.IntegerField(default=EpisodeOptions.n)
    seed = serializers.IntegerField(default=EpisodeOptions.seed)
    objects = serializers.ListField(child=serializers.CharField(), default=list(EpisodeOptions.objects))
    belt_speed = serializers.ListField(
        child=serializers.FloatField(), min_length=2, max_length=2, default=list(EpisodeOptions.belt_speed)
    )
    image_size = serializers.IntegerField(default=EpisodeOptions.image_size)
    camera_fps = serializers.FloatField(default=EpisodeOptions.camera_fps)


class RecordSerializer(EpisodeOptionsSerializer):
    name = serializers.CharField()
    cell = serializers.SlugRelatedField(slug_field="slug", queryset=Cell.objects.all())


class DemonstrationImportSerializer(serializers.Serializer):
    """Either ``upload``, the token of files sent before, or ``archive``, a zip of the folder."""

    name = serializers.CharField()
    upload = serializers.CharField(required=False)
    archive = serializers.FileField(required=False)
    cell = serializers.SlugRelatedField(slug_field="slug", queryset=Cell.objects.all(), required=False, default=None)
    units = serializers.ChoiceField(["rad", "deg"], required=False, default=None)

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        if ("upload" in values) == ("archive" in values):
            raise serializers.ValidationError({"archive": "Give an archive or the token of an upload, one of both."})
        return values


def options_from(values: dict[str, Any], cls: type[EpisodeOptions] = EpisodeOptions) -> EpisodeOptions:
    """Takes the options out of validated data; ConfigError names what is impossible."""
    picked = {name: values.pop(name) for name in cls.__dataclass_fields__}
    return cls(**{name: tuple(v) if isinstance(v, list) else v for name, v in picked.items()})


class DemonstrationSetViewSet(MadeViewSet):
    """Sets of demonstrations. Posting records one on the bench cell; ``import`` takes an episodes folder."""

    queryset = DemonstrationSet.objects.all()
    serializer_class = DemonstrationSetSerializer
    filterset_fields = ("source", "embodiment")

    def get_queryset(self) -> QuerySet[DemonstrationSet]:
        return selectors.sets()

    @extend_schema(request=RecordSerializer, responses={201: DemonstrationSetSerializer})
    def create(self, request: Request) -> Response:
        """Record demonstrations on the bench cell."""
        values = checked(request, RecordSerializer)
        options = options_from(values)
        made = services.demonstrations_record(actor=request.user, options=options, **values)
        return Response(self.get_serializer(made).data, status=201)

    @extend_schema(
        request={"multipart/form-data": DemonstrationImportSerializer}, responses={201: DemonstrationSetSerializer}
    )
    @action(detail=False, methods=["post"], url_path="import", parser_classes=[MultiPartParser])
    def import_set(self, request: Request) -> Response:
        """Import an episodes folder (LeRobot v2.0, v2.1, v3.0)."""
        values = checked(request, DemonstrationImportSerializer)
        archive = values.pop("archive", None)
        if archive is not None:
            values["upload"] = uploads.archive_put(owner=request.user, file=archive)
        made = services.demonstrations_import(actor=request.user, **values)
        return Response(self.get_serializer(made).data, status=201)

    @extend_schema(responses=DemonstrationSerializer(many=True), filters=False)
    @action(detail=True, filter_backends=[])
    def episodes(self, request: Request, name: str) -> Response:
        """The set's demonstrations in order."""
        page = self.paginate_queryset(selectors.demonstrations_of(self.get_object()))
        return self.get_paginated_response(DemonstrationSerializer(page, many=True).data)


class UploadBegin(APIView):
    """A token under which the files of one folder are sent, each with its own PUT."""

    permission_classes = [HasRole.of(Role.RESEARCHER)]

    @extend_schema(request=None, responses={201: inline_serializer("UploadToken", {"token": serializers.CharField()})})
    def post(self, request: Request) -> Response:
        return Response({"token": uploads.upload_begin(owner=request.user)}, status=201)


class PathUploadParser(FileUploadParser):
    """The body is the file; its name is in the address."""

    def get_filename(self, stream: Any, media_type: str, parser_context: dict[str, Any]) -> str:
        return PurePosixPath(parser_context["kwargs"]["path"]).name


class UploadFile(ServiceErrorsMixin, APIView):
    """One file of an upload; sending it again replaces it."""

    permission_classes = [HasRole.of(Role.RESEARCHER)]
    parser_classes = [PathUploadParser]

    @extend_schema(
        request={"application/octet-stream": OpenApiTypes.BINARY},
        responses=inline_serializer(
            "UploadedFile", {"sha256": serializers.CharField(), "size_bytes": serializers.IntegerField()}
        ),
    )
    def put(self, request: Request, token: str, path: str) -> Response:
        stored = uploads.upload_put(token=token, owner=request.user, path=path, file=request.data["file"])
        return Response({"sha256": stored.sha256, "size_bytes": stored.size_bytes})
