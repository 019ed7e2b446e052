"""Making media rows. The object is stored first: a row never points to nothing."""

import mimetypes
import uuid
from pathlib import Path

from django.db import transaction

from labapp import storage
from labapp.accounts.models import User
from labapp.media.models import Media


@transaction.atomic
def media_create(
    *,
    path: Path,
    kind: Media.Kind,
    audience: Media.Audience = Media.Audience.EVERYONE,
    content_type: str = "",
    created_by: User | None = None,
) -> Media:
    """Store a local file under a name that tells nothing, and make its row."""
    identifier = uuid.uuid4()
    guessed = content_type or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    stored = storage.put_file(path, f"media/{identifier}{path.suffix}", content_type=guessed)
    return Media.objects.create(
        id=identifier,
        kind=kind,
        audience=audience,
        object_key=stored.key,
        content_type=guessed,
        size_bytes=stored.size_bytes,
        sha256=stored.sha256,
        original_name=path.name[:200],
        created_by=created_by,
    )


def media_register(
    *,
    object_key: str,
    kind: Media.Kind,
    content_type: str,
    sha256: str,
    size_bytes: int,
    audience: Media.Audience = Media.Audience.EVERYONE,
) -> Media:
    """A row for an object that is in the store already (a video of an episodes folder); made once for each object."""
    media, _ = Media.objects.get_or_create(
        object_key=object_key,
        defaults={
            "kind": kind,
            "audience": audience,
            "content_type": content_type,
            "sha256": sha256,
            "size_bytes": size_bytes,
        },
    )
    return media
