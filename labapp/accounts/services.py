"""Changes to accounts."""

import secrets

from labapp.accounts.models import Role, User

DEMO_LOGINS = {"operator": Role.OPERATOR, "researcher": Role.RESEARCHER, "pi": Role.PI}


def demo_logins_create(*, reset: bool = False) -> dict[str, str]:
    """Create the three demo logins; returns the passwords of those made (or reset) now, never kept in clear."""
    passwords = {}
    for username, role in DEMO_LOGINS.items():
        user = User.objects.filter(username=username).first()
        if user is not None and not reset:
            continue
        passwords[username] = secrets.token_urlsafe(9)
        user = user or User(username=username, role=role)
        user.set_password(passwords[username])
        user.save()
    return passwords
