"""People of the lab with their role, and the tokens of their scripts."""

import hashlib
import secrets

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import Q


class Role(models.TextChoices):
    OPERATOR = "operator", "operator"
    RESEARCHER = "researcher", "researcher"
    PI = "pi", "PI"
    ADMIN = "admin", "admin"


class User(AbstractUser):
    """A person. The role decides what they see and do; a superuser counts as an admin."""

    role = models.CharField(max_length=12, choices=Role, default=Role.OPERATOR)

    class Meta(AbstractUser.Meta):
        constraints = [models.CheckConstraint(condition=Q(role__in=Role.values), name="user_role_known")]

    @property
    def effective_role(self) -> str:
        return Role.ADMIN if self.is_superuser else self.role


def token_digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


class ApiToken(models.Model):
    """Lets a script act as its user. The token is shown once; only its SHA-256 is kept."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80, help_text="What uses it.")
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["user", "name"]

    def __str__(self) -> str:
        return f"{self.name} of {self.user}"

    @classmethod
    def issue(cls, *, user: User, name: str) -> tuple["ApiToken", str]:
        """A new row and the token itself, which nobody can read again."""
        token = secrets.token_urlsafe(32)
        return cls.objects.create(user=user, name=name, digest=token_digest(token)), token
