"""Media are streamed with ranges, to those who may see them, and their URL and headers tell nothing."""

import uuid

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from labapp.media.models import Media
from labapp.media.ranges import ByteRange, RangeNotSatisfiable, parse_range
from labapp.media.services import media_create, media_register

CONTENT = bytes(range(256)) * 40


@pytest.fixture
def video(db, tmp_path) -> Media:
    path = tmp_path / "grounded_world_policy.mp4"
    path.write_bytes(CONTENT)
    return media_create(path=path, kind=Media.Kind.VIDEO)


def test_a_video_is_streamed_whole(video, operator, browser_of):
    answer = browser_of(operator).get(video.get_absolute_url())
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "video/mp4"
    assert b"".join(answer.streaming_content) == CONTENT


def test_a_range_is_answered_with_206(video, operator, browser_of):
    answer = browser_of(operator).get(video.get_absolute_url(), headers={"Range": "bytes=100-199"})
    assert answer.status_code == 206
    assert answer.headers["Content-Range"] == f"bytes 100-199/{len(CONTENT)}"
    assert b"".join(answer.streaming_content) == CONTENT[100:200]


def test_a_range_beyond_the_end_is_refused_with_the_size(video, operator, browser_of):
    answer = browser_of(operator).get(video.get_absolute_url(), headers={"Range": "bytes=999999-"})
    assert answer.status_code == 416
    assert answer.headers["Content-Range"] == f"bytes */{len(CONTENT)}"


def test_neither_url_nor_headers_carry_the_original_name_or_the_store(video, operator, browser_of):
    answer = browser_of(operator).get(video.get_absolute_url())
    seen = video.get_absolute_url() + str(answer.headers)
    assert "grounded" not in seen
    assert "policy" not in seen
    assert "Signature" not in seen


def test_a_research_file_is_closed_to_operators(video, operator, researcher, pi, browser_of):
    Media.objects.update(audience=Media.Audience.RESEARCH)
    assert browser_of(operator).get(video.get_absolute_url()).status_code == 403
    assert browser_of(researcher).get(video.get_absolute_url()).status_code == 200
    assert browser_of(pi).get(video.get_absolute_url()).status_code == 200


def test_a_stranger_is_sent_to_the_login_page(video):
    assert Client().get(video.get_absolute_url()).status_code == 302


def test_an_unknown_file_is_not_found(operator, browser_of):
    assert browser_of(operator).get(f"/media/{uuid.uuid4()}/").status_code == 404


def test_the_same_object_is_registered_once(db):
    facts = {"object_key": "a/b.mp4", "kind": "video", "content_type": "video/mp4", "sha256": "a" * 64, "size_bytes": 5}
    assert media_register(**facts) == media_register(**facts)


def test_a_row_needs_a_real_hash(db):
    with pytest.raises(IntegrityError, match="media_sha256_is_hex"), transaction.atomic():
        Media.objects.create(kind="file", object_key="x", content_type="text/plain", size_bytes=1, sha256="none")


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("", None),
        ("bytes=0-", ByteRange(0, 10)),
        ("bytes=3-5", ByteRange(3, 6)),
        ("bytes=3-99", ByteRange(3, 10)),
        ("bytes=-4", ByteRange(6, 10)),
        ("bytes=-99", ByteRange(0, 10)),
        ("bytes=0-1,4-5", None),
        ("rows=1-2", None),
        ("bytes=-", None),
    ],
)
def test_range_headers_are_read(header, expected):
    assert parse_range(header, 10) == expected


@pytest.mark.parametrize("header", ["bytes=10-", "bytes=5-3", "bytes=-0"])
def test_impossible_ranges_are_refused(header):
    with pytest.raises(RangeNotSatisfiable):
        parse_range(header, 10)
