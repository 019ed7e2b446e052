"""What lists have in common: newest first, tools that work, the place in the navigation, names as people write them."""

import re

import pytest

from labapp.home.navigation import navigation
from labapp.home.templatetags.lab import measured, parameter, words
from labapp.studies.models import Study

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("address", ["/studies/", "/results/"])
def test_the_newest_study_stands_first_in_a_table_that_can_be_sorted_and_filtered(address, browser_of, pi):
    for name in ("First", "Second", "Third"):
        Study.objects.create(name=name, slug=name.lower())
    page = browser_of(pi).get(address).content.decode()
    assert re.findall(r">(First|Second|Third)</a>", page) == ["Third", "Second", "First"]
    table = re.search(r'data-table-tools="(\w+)"', page).group(1)
    assert f'<table id="{table}" class="named" data-table>' in page


@pytest.mark.parametrize(("path", "place"), [("/evaluations/", "Policies"), ("/configurations/", "Datasets")])
def test_a_page_without_a_place_of_its_own_is_found_under_another(path, place, rf, researcher):
    request = rf.get(path)
    request.user = researcher
    assert [item.label for item in navigation(request) if item.is_current] == [place]


def test_nobody_reads_underscores():
    assert words("head.focal_px") == "head focal px"
    assert measured("head.leave_one_out_px") == "head error on images left out [px]"
    assert measured("left_wrist.as_pinhole_px") == "left wrist error as a pinhole [px]"
    assert measured("sightings") == "sightings"
    assert (parameter(True), parameter({}), parameter({"lift_off": [1, 2]})) == ("yes", "—", "lift off 1, 2")
