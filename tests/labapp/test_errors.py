"""What the database cannot hold is the client's mistake, its absence nobody's; in words, on a page and over REST."""

import logging

import pytest
from django.db import OperationalError, connection
from django.test import Client
from redis import RedisError

from labapp.errors import AwayInOneLine, server_error
from labapp.storage import StoreUnavailable
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


@pytest.fixture
def visitor(transactional_db, monkeypatch):
    """Signed in, and without exceptions raised into the test; then the database goes away until the test's end."""
    user = builders.user("researcher")
    client = Client(raise_request_exception=False)
    client.force_login(user)
    connection.close()
    with monkeypatch.context() as patch:
        patch.setitem(connection.settings_dict, "PORT", "1")
        yield client
        connection.close()


def test_without_a_database_a_page_says_that_it_tries_again(visitor):
    answer = visitor.get("/")
    assert (answer.status_code, answer["Retry-After"]) == (503, "10")
    assert "database does not answer" in answer.text and "tries again by itself" in answer.text
    assert "sessionid" not in answer.cookies, "whoever was signed in stays it"


def test_without_a_database_what_was_sent_is_not_sent_again_by_itself(visitor):
    answer = visitor.post("/login/", {"username": "anna", "password": "secret"})
    assert answer.status_code == 503
    assert "may not be stored" in answer.text and "http-equiv" not in answer.text


def test_without_a_database_the_api_answers_in_json(visitor):
    answer = visitor.get("/api/runs/")
    assert (answer.status_code, answer["Retry-After"]) == (503, "10")
    assert answer.json() == {"detail": "The lab's database does not answer. Send the request again in 10 s."}


@pytest.mark.parametrize(("error", "name"), [(RedisError("gone"), "Redis"), (StoreUnavailable("gone"), "object store")])
def test_another_service_that_is_away_is_named(rf, error, name):
    try:
        raise error
    except (RedisError, StoreUnavailable):
        answer = server_error(rf.get("/"))
    assert answer.status_code == 503 and name in answer.text


def test_the_log_has_one_line_for_a_service_that_is_away_and_the_traceback_of_anything_else():
    def logged(error: Exception) -> logging.LogRecord:
        record = logging.LogRecord(
            "django.request", logging.ERROR, "", 0, "%s", ("/runs/",), (type(error), error, None)
        )
        assert AwayInOneLine().filter(record)
        return record

    away, bug = logged(OperationalError("connection\nrefused")), logged(ValueError("a bug"))
    assert (away.getMessage(), away.exc_info) == ("/runs/: connection refused", None)
    assert bug.getMessage() == "/runs/" and bug.exc_info
