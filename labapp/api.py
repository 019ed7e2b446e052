"""What the REST views share: services refuse with 400 by field."""

from typing import Any

from django.core.exceptions import ValidationError as Refused
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ReadOnlyModelViewSet

from labapp.accounts.models import Role
from labapp.accounts.roles import RESEARCH, HasRole
from labapp.forms import field_errors
from robots.errors import ConfigError


class ServiceErrorsMixin:
    """For views that call services: what these refuse is the client's mistake, named by field."""

    def handle_exception(self, error: Exception) -> Response:
        if isinstance(error, Refused | ConfigError):
            error = ValidationError(field_errors(error))
        return super().handle_exception(error)


class MadeViewSet(ServiceErrorsMixin, ReadOnlyModelViewSet):
    """Rows that runs make, addressed by name: researchers make them, PIs read them too."""

    permission_classes = [HasRole.of(Role.RESEARCHER, read=RESEARCH)]
    lookup_field = "name"
    lookup_value_regex = "[-\\w]+"


def checked(request: Request, serializer: type[serializers.Serializer]) -> dict[str, Any]:
    """The request's body as validated values; 400 by field otherwise."""
    found = serializer(data=request.data)
    found.is_valid(raise_exception=True)
    return dict(found.validated_data)


def run_field() -> serializers.PrimaryKeyRelatedField:
    """The id of the run that makes a row: `/api/runs/<id>/` tells how far it is."""
    return serializers.PrimaryKeyRelatedField(read_only=True)
