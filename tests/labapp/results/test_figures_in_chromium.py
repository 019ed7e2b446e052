"""Figures and report in a real browser: marks open their trials, buttons save files, the report needs no network."""

import struct
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from xml.etree import ElementTree

import pytest

from frontend.dashboards.drawn import FIGURES, PRINT_WIDTH
from frontend.dashboards.filters import Filters
from labapp.results.queries import study_content
from labapp.studies.models import Study
from tests.chromium import screenshot
from tests.labapp.results.conftest import START, add_trials, build_study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
DRAWN = [name for name in FIGURES if name not in ("looks-figure", "sim-beside-real")]


@pytest.fixture
def study(pi) -> Study:
    plan = {"primary": ["main_a", "main_b"], "adjustment": "holm"}
    return build_study(analysis_plan=plan, question="Does grounding help?")


@pytest.fixture
def page(page_of, pi, live_server, study: Study):
    page = page_of(pi)
    page.goto(f"{live_server.url}/results/{study.slug}/")
    wait_for_figures(page)
    return page


def wait_for_figures(page) -> None:
    for name in DRAWN:
        page.wait_for_selector(f"#{name} .plotly .main-svg")


MARKS = {
    "#success-bars .bars .point path >> nth=0": "arm=K70&conditions=nominal,red-light&status=confirmed",
    "#failure-modes .bars .point path >> nth=0": "outcome=dropped",
    "#stage-funnel .points path >> nth=2": "reached=lift",
    "#interaction-plot .points path >> nth=0": "arm=K49",
    "#effects-forest .points path >> nth=0": "arms=",
}


def test_every_mark_opens_the_trials_behind_it(page) -> None:
    results = page.url
    for mark, query in MARKS.items():
        click_in_the_middle(page, mark)
        page.wait_for_url("**/trials/?*")
        assert query in page.url.replace("%2C", ",")
        page.goto(results)
        wait_for_figures(page)
    assert page.troubles == []


def click_in_the_middle(page, mark: str) -> None:
    """Once the mark rests: a page that is still being laid out moves it away from under the pointer."""
    page.locator(mark).scroll_into_view_if_needed()
    box = page.locator(mark).bounding_box()
    while box != (box := still(page, mark)):
        pass
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def still(page, mark: str) -> dict[str, float]:
    page.evaluate("new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn, 100)))")
    return page.locator(mark).bounding_box()


def test_the_trials_behind_every_mark_are_those_that_it_counts(study: Study, pi, browser_of: Callable) -> None:
    content, client = study_content(study, pi, Filters()), browser_of(pi)

    def count(href: str) -> int:
        return client.get(href).context["filter"].qs.count()

    for bar in content.bars[:4]:
        assert count(bar.href) == bar.trials
    for curve in content.stages[:2]:
        assert [count(href) for href in curve.hrefs] == [round(share * curve.trials) for share in curve.reached]
    for modes in content.modes[:2]:
        assert {name: count(href) for name, href in modes.hrefs.items()} == modes.modes
    assert count(content.times[0].href) == round(content.times[0].share[-1] * content.times[0].trials)
    assert [count(cell.href) for cell in content.cell_means] == [50] * 4
    assert count(content.effects[0].point.href) == 200
    assert [count(line.href) for line in content.comparisons[:2]] == [100, 100]
    assert count(content.progress[0].href) == 100
    assert count(content.posterior[0].href) == 200
    assert count(content.counts.confirmed_href) == content.counts.confirmed == 250


def test_invalid_trials_are_opened_too(study: Study, pi, browser_of: Callable) -> None:
    nominal = study.conditions.get(slug="nominal")
    add_trials(study.arms.get(label="policy GG"), nominal, 2, 2, status="invalid", invalid_reason="belt stopped")
    counts = study_content(study, pi, Filters()).counts
    assert browser_of(pi).get(counts.invalid_href).context["filter"].qs.count() == counts.invalid == 2


def test_a_limit_in_time_holds_for_the_trials_too(study: Study, pi, browser_of: Callable) -> None:
    until = START + timedelta(minutes=9, seconds=30)
    content = study_content(study, pi, Filters(until=until))
    cell = content.rows[0].cells[-1]
    assert cell.trials == 20
    assert browser_of(pi).get(cell.href).context["filter"].qs.count() == 20


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_figure_is_saved_light_and_as_wide_as_a_page(page, study: Study, pi, tmp_path: Path, theme: str) -> None:
    if theme == "dark":
        page.locator("[data-toggle-theme]").click()
        page.wait_for_function("document.querySelector('#success-bars').innerHTML.includes('rgb(86, 180, 233)')")
    version = study_content(study, pi, Filters()).data_version
    for name in DRAWN if theme == "light" else DRAWN[:1]:
        svg = saved(page, name, "SVG", tmp_path)
        assert svg.name == f"{study.slug}-{name}-{version}.svg"
        root = ElementTree.fromstring(svg.read_text())
        assert float(root.get("width")) == PRINT_WIDTH
        assert "rgb(255, 255, 255)" in svg.read_text() or "white" in svg.read_text()
    assert "rgb(86, 180, 233)" not in svg.read_text()  # the dark theme's blue
    png = saved(page, "success-bars", "PNG", tmp_path)
    assert png.name == f"{study.slug}-success-bars-{version}.png"
    width, _ = struct.unpack(">II", png.read_bytes()[16:24])
    assert width == 3 * PRINT_WIDTH
    assert page.troubles == []


def saved(page, name: str, label: str, folder: Path) -> Path:
    with page.expect_download() as download:
        page.locator(f"#{name} .figure-save").get_by_text(label, exact=True).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def test_the_report_opens_without_a_network_and_prints(chromium, study: Study, pi, browser_of, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_bytes(b"".join(browser_of(pi).get(f"/results/{study.slug}/report.html")))
    context = chromium.new_context(viewport={"width": 1000, "height": 900})
    context.set_offline(True)
    page, asked, troubles = context.new_page(), [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.goto(path.as_uri())
    page.wait_for_function("document.querySelectorAll('.js-plotly-plot .main-svg').length >= 12")
    text = page.locator("body").inner_text()
    for expected in ("The analysis plan", "world grounding, behavior grounding", "Holm", "Deviations from it",
                     study.design_sha256, "43/50", "Bayesian posterior", "Who gets further"):  # fmt: skip
        assert expected in text, expected
    assert "{" not in text.split("The analysis plan")[1].split("Deviations")[0]
    assert [url for url in asked if not url.startswith(("file:", "blob:", "data:"))] == []
    assert troubles == []
    screenshot(page, "report")
    assert len(page.pdf()) > 50_000
    context.close()


def test_what_was_unfolded_stays_open_when_the_page_is_drawn_anew(page) -> None:
    page.get_by_text("A second view: Bayesian posterior").click()
    page.locator("[data-toggle-theme]").first.click()
    page.wait_for_function("document.querySelector('#success-bars').innerHTML.includes('rgb(86, 180, 233)')")
    page.get_by_text("above zero").wait_for(state="visible")
    page.get_by_text("A second view: Bayesian posterior").click()
    page.get_by_text("above zero").wait_for(state="hidden")


def test_the_links_to_parts_stay_in_sight_and_say_where_one_is(page):
    page.click(".part-links a:has-text('How trials end')")
    page.wait_for_selector(".part-links a[aria-current]:has-text('How trials end')")
    page.wait_for_function("document.querySelector('.part-links').getBoundingClientRect().top >= 0")
    assert page.locator("#failure-modes").is_visible()


def test_an_address_with_a_part_leads_there_once_it_is_drawn(page):
    page.goto(f"{page.url.split('#')[0]}#comparisons")
    page.reload()
    page.wait_for_function("document.getElementById('comparisons')?.getBoundingClientRect().top < 200")
    assert not page.troubles
