"""N more trials to resolve this: for every pair and effect of the page, in the table, in sentences, in the report."""

import pytest

from frontend.dashboards.filters import Filters
from labapp.results.queries import study_content
from tests.labapp.results.conftest import build_study

pytestmark = pytest.mark.django_db


def pairs(content) -> dict[str, str]:
    return {f"{line.first} − {line.second}": line.more for line in content.comparisons}


def test_a_pair_that_is_not_shown_says_how_many_trials_it_lacks(study, pi) -> None:
    found = pairs(study_content(study, pi, Filters()))
    assert found["policy GG − policy real-only"] == "shown"
    assert found["policy GG − policy GU"].startswith("about ")
    lacking = [int(found[f"policy GG − policy {other}"].split(";")[0].removeprefix("about ")) for other in ("GU", "UG")]
    assert lacking[0] > lacking[1] > 50


def test_a_pair_that_is_not_shown_says_what_would_have_been_found(study, pi) -> None:
    found = pairs(study_content(study, pi, Filters()))["policy GG − policy GU"]
    size = float(found.partition("; now ")[2].removesuffix(" points would be found"))
    rate = 0.84  # of both arms; ten pairs share 5 %
    assert size == pytest.approx(100 * (2.807 + 0.842) * (2 * rate * (1 - rate) / 50) ** 0.5, abs=2)


def test_an_effect_that_is_not_shown_says_so_and_a_shown_one_does_not(study, pi) -> None:
    lines = {
        (line.point.effect, line.point.group): line.sentence for line in study_content(study, pi, Filters()).effects
    }
    assert "more trials per arm" not in lines["world grounding", "all"]
    behavior = lines["behavior grounding", "all"]
    assert behavior.startswith("No effect of behavior grounding shown")
    assert "Were the effect seen so far the true one, about " in behavior
    assert "more trials per arm would show it with 80% power" in lines["interaction", "all"]


def test_equal_arms_are_resolved_by_no_number_and_an_arm_without_trials_says_nothing(pi) -> None:
    study = build_study(successes={"GG": (12, 13), "GU": (12, 13), "UG": (12, 13), "UU": (12, 13)})
    content = study_content(study, pi, Filters())
    assert {more.partition(";")[0] for more in pairs(content).values()} == {"—"}
    assert "no number of trials resolves that" in content.effects[0].sentence
    study.trials.filter(arm__label="policy UU").delete()
    assert pairs(study_content(study, pi, Filters()))["policy GG − policy UU"] == ""


def test_page_and_report_say_the_assumption(study, pi, browser_of) -> None:
    note = study_content(study, pi, Filters()).comparison_note
    assert "assumes that the difference seen so far is the true one" in note
    text = b"".join(browser_of(pi).get(f"/results/{study.slug}/report.html")).decode()
    assert "more trials per arm" in text and "a plan, not a promise" in text


def test_codes_of_a_blinded_study_get_the_same_figures(study, pi, researcher) -> None:
    by_name, by_code = (pairs(study_content(study, user, Filters())) for user in (pi, researcher))
    assert sorted(by_name.values()) == sorted(by_code.values())
