"""Uploads: whose they are, what they hold, what leaves their folder."""

import io
import json
import zipfile

import pytest
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import SimpleUploadedFile

from labapp import storage
from labapp.demos.uploads import (
    archive_put,
    check_upload,
    clean_path,
    fetch,
    parse_info,
    upload_begin,
    upload_prefix,
    upload_put,
)

pytestmark = pytest.mark.django_db
INFO = json.dumps({"codebase_version": "v2.1", "robot_type": "arm"}).encode()


def zipped(files: dict[str, bytes]) -> SimpleUploadedFile:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return SimpleUploadedFile("set.zip", buffer.getvalue())


def problem(error: pytest.ExceptionInfo[ValidationError], field: str = "files") -> str:
    return " ".join(error.value.message_dict[field])


def test_an_upload_belongs_to_the_person_who_began_it(researcher, pi):
    token = upload_begin(owner=researcher)
    with pytest.raises(ValidationError, match="somebody else"):
        upload_prefix(token=token, owner=pi)


def test_a_token_that_was_never_given_is_refused(researcher):
    with pytest.raises(ValidationError) as refused:
        upload_prefix(token="made-up", owner=researcher)
    assert "choose the files again" in problem(refused, "upload")


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "a/../../b", "meta/\x00", ""])
def test_a_path_that_leaves_its_folder_is_refused(path):
    with pytest.raises(ValidationError):
        clean_path(path)


def test_files_sent_one_by_one_come_back_as_a_folder(researcher, tmp_path):
    token = upload_begin(owner=researcher)
    for path, content in {"set/meta/info.json": INFO, "set/data/a.parquet": b"rows"}.items():
        upload_put(token=token, owner=researcher, path=path, file=SimpleUploadedFile("x", content))
    prefix = upload_prefix(token=token, owner=researcher)
    assert check_upload(prefix)["robot_type"] == "arm"
    top = fetch(prefix, tmp_path)
    assert (top / "data" / "a.parquet").read_bytes() == b"rows"


def test_a_zip_is_checked_without_unpacking_it_and_then_unpacked(researcher, tmp_path):
    token = archive_put(owner=researcher, file=zipped({"set/meta/info.json": INFO, "set/data/a.parquet": b"rows"}))
    prefix = upload_prefix(token=token, owner=researcher)
    assert check_upload(prefix)["codebase_version"] == "v2.1"
    top = fetch(prefix, tmp_path)
    assert (top.name, (top / "data" / "a.parquet").read_bytes()) == ("set", b"rows")


def test_a_zip_that_climbs_out_of_its_folder_is_refused(researcher):
    token = archive_put(owner=researcher, file=zipped({"meta/info.json": INFO, "../../evil": b""}))
    with pytest.raises(ValidationError) as refused:
        check_upload(upload_prefix(token=token, owner=researcher))
    assert "../../evil" in problem(refused)


def test_a_file_that_is_no_zip_is_named_so(researcher):
    token = archive_put(owner=researcher, file=SimpleUploadedFile("set.zip", b"not a zip at all"))
    with pytest.raises(ValidationError) as refused:
        check_upload(upload_prefix(token=token, owner=researcher))
    assert "no zip file" in problem(refused)


def test_a_folder_without_info_says_which_folder_to_choose(researcher):
    token = archive_put(owner=researcher, file=zipped({"data/a.parquet": b""}))
    with pytest.raises(ValidationError) as refused:
        check_upload(upload_prefix(token=token, owner=researcher))
    assert "meta/info.json" in problem(refused)


@pytest.mark.parametrize(
    ("text", "said"),
    [(b"{", "broken"), (b"[]", "broken"), (b"{}", "codebase_version"), (b'{"codebase_version": "v1.6"}', "v1.6")],
)
def test_an_info_that_cannot_be_read_says_why(text, said):
    with pytest.raises(ValidationError) as refused:
        parse_info(text)
    assert said in problem(refused)


def test_nothing_is_left_of_a_token_that_was_refused(researcher):
    token = upload_begin(owner=researcher)
    with pytest.raises(ValidationError):
        upload_put(token=token, owner=researcher, path="../x", file=SimpleUploadedFile("x", b"1"))
    assert storage.list_keys(upload_prefix(token=token, owner=researcher)) == []
