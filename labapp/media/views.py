"""Streams a media row's bytes to whoever may see it. No link into the store ever leaves the server."""

import mimetypes
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from labapp import storage
from labapp.accounts.roles import RESEARCH, has_role
from labapp.media.models import Media
from labapp.media.ranges import ByteRange, RangeNotSatisfiable, parse_range


@require_safe
def stream(request: HttpRequest, media_id: UUID) -> HttpResponseBase:
    """The whole file, or the asked range with 206."""
    media = get_object_or_404(Media, pk=media_id)
    if media.audience == Media.Audience.RESEARCH and not has_role(request.user, *RESEARCH):
        raise PermissionDenied("This file is for researchers and PIs.")
    try:
        wanted = parse_range(request.headers.get("Range", ""), media.size_bytes)
    except RangeNotSatisfiable:
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{media.size_bytes}"})
    return _respond(request, media, wanted)


def _respond(request: HttpRequest, media: Media, wanted: ByteRange | None) -> HttpResponseBase:
    part = wanted or ByteRange(0, media.size_bytes)
    headers = {
        "Accept-Ranges": "bytes",
        "Content-Length": str(part.length),
        "Content-Disposition": f'inline; filename="{media.pk}{mimetypes.guess_extension(media.content_type) or ""}"',
        "Cache-Control": "private, max-age=3600",
        "X-Content-Type-Options": "nosniff",
    }
    if wanted:
        headers["Content-Range"] = wanted.header(media.size_bytes)
    status = 206 if wanted else 200
    if request.method == "HEAD" or not part.length:
        return HttpResponse(status=status, content_type=media.content_type, headers=headers)
    content = storage.open_range(media.object_key, part.start, part.length)
    return StreamingHttpResponse(content, status=status, content_type=media.content_type, headers=headers)
