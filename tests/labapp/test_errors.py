"""What the database cannot hold is the client's mistake, in words; on a page and over REST."""

import pytest

from tests.labapp import builders

pytestmark = pytest.mark.django_db


def test_a_nul_in_an_address_is_a_bad_request(client):
    client.force_login(builders.user("researcher"))
    answer = client.get("/evaluations/new/?study=%00")
    assert answer.status_code == 400 and "cannot be looked up or stored" in answer.content.decode()


def test_a_nul_in_a_body_is_a_bad_request(client):
    client.force_login(builders.user("researcher"))
    answer = client.post("/api/evaluations/", {"study": "a\0b", "world": 1}, content_type="application/json")
    assert answer.status_code == 400 and "NUL" in answer.json()["detail"]
