"""``Authorization: Agent TOKEN`` on the REST addresses that agents use."""

from typing import Any

from django.contrib.auth.models import AnonymousUser
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from labapp.cells.agents import TOKEN_SCHEME, agent_of_header
from labapp.cells.models import Agent


class AgentAuthentication(BaseAuthentication):
    """Puts the agent into ``request.auth``; an agent is no user and can do nothing else.

    Other headers are left to the other ways, where a view has some.
    """

    def authenticate(self, request: Request) -> tuple[AnonymousUser, Agent] | None:
        header = request.META.get("HTTP_AUTHORIZATION", "")
        if not header.startswith(f"{TOKEN_SCHEME} "):
            return None
        agent = agent_of_header(header)
        if agent is None:
            raise AuthenticationFailed("This is no active agent's token.")
        return AnonymousUser(), agent

    def authenticate_header(self, request: Request) -> str:
        return TOKEN_SCHEME


class IsAgent(BasePermission):
    message = "This address is for agents: send an active agent's token."

    def has_permission(self, request: Request, view: Any) -> bool:
        return isinstance(request.auth, Agent)


class AgentScheme(OpenApiAuthenticationExtension):
    target_class = AgentAuthentication
    name = "agent"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "apiKey", "in": "header", "name": "Authorization"}
