"""Roles decide about pages, API routes and sockets; scripts sign in with a token."""

import pytest
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.utils import timezone

from labapp.accounts.models import ApiToken, Role, User
from labapp.accounts.roles import HasRole, has_role, role_required
from labapp.accounts.services import demo_logins_create


@role_required(Role.PI)
def pi_page(request) -> HttpResponse:
    return HttpResponse("for the PI")


def visit(user) -> HttpResponse:
    request = RequestFactory().get("/")
    request.user = user
    return pi_page(request)


def test_a_view_opens_for_its_role_and_for_admins(pi, make_user):
    assert visit(pi).status_code == 200
    assert visit(make_user("admin")).status_code == 200


def test_a_view_is_closed_to_other_roles_and_says_for_whom_it_is(operator, researcher):
    for user in (operator, researcher):
        with pytest.raises(PermissionDenied, match="for: PI"):
            visit(user)


def test_a_superuser_counts_as_admin_and_an_inactive_user_as_nobody(make_user):
    assert has_role(make_user("operator", username="root", is_superuser=True), Role.PI)
    assert not has_role(make_user("pi", username="gone", is_active=False), Role.PI)


def test_an_api_permission_can_open_reading_to_more_roles(operator, researcher):
    permission = HasRole.of(Role.RESEARCHER, read=(Role.OPERATOR,))()
    request = RequestFactory().get("/")
    request.user = operator
    assert permission.has_permission(request, None)
    request.method = "POST"
    assert not permission.has_permission(request, None)


def test_the_database_refuses_an_unknown_role(db):
    with pytest.raises(IntegrityError, match="user_role_known"), transaction.atomic():
        User.objects.create(username="x", role="emperor")


def test_an_anonymous_visitor_is_sent_to_the_login_page(db, client: Client):
    answer = client.get("/runs/")
    assert answer.status_code == 302
    assert answer.url == "/login/?next=/runs/"


def test_signing_in_and_out_works(operator, client: Client):
    answer = client.post("/login/", {"username": "operator", "password": "correct-horse"})
    assert answer.status_code == 302
    assert client.get("/").status_code == 200
    client.post("/logout/")
    assert client.get("/").status_code == 302


def test_a_token_acts_as_its_user_until_revoked(researcher, client: Client):
    row, token = ApiToken.issue(user=researcher, name="script")
    headers = {"Authorization": f"Bearer {token}"}
    assert client.get("/api/runs/", headers=headers).status_code == 200
    row.refresh_from_db()
    assert row.last_used_at is not None
    assert token not in str(ApiToken.objects.values().get())
    ApiToken.objects.update(revoked_at=timezone.now())
    assert client.get("/api/runs/", headers=headers).status_code == 401


def test_an_unknown_token_gets_401(db, client: Client):
    assert client.get("/api/runs/", headers={"Authorization": "Token nonsense"}).status_code == 401


def test_demo_logins_are_made_once_with_passwords_that_only_the_caller_sees(db, client: Client):
    passwords = demo_logins_create()
    assert set(passwords) == {"operator", "researcher", "pi"}
    assert client.login(username="pi", password=passwords["pi"])
    assert User.objects.get(username="pi").role == Role.PI
    assert passwords["pi"] not in User.objects.get(username="pi").password
    assert demo_logins_create() == {}
    assert demo_logins_create(reset=True)["pi"] != passwords["pi"]
