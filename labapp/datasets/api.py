"""Grounding configurations and simulated datasets over REST."""

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ReadOnlyModelViewSet

from labapp.accounts.roles import RESEARCH, HasRole
from labapp.api import MadeViewSet, checked, run_field
from labapp.cells.models import World
from labapp.datasets import selectors, services
from labapp.datasets.models import BehaviorSource, GroundingConfiguration, SimulatedDataset
from labapp.datasets.params import GenerateOptions
from labapp.demos.api import EpisodeOptionsSerializer, options_from
from labapp.demos.models import DemonstrationSet


class GroundingConfigurationSerializer(serializers.ModelSerializer):
    behavior = serializers.CharField(source="behavior.method", read_only=True)
    world_grounding = serializers.CharField(source="world.grounding", read_only=True)
    is_behavior_grounded = serializers.BooleanField(source="behavior.is_grounded", read_only=True)

    class Meta:
        model = GroundingConfiguration
        fields = ["id", "name", "world", "world_grounding", "behavior", "is_behavior_grounded", "created_at"]


class SimulatedDatasetSerializer(serializers.ModelSerializer):
    configuration = GroundingConfigurationSerializer(read_only=True)
    demonstration_set = serializers.SlugRelatedField(slug_field="name", read_only=True)
    created_by = serializers.CharField(source="created_by.username", default=None, read_only=True)
    run = run_field()

    class Meta:
        model = SimulatedDataset
        fields = [
            "name", "configuration", "demonstration_set", "requested", "trajectories", "frames", "attempts", "funnel",
            "seed", "image_size", "sha256", "run", "created_by", "created_at", "ready_at",
        ]  # fmt: skip


class GenerateSerializer(EpisodeOptionsSerializer):
    name = serializers.CharField()
    world = serializers.PrimaryKeyRelatedField(queryset=World.objects.select_related("cell"))
    behavior = serializers.ChoiceField(BehaviorSource.Method.choices)
    demonstration_set = serializers.SlugRelatedField(
        slug_field="name", queryset=DemonstrationSet.objects.all(), required=False, default=None
    )
    n = serializers.IntegerField(default=GenerateOptions.n)
    workers = serializers.IntegerField(default=GenerateOptions.workers)


class SimulatedDatasetViewSet(MadeViewSet):
    """Simulated datasets. Posting generates one."""

    queryset = SimulatedDataset.objects.all()
    serializer_class = SimulatedDatasetSerializer
    filterset_fields = ("configuration", "demonstration_set__name")

    def get_queryset(self) -> QuerySet[SimulatedDataset]:
        return selectors.datasets()

    @extend_schema(request=GenerateSerializer, responses={201: SimulatedDatasetSerializer})
    def create(self, request: Request) -> Response:
        """Generate a dataset under a world and a behavior."""
        values = checked(request, GenerateSerializer)
        options = options_from(values, GenerateOptions)
        made = services.dataset_generate(actor=request.user, options=options, **values)
        return Response(self.get_serializer(made).data, status=201)


class GroundingConfigurationViewSet(ReadOnlyModelViewSet):
    """Worlds crossed with behavior sources; made when the first dataset of each is generated."""

    queryset = GroundingConfiguration.objects.all()
    serializer_class = GroundingConfigurationSerializer
    permission_classes = [HasRole.of(*RESEARCH)]
    filterset_fields = ("world", "behavior__method")

    def get_queryset(self) -> QuerySet[GroundingConfiguration]:
        return selectors.configurations()
