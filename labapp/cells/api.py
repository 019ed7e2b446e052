"""Cells and worlds over REST."""

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ReadOnlyModelViewSet

from labapp.accounts.models import Role
from labapp.accounts.roles import EVERYONE, RESEARCH, HasRole
from labapp.api import ServiceErrorsMixin, checked
from labapp.cells import selectors, services
from labapp.cells.models import Calibration, Cell, CellObject, World


class CellObjectSerializer(serializers.ModelSerializer):
    size_m = serializers.ListField(child=serializers.FloatField(), read_only=True)

    class Meta:
        model = CellObject
        fields = ["name", "label", "shape", "size_m", "mass_kg", "is_novel"]


class CellSerializer(serializers.ModelSerializer):
    objects = CellObjectSerializer(source="cell_objects", many=True, read_only=True)

    class Meta:
        model = Cell
        fields = ["slug", "name", "embodiment", "is_simulated", "objects", "created_at"]


class CalibrationSerializer(serializers.ModelSerializer):
    cell = serializers.SlugRelatedField(slug_field="slug", read_only=True)

    class Meta:
        model = Calibration
        fields = ["id", "cell", "part", "method", "parameters", "residuals", "run", "created_at"]


class WorldSerializer(serializers.ModelSerializer):
    cell = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    grounding = serializers.CharField(read_only=True)

    class Meta:
        model = World
        fields = [
            "id", "cell", "name", "version", "grounding", "parameters", "sha256", "visual_calibration",
            "layout_calibration", "dynamics_calibration", "created_at",
        ]  # fmt: skip


class WorldLaunchSerializer(serializers.Serializer):
    cell = serializers.SlugRelatedField(slug_field="slug", queryset=Cell.objects.all())
    source = serializers.ChoiceField(["measure", "nominal"])
    name = serializers.SlugField(max_length=World._meta.get_field("name").max_length)
    seed = serializers.IntegerField(default=0)


class LaunchedSerializer(serializers.Serializer):
    """The run that makes it."""

    run = serializers.IntegerField(source="pk")
    status = serializers.CharField()


class CellViewSet(ReadOnlyModelViewSet):
    """Robot cells and the objects they handle."""

    queryset = Cell.objects.prefetch_related("cell_objects")
    serializer_class = CellSerializer
    permission_classes = [HasRole.of(*EVERYONE)]
    lookup_field = "slug"
    lookup_value_regex = "[-\\w]+"


class CalibrationViewSet(ReadOnlyModelViewSet):
    """Measurements of a cell."""

    queryset = Calibration.objects.select_related("cell")
    serializer_class = CalibrationSerializer
    permission_classes = [HasRole.of(*RESEARCH)]
    filterset_fields = ("cell__slug", "part")


class WorldViewSet(ServiceErrorsMixin, ReadOnlyModelViewSet):
    """Worlds. Posting measures a cell, or writes its description down as the nominal world."""

    queryset = World.objects.all()
    serializer_class = WorldSerializer
    permission_classes = [HasRole.of(Role.RESEARCHER, read=RESEARCH)]
    filterset_fields = ("cell__slug", "name")

    def get_queryset(self) -> QuerySet[World]:
        return selectors.worlds()

    @extend_schema(request=WorldLaunchSerializer, responses={202: LaunchedSerializer})
    def create(self, request: Request) -> Response:
        """Queue the run that makes the world."""
        run = services.world_launch(actor=request.user, **checked(request, WorldLaunchSerializer))
        return Response(LaunchedSerializer(run).data, status=202)
