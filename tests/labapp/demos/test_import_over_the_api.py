"""An episodes folder posted by a script, and the run that imports it, to the end."""

import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from labapp.accounts.models import ApiToken
from labapp.demos.models import DemonstrationSet
from labapp.runs.executor import run_execute
from tests.browser.small_v21 import make_v21

pytestmark = pytest.mark.django_db(transaction=True)


def post_zip(user, folder: Path, name: str) -> DemonstrationSet:
    """Post the folder with a token and carry out the run."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder.parent))
    _, token = ApiToken.issue(user=user, name="script")
    file = SimpleUploadedFile(f"{name}.zip", buffer.getvalue(), content_type="application/zip")
    answer = Client(headers={"authorization": f"Bearer {token}"}).post(
        "/api/demonstration-sets/import/", {"name": name, "archive": file}
    )
    assert answer.status_code == 201, answer.content
    made = DemonstrationSet.objects.get(name=name)
    assert run_execute(made.run_id) == "succeeded"
    made.refresh_from_db()
    return made


def test_a_posted_zip_is_imported_by_its_run(researcher, tmp_path):
    made = post_zip(researcher, make_v21(tmp_path / "small"), "small")
    assert (made.episodes, made.frames, made.episodes_with_video) == (3, 150, 2)
    assert made.demonstrations.count() == 3


def test_the_real_recording_is_imported_with_its_known_counts(researcher, shared_data):
    made = post_zip(researcher, shared_data / "lerobot_v21_g1_bottle", "g1")
    assert (made.episodes, made.frames, made.episodes_with_video) == (100, 35_965, 5)
    assert made.report["missing_videos"] == 95
    assert made.report["rejected"] == []


def test_an_operator_may_not_post_one(operator):
    _, token = ApiToken.issue(user=operator, name="script")
    answer = Client(headers={"authorization": f"Bearer {token}"}).post("/api/demonstration-sets/import/", {"name": "x"})
    assert answer.status_code == 403
