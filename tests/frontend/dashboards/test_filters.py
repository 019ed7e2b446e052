"""Filters and their place in the address."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontend.dashboards.filters import CONFIDENCES, Filters, format_filters, parse_filters

slugs = st.lists(st.from_regex(r"[a-z0-9][a-z0-9-]{0,8}", fullmatch=True), max_size=4).map(
    lambda s: tuple(sorted(set(s)))
)
filters = st.builds(
    Filters,
    conditions=slugs,
    arms=slugs,
    confidence=st.sampled_from(CONFIDENCES),
    until=st.none() | st.datetimes(datetime(2000, 1, 1), timezones=st.just(UTC)),
    data_version=st.sampled_from(["", "0a1b2c3d"]),
)


@settings(max_examples=25)
@given(filters)
def test_a_link_reproduces_the_view(chosen: Filters) -> None:
    assert parse_filters(format_filters(chosen)) == chosen


@pytest.mark.parametrize("search", ["", "?", None])
def test_an_address_without_filters_counts_everything(search: str | None) -> None:
    assert parse_filters(search) == Filters()
    assert format_filters(Filters()) == ""


@pytest.mark.parametrize(
    ("search", "message"),
    [
        ("?confidence=95", "confidence: '95' is not one of 0.9, 0.95, 0.99"),
        ("?confidence=high", "confidence: 'high'"),
        ("?until=noon", "until: 'noon' is not a date and time with a zone"),
        ("?until=2026-09-30T12:00:00", "with a zone"),
    ],
)
def test_what_cannot_be_read_is_named(search: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_filters(search)
