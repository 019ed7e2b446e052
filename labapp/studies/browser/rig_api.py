"""REST of the reset overlay: which pictures to show, and the picture of the empty rig."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labapp.accounts.roles import EVERYONE, HasRole
from labapp.api import ServiceErrorsMixin, checked
from labapp.studies.browser.reference import SUFFIXES, reference_facts, rig_picture_store
from labapp.studies.models import OperatorSession, Study

MAX_BYTES = 2 * 2**20
TYPES = {"JPEG": "image/jpeg", "PNG": "image/png"}


class PictureSerializer(serializers.Serializer):
    picture = serializers.ImageField(help_text="JPEG or PNG of the head camera, at most 2 MB.")

    def validate_picture(self, picture: Any) -> Any:
        if picture.size > MAX_BYTES:
            raise serializers.ValidationError(f"At most 2 MB, this has {picture.size / 2**20:.1f} MB.")
        picture.content_type = TYPES.get(picture.image.format, "")
        if picture.content_type not in SUFFIXES:
            raise serializers.ValidationError(f"JPEG or PNG, this is {picture.image.format}.")
        return picture


class ReferenceView(APIView):
    """Pictures for the reset overlay of the next trial."""

    permission_classes = [HasRole.of(*EVERYONE)]

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str) -> Response:
        return Response(reference_facts(get_object_or_404(Study, slug=slug)))


class RigPictureView(ServiceErrorsMixin, APIView):
    """The empty rig at the start of one's own session."""

    permission_classes = [HasRole.of(*EVERYONE)]
    parser_classes = [MultiPartParser]

    @extend_schema(request=PictureSerializer, responses={201: OpenApiTypes.OBJECT})
    def post(self, request: Request, session_id: int) -> Response:
        session = get_object_or_404(OperatorSession, pk=session_id)
        picture = checked(request, PictureSerializer)["picture"]
        picture.seek(0)
        made = rig_picture_store(
            session=session, actor=request.user, content=picture.read(), content_type=picture.content_type
        )
        return Response({"url": made.media.get_absolute_url(), "taken_at": made.taken_at}, status=201)
