"""The dashboard over a plain object: it needs no database and no Django."""

import json
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from frontend.dashboards.content import Choice, Content, Counts, HiddenStudyError, UnknownStudyError
from frontend.dashboards.filters import Filters
from frontend.dashboards.results import create_results_app, slug_of

CONTENT = Content(
    slug="s", name="S", is_simulated=False, is_blinded=False, shows_names=True, data_version="v1", counts=Counts(),
    columns=("All",), rows=(), read_at=datetime(2026, 11, 30, 14, 2, 30, tzinfo=UTC),
)  # fmt: skip


class FakeQueries:
    """Remembers what it was asked; answers what it was given."""

    def __init__(self, content: Content = CONTENT) -> None:
        self.now = content
        self.asked: list[Filters] = []

    def choices(self, slug: str) -> tuple[tuple[Choice, ...], tuple[Choice, ...]]:
        return (Choice("nominal", "Nominal"),), (Choice("A1", "first"),)

    def content(self, slug: str, filters: Filters) -> Content:
        self.asked.append(filters)
        if slug == "hidden":
            raise HiddenStudyError("blinded")
        if slug != "s":
            raise UnknownStudyError(f"no study {slug}")
        return self.now

    def checks(self, slug: str, filters: Filters) -> tuple[str, ...]:
        return ("Success fell over the study.",) if filters.arms else ()

    def sensitivity(self, slug: str, filters: Filters) -> tuple[str, ...]:
        return ("Logistic model with operator: world +17 points.",)

    def data_version(self, slug: str, filters: Filters) -> str:
        return self.now.data_version


def call(queries: FakeQueries, output: str, inputs: list[tuple[str, str, Any]], state: list, changed: str) -> Any:
    parts = output.strip(".").split("...") if output.startswith("..") else [output]
    outputs = [dict(zip(("id", "property"), part.split("."), strict=True)) for part in parts]
    body = {
        "output": output,
        "outputs": outputs if output.startswith("..") else outputs[0],
        "inputs": [{"id": i, "property": p, "value": v} for i, p, v in inputs],
        "state": [{"id": i, "property": p, "value": v} for i, p, v in state],
        "changedPropIds": [changed],
    }
    client = create_results_app(queries, "/results/").server.test_client()
    return client.post("/results/_dash-update-component", json=body)


def show(queries: FakeQueries, search: str = "", theme: str | None = "light", path: str = "/results/s/") -> Any:
    inputs = [("address", "search", search), ("theme", "data", theme), ("newer", "data", None)]
    return call(queries, "..body.children...version.data..", inputs, [("address", "pathname", path)], "address.search")


def poll(queries: FakeQueries, known: str | None) -> Any:
    state = [("version", "data", known), ("address", "search", ""), ("address", "pathname", "/results/s/")]
    return call(queries, "newer.data", [("poll", "n_intervals", 1)], state, "poll.n_intervals")


def sync(search: str, conditions: list[str], changed: str) -> Any:
    output = "..address.search...conditions.value...arms.value...confidence.value.."
    inputs = [
        ("address", "search", search), ("conditions", "value", conditions), ("arms", "value", []),
        ("confidence", "value", 0.95),
    ]  # fmt: skip
    return call(FakeQueries(), output, inputs, [], changed)


def test_filters_of_the_address_reach_the_queries() -> None:
    queries = FakeQueries()
    show(queries, "?conditions=nominal&confidence=0.99")
    assert queries.asked == [Filters(conditions=("nominal",), confidence=0.99)]


@pytest.mark.parametrize(("path", "status"), [("/results/hidden/", 403), ("/results/x/", 404), ("/results/", 404)])
def test_hidden_and_unknown_studies_answer_in_words(path: str, status: int) -> None:
    answer = show(FakeQueries(), path=path)
    assert answer.status_code == status
    assert "Traceback" not in answer.get_data(as_text=True)


def test_nothing_is_drawn_before_the_theme_is_known() -> None:
    queries = FakeQueries()
    assert show(queries, theme=None).status_code == 204
    assert queries.asked == []


def test_a_poll_stays_silent_until_the_numbers_change() -> None:
    queries = FakeQueries()
    assert poll(queries, "v1").get_json()["response"] == {}
    queries.now = replace(CONTENT, data_version="v2")
    assert poll(queries, "v1").get_json()["response"]["newer"]["data"] == "v2"


def test_a_poll_before_the_first_drawing_changes_nothing() -> None:
    assert poll(FakeQueries(), None).get_json()["response"] == {}


@pytest.mark.parametrize(("search", "text"), [("?arms=A1", "Success fell"), ("", "Nothing conspicuous found")])
def test_checks_are_run_on_demand_with_the_filters(search: str, text: str) -> None:
    state = [("address", "search", search), ("address", "pathname", "/results/s/")]
    answer = call(FakeQueries(), "checks.children", [("run-checks", "n_clicks", 1)], state, "run-checks.n_clicks")
    assert text in json.dumps(answer.get_json())


def test_boxes_follow_the_address() -> None:
    response = sync("?conditions=nominal&confidence=0.9", [], "address.search").get_json()["response"]
    assert response["conditions"]["value"] == ["nominal"]
    assert response["confidence"]["value"] == 0.9
    assert "address" not in response


def test_the_address_follows_the_boxes_and_keeps_its_moment() -> None:
    moment = "2026-09-30T12:00:00+00:00"
    response = sync(f"?until={moment}", ["red", "nominal"], "conditions.value").get_json()["response"]
    assert response["address"]["search"].startswith("?conditions=nominal,red&until=2026-09-30T12")
    assert "conditions" not in response


def test_slugs_are_read_from_paths() -> None:
    assert slug_of("/results/pick-and-sort/", "/results/") == "pick-and-sort"
    for path in (None, "/results/", "/results/a/b/"):
        with pytest.raises(UnknownStudyError):
            slug_of(path, "/results/")


def test_the_page_asks_no_other_host() -> None:
    page = create_results_app(FakeQueries(), "/results/").server.test_client().get("/results/s/").get_data(as_text=True)
    assert "http://" not in page
    assert "https://" not in page


def test_the_dashboard_imports_without_django() -> None:
    code = "import sys; sys.modules['django'] = None; import frontend.dashboards.results, frontend.figures"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_workers_with_an_app_each_answer_alike() -> None:
    clients = [create_results_app(FakeQueries(), "/results/").server.test_client() for _ in range(2)]
    for path in ("_dash-layout", "_dash-dependencies"):
        one, other = (client.get(f"/results/{path}").get_data(as_text=True) for client in clients)
        assert one == other, path


def test_the_empty_page_says_what_comes_next() -> None:
    waiting = FakeQueries(replace(CONTENT, counts=Counts(waiting=3)))
    assert "Trials wait for their outcome" in json.dumps(show(waiting).get_json())
