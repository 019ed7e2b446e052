"""Template variables about the signed-in person: ``role``, ``is_research`` (sees per-policy facts), ``can_launch``."""

from typing import Any

from django.http import HttpRequest

from labapp.accounts.models import Role
from labapp.accounts.roles import RESEARCH, has_role


def roles(request: HttpRequest) -> dict[str, Any]:
    user = getattr(request, "user", None)
    return {
        "role": getattr(user, "effective_role", ""),
        "is_research": has_role(user, *RESEARCH),
        "can_launch": has_role(user, Role.RESEARCHER),
    }
