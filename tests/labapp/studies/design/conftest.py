"""A draft with the paper's five arms and conditions, and the same study locked."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.forms import Select
from django.http import QueryDict

from labapp.accounts.models import User
from labapp.studies import services
from labapp.studies.design.views import DesignForms
from labapp.studies.models import Study
from tests.labapp import builders

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ARMS = {"gg": (True, "adapt"), "gu": (True, "synthesize"), "ug": (False, "adapt"), "uu": (False, "synthesize")}


@pytest.fixture
def draft(db: Any, researcher: User) -> Study:
    cell = builders.cell()
    worlds = {True: builders.world(cell, "measured", is_grounded=True), False: builders.world(cell, "nominal")}
    checkpoints = [
        builders.checkpoint(name, builders.configuration(worlds[is_grounded], method))
        for name, (is_grounded, method) in ARMS.items()
    ]
    checkpoints.append(builders.checkpoint("real-only"))
    return services.study_create(name="Two by two", cell=cell, checkpoints=checkpoints, actor=researcher, seed=4)


@pytest.fixture
def study(draft: Study, pi: User) -> Study:
    return services.study_lock(study=draft, actor=pi, now=NOW)


@pytest.fixture
def sent() -> Callable[..., dict[str, Any]]:
    """``sent(study, seed=5)``: what a browser sends from the design page, with some fields changed."""

    def fields(study: Study, **changes: Any) -> dict[str, Any]:
        page = DesignForms(study)
        values: dict[str, Any] = {}
        for form in (page.design, page.rates, page.plan, *page.conditions.forms, *page.margins.forms):
            for field in form:
                value = field.value()
                if value is None and isinstance(field.field.widget, Select):
                    value = field.field.choices[0][0]  # a browser sends the first one
                if value is not None and value is not False:
                    values[field.html_name] = value
        for rows in (page.conditions, page.margins):
            for field in rows.management_form:
                values[field.html_name] = field.value()
        return values | changes

    return fields


def as_query(values: dict[str, Any]) -> QueryDict:
    query = QueryDict(mutable=True)
    for name, value in values.items():
        query.setlist(name, value if isinstance(value, list | tuple) else [value])
    return query
