"""Who may do what: one rule for views, API and sockets.

An admin may do everything. Use ``role_required`` on views, ``HasRole.of`` on API views, ``RoleConsumerMixin`` on
consumers, and ``RESEARCH`` for everything that operators of a blinded study must not see.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from rest_framework.permissions import BasePermission

from labapp.accounts.models import Role, User

EVERYONE = (Role.OPERATOR, Role.RESEARCHER, Role.PI)
RESEARCH = (Role.RESEARCHER, Role.PI)

View = Callable[..., HttpResponse]


def has_role(user: Any, *roles: str) -> bool:
    """Whether a signed-in, active user has one of the roles, or is an admin."""
    if not isinstance(user, User) or not user.is_active:
        return False
    return user.effective_role in (*roles, Role.ADMIN)


def role_required(*roles: str) -> Callable[[View], View]:
    """A view only for these roles; others get the 403 page, anonymous visitors the login page."""

    def decorate(view: View) -> View:
        @wraps(view)
        def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not has_role(request.user, *roles):
                raise PermissionDenied(f"This page is for: {', '.join(Role(role).label for role in roles)}.")
            return view(request, *args, **kwargs)

        checked.roles = roles
        return checked

    return decorate


class HasRole(BasePermission):
    """``permission_classes = [HasRole.of(Role.RESEARCHER)]``; reading may be open to more roles than writing."""

    roles: ClassVar[tuple[str, ...]] = ()
    read_roles: ClassVar[tuple[str, ...]] = ()
    message = "Your role does not allow this."

    @classmethod
    def of(cls, *roles: str, read: tuple[str, ...] = ()) -> type["HasRole"]:
        return type("HasRole", (cls,), {"roles": roles, "read_roles": read or roles})

    def has_permission(self, request: Any, view: Any) -> bool:
        is_reading = request.method in ("GET", "HEAD", "OPTIONS")
        return has_role(request.user, *(self.read_roles if is_reading else self.roles))


class RoleConsumerMixin:
    """For websocket consumers: refuses the connection (403) unless the session's user has one of ``roles``."""

    roles: ClassVar[tuple[str, ...]] = EVERYONE

    async def websocket_connect(self, message: dict[str, Any]) -> None:
        if has_role(self.scope.get("user"), *self.roles):
            await super().websocket_connect(message)
            return
        await self.close()  # before accepting: the server answers 403
