"""``Authorization: Bearer TOKEN`` (or ``Token TOKEN``) for scripts."""

from datetime import timedelta

from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from labapp.accounts.models import ApiToken, User, token_digest

USED_RESOLUTION = timedelta(minutes=1)


class TokenAuthentication(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        scheme, _, value = get_authorization_header(request).decode("latin1").partition(" ")
        if scheme.lower() not in ("bearer", "token"):
            return None
        found = ApiToken.objects.select_related("user").filter(digest=token_digest(value.strip())).first()
        if found is None or found.revoked_at is not None or not found.user.is_active:
            raise AuthenticationFailed("This token is unknown, revoked, or its user is inactive.")
        self._note_use(found)
        return found.user, found

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"

    @staticmethod
    def _note_use(token: ApiToken) -> None:
        now = timezone.now()
        if token.last_used_at is None or now - token.last_used_at > USED_RESOLUTION:
            ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)


class TokenScheme(OpenApiAuthenticationExtension):
    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}
