"""Power as the design page and the command line tell it, against freshly drawn studies: within two points."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from labapp.statistics.contrasts import contrast_p
from labapp.statistics.differences import boschloo_table
from labapp.statistics.factorial import EFFECTS
from labapp.statistics.power import (
    FactorialPower,
    detectable_difference,
    detectable_interaction,
    detectable_main_effect,
    effect_power,
    factorial_power,
    pair_power_at,
)
from labapp.studies.design.power import Assumed, Question, curve_ns, design_power
from tests.labapp.statistics.drawn import report

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
PUBLISHED = (0.86, 0.82, 0.74, 0.58)
CELLS = [PUBLISHED, (0.6, 0.5, 0.4, 0.45), (0.9, 0.9, 0.5, 0.5), (0.95, 0.9, 0.85, 0.7), (0.3, 0.2, 0.1, 0.1)]
STUDIES, SEED = 40_000, 7  # another seed than the page's


def drawn(p, trials, alpha: float = 0.05) -> dict[str, float]:
    k = np.random.default_rng(SEED).binomial(trials, p, (STUDIES, 4))
    return {name: float(np.mean(contrast_p(c, k, np.broadcast_to(trials, 4)) < alpha)) for name, c in EFFECTS.items()}


@pytest.mark.parametrize("n", [6, 10, 24, 50, 100, 101, 150, 250])
@pytest.mark.parametrize("cells", CELLS, ids=str)
def test_effects(cells: tuple[float, ...], n: int) -> None:
    for name, share in drawn(cells, n).items():
        told = effect_power(name, np.array(cells), n)
        report(f"{name}, cells {cells}, n={n}: told {100 * told:.1f} %, drawn", share)
        assert told == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize("trials", [(50, 50, 25, 25), (10, 20, 10, 10), (24, 12, 24, 24)])
def test_effects_with_unequal_cells(trials: tuple[int, ...]) -> None:
    for name, share in drawn(PUBLISHED, trials).items():
        assert effect_power(name, np.array(PUBLISHED), trials) == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize("n", [10, 24, 50, 100, 200, 201, 240, 300])
def test_pairs(n: int) -> None:
    table = boschloo_table(n, n)
    for p1, p2 in [(0.86, 0.52), (0.86, 0.74), (0.6, 0.45), (0.95, 0.85), (0.65, 0.5), (0.3, 0.1)]:
        rng = np.random.default_rng(SEED)
        share = float(np.mean(table[rng.binomial(n, p1, STUDIES), rng.binomial(n, p2, STUDIES)] < 0.05))
        told = pair_power_at(p1, p2, n)
        report(f"{p1} against {p2}, n={n}: told {100 * told:.1f} %, drawn", share)
        assert told == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize("n", [24, 50, 120])
def test_a_detectable_effect_is_found_in_four_of_five_studies(n: int) -> None:
    main, both = detectable_main_effect(0.4, n), detectable_interaction(0.3, n)
    assert drawn([0.4 + main, 0.4 + main, 0.4, 0.4], n)["main_a"] == pytest.approx(0.8, abs=0.02)
    if both is not None:
        assert drawn([0.3 + both, 0.3, 0.3, 0.3], n)["interaction"] == pytest.approx(0.8, abs=0.02)
    rise, counts = detectable_difference(0.4, n), np.arange(n + 1)
    chances = [stats.binom.pmf(counts, n, p) for p in (0.4 + rise, 0.4)]
    assert chances[0] @ (boschloo_table(n, n) < 0.05) @ chances[1] == pytest.approx(0.8, abs=0.02)


def test_every_point_of_the_design_pages_curves() -> None:
    """The page's example: four cells of 50 trials; effects and all six pairs, at every n that is drawn."""
    arms = tuple(Assumed(code, code, rate) for code, rate in zip("ABCD", PUBLISHED, strict=True))
    question = Question(arms, (("A",), ("B",), ("C",), ("D",)), ("world", "behavior", "interaction"), (("all", 50),))
    page, rng = design_power(question), np.random.default_rng(SEED)
    largest = 0.0
    for n in curve_ns(50):
        k, table = rng.binomial(n, PUBLISHED, (STUDIES, 4)), boschloo_table(n, n)
        found = {key: np.mean(contrast_p(c, k, np.full(4, n)) < 0.05) for key, c in EFFECTS.items()}
        for i, j in combinations(range(4), 2):
            found[f"{'ABCD'[i]}:{'ABCD'[j]}"] = np.mean(table[k[:, i], k[:, j]] < 0.05)
        for row in (*page.effects, *page.pairs):
            largest = max(largest, abs(dict(row.curve)[n] - found[row.key]))
    assert report("largest gap between the page's curves and drawn studies", largest) <= 0.02


def test_the_plain_formula_is_within_two_points_for_the_published_design() -> None:
    formula, share = factorial_power(PUBLISHED, 50), FactorialPower(50, **drawn(PUBLISHED, 50))
    print(f"world {formula.main_a:.3f} ({share.main_a:.3f} drawn), behavior {formula.main_b:.3f} ({share.main_b:.3f})")
    assert formula[1:] == pytest.approx(share[1:], abs=0.02)
