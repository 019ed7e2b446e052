"""What each command of the command line computes: options in, (result for --json, sentences for people) out."""

from argparse import Namespace
from typing import Any

import numpy as np

from labapp.statistics import power as planning
from labapp.statistics.counts import Count, alpha_of
from labapp.statistics.differences import difference
from labapp.statistics.equivalence import equivalence
from labapp.statistics.factorial import factorial
from labapp.statistics.models import logistic_sensitivity, sensitivity_sentences
from labapp.statistics.multiplicity import compare_all, letters_by_rate
from labapp.statistics.paired import FEW_PAIRS, paired
from labapp.statistics.posterior import posterior_effects
from labapp.statistics.proportions import rate
from labapp.statistics.rows import factorial_table, is_success, order_levels, read_rows, tally
from labapp.statistics.wording import (
    compared_sentence,
    difference_sentence,
    effect_sentence,
    interaction_sentence,
    level,
    p_value,
    percent,
    points,
    rate_sentence,
)

Answer = tuple[dict[str, Any], list[str]]
SEED = 20260930  # the posterior is drawn; a fixed seed makes the same rows give the same numbers


def rate_command(options: Namespace) -> Answer:
    """`rate K N`."""
    result = rate(options.k, options.n, options.confidence, options.method)
    return result._asdict(), [rate_sentence(result)]


def difference_command(options: Namespace) -> Answer:
    """`difference K1 N1 K2 N2 [--margin M]`."""
    counts = options.k1, options.n1, options.k2, options.n2
    result = difference(*counts, options.confidence, options.test)
    answer, sentences = result._asdict(), [difference_sentence("the first arm", "the second arm", result)]
    answer["more_trials"] = planning.more_trials_to_resolve(*counts)
    if answer["more_trials"]:
        sentences.append(f"Were this the true difference, {answer['more_trials']} more trials per arm would show it.")
    if options.margin is not None:
        verdict = equivalence(*counts, options.margin)
        answer["equivalence"] = verdict._asdict()
        sentences.append(
            f"With a margin of {100 * options.margin:g} points: {verdict.verdict} ({p_value(verdict.p)}, "
            f"90% interval {points(verdict.low)} to {points(verdict.high)})."
        )
    return answer, sentences


def paired_command(options: Namespace) -> Answer:
    """`paired N10 N01 [--pairs N]`."""
    result = paired(options.n10, options.n01, options.pairs, options.confidence)
    test = f"exact McNemar {p_value(result.p)}"
    sentences = [f"{result.n10} pairs succeeded only under the first arm, {result.n01} only under the second: {test}."]
    if result.estimate is not None and result.low is not None and result.high is not None:
        interval = f"{level(result.confidence)} Tango interval {points(result.low)} to {points(result.high)}"
        sentences.append(f"Difference {points(result.estimate)} points ({interval}).")
    if result.pairs is not None and result.pairs <= FEW_PAIRS:
        sentences.append(f"With {FEW_PAIRS} pairs or fewer, Tango's interval covers more often than it says.")
    if result.share is not None and result.share_low is not None and result.share_high is not None:
        bounds = f"{percent(result.share_low)} to {percent(result.share_high)}"
        exact = f"{level(result.confidence)} interval {bounds}, exact: covers at least as often as it says"
        sentences.append(f"Of the pairs that differ, {percent(result.share)} were won by the first arm ({exact}).")
    return result._asdict(), sentences


def factorial_command(options: Namespace) -> Answer:
    """`factorial ROWS.csv --factors a,b --outcome success [--stratum condition] [--terms block,operator]`."""
    names = names_of(options.factors)
    if len(names) != 2:
        raise ValueError(f"--factors {options.factors}: two columns are needed, like world,behavior")
    terms = names_of(options.terms)
    columns = [*names, options.outcome, *([options.stratum] if options.stratum else []), *terms]
    every_row = read_rows(options.rows, columns)
    rows = [row for row in every_row if all((row[name] or "").strip() for name in names)]
    declared = _declared_levels(options.levels)
    levels = [order_levels([row[name].strip() for row in rows], name, declared.get(name)) for name in names]
    by = [*names, *([options.stratum] if options.stratum else [])]
    table = factorial_table(tally(rows, by, options.outcome), levels)
    result = factorial(table, options.confidence, options.weights)
    posterior = posterior_effects(table, np.random.default_rng(SEED), options.confidence, options.weights)
    answer: dict[str, Any] = {
        "factors": {name: {"low": low, "high": high} for name, (low, high) in zip(names, levels, strict=True)},
        "effects": {effect: found and found._asdict() for effect, found in result.effects.items()},
        "half_interaction": result.half_interaction,
        "posterior": {effect: found._asdict() for effect, found in posterior.items()},
        "strata": result.weights,
        "left_out": list(result.left_out),
        "rows": len(rows),
        "rows_without_factors": len(every_row) - len(rows),
    }
    sentences = [
        effect_sentence(f"{names[0]} ({levels[0][1]} over {levels[0][0]})", result.effects["main_a"]),
        effect_sentence(f"{names[1]} ({levels[1][1]} over {levels[1][0]})", result.effects["main_b"]),
        interaction_sentence(names[0], names[1], result.effects["interaction"]),
    ]
    if result.half_interaction is not None:
        sentences.append(f"Half-interaction {points(result.half_interaction)} points.")
    if result.left_out:
        sentences.append(f"Left out, for a cell has no trials there: {', '.join(result.left_out)}.")
    if len(every_row) > len(rows):
        sentences.append(f"{len(every_row) - len(rows)} rows without factor levels (a baseline) are left out.")
    if terms:
        _add_sensitivity(answer, sentences, rows, names, levels, terms, options)
    return answer, sentences


def _add_sensitivity(answer, sentences, rows, names, levels, terms, options) -> None:
    high = {name: [row[name].strip() == pair[1] for row in rows] for name, pair in zip(names, levels, strict=True)}
    success = [is_success(row, options.outcome, line) for line, row in enumerate(rows, start=2)]
    columns = {term: [row[term] for row in rows] for term in terms}
    model = logistic_sensitivity(success, high, columns, options.confidence)
    answer["logistic"] = model._asdict() | {"effects": {name: e._asdict() for name, e in model.effects.items()}}
    sentences += sensitivity_sentences(model, options.confidence)


def compare_command(options: Namespace) -> Answer:
    """`compare ROWS.csv --arm policy --outcome success`."""
    rows = read_rows(options.rows, [options.arm, options.outcome])
    arms: dict[str, Count] = {key[0]: count for key, count in tally(rows, [options.arm], options.outcome).items()}
    arms = dict(sorted(arms.items(), key=lambda item: item[1].successes / item[1].trials, reverse=True))
    comparisons = compare_all(arms, options.confidence)
    letters = letters_by_rate(arms, comparisons, alpha_of(options.confidence))
    answer = {
        "arms": {
            name: rate(*count, options.confidence)._asdict() | {"letters": letters[name]}
            for name, count in arms.items()
        },
        "comparisons": [
            {"first": c.first, "second": c.second, **c.difference._asdict(), "adjusted_p": c.adjusted_p}
            for c in comparisons
        ],
    }
    sentences = [
        f"{letters[name]:>4}  {name}: {rate_sentence(rate(*c, options.confidence))}" for name, c in arms.items()
    ]
    sentences.append("Arms that share a letter: no difference shown (Boschloo, Holm-adjusted).")
    tested = sum(c.adjusted_p is not None for c in comparisons)
    sentences += [compared_sentence(c.first, c.second, c.difference, c.adjusted_p, tested) for c in comparisons]
    return answer, sentences


def power_command(options: Namespace) -> Answer:
    """`power --cells GG,GU,UG,UU --n 50`, `power --pair P1,P2 --n 50`, `power --base 0.6 --n 50`."""
    alpha = alpha_of(options.confidence)
    if options.cells is not None:
        return _factorial_power(options, alpha)
    if options.pair is not None:
        p1, p2 = planning.check_rates(rates_of(options.pair), 2)
        reached = planning.pair_power(p1, p2, options.n, options.n, alpha)
        needed = planning.trials_for_power(lambda n: planning.pair_power_at(p1, p2, n, alpha), options.power)
        answer = {"n": options.n, "power": reached, "test": "boschloo", "trials_for_power": needed}
        return answer, [
            f"{options.n} trials an arm show {percent(p1)} against {percent(p2)} with {percent(reached)} power."
        ]
    return _detectable(options, alpha)


def _factorial_power(options: Namespace, alpha: float) -> Answer:
    rates = rates_of(options.cells)
    method = "simulated" if options.simulated else "normal"
    reached = planning.factorial_power(rates, options.n, alpha, method)
    p = planning.check_rates(rates, len(planning.CELLS))
    needed = {
        effect: planning.trials_for_power(
            lambda n, effect=effect: planning.effect_power(effect, p, n, alpha), options.power
        )
        if c @ p
        else None
        for effect, c in planning.EFFECTS.items()
    }
    answer = reached._asdict() | {"method": method, "alpha": alpha, "trials_for_power": needed}
    sentences = [_power_sentence(reached, method, alpha)]
    if method == "normal":
        drawn = planning.factorial_power(rates, options.n, alpha, "simulated")
        answer["simulated"] = drawn._asdict()
        sentences.append(_power_sentence(drawn, "simulated", alpha))
    for effect, n in needed.items():
        name = {"main_a": "the first factor", "main_b": "the second factor"}.get(effect, "the interaction")
        wanted = f"{percent(options.power)} power for {name}"
        sentences.append(f"{wanted}: {n} trials a cell." if n else f"{wanted}: out of reach, there is no such effect.")
    return answer, sentences


def _power_sentence(found: planning.FactorialPower, method: str, alpha: float) -> str:
    how = "plain normal formula" if method == "normal" else "drawn studies, the results page's own test"
    return (
        f"With {found.n} trials a cell: power {found.main_a:.2f} for the first factor, {found.main_b:.2f} for the "
        f"second, {found.interaction:.2f} for the interaction ({how}, two-sided {100 * alpha:g}%)."
    )


def _detectable(options: Namespace, alpha: float) -> Answer:
    planning.check_rates([options.base], 1)
    smallest = {
        "main_effect": planning.detectable_main_effect(options.base, options.n, options.power, alpha),
        "interaction": planning.detectable_interaction(options.base, options.n, options.power, alpha),
        "difference": planning.detectable_difference(options.base, options.n, options.power, alpha),
    }
    answer = {"n": options.n, "base": options.base, "power": options.power, "detectable": smallest}
    words = [f"{name.replace('_', ' ')} {points(e) if e else 'none'}" for name, e in smallest.items()]
    return answer, [f"{options.n} trials a cell around {percent(options.base)} detect, in points: {', '.join(words)}."]


def names_of(text: str) -> list[str]:
    """Names with commas between; none for an empty text."""
    return [name.strip() for name in text.split(",") if name.strip()]


def rates_of(text: str) -> list[float]:
    """Rates with commas between.

    Raises:
        ValueError: on what is no number.
    """
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{text!r}: rates are numbers with commas between, like 0.86,0.52") from None


def _declared_levels(pairs: list[str]) -> dict[str, list[str]]:
    declared = {}
    for pair in pairs:
        name, _, levels = pair.partition("=")
        if len(names_of(levels)) != 2:
            raise ValueError(f"--levels {pair}: FACTOR=LOW,HIGH is needed, like world=ungrounded,grounded")
        declared[name] = names_of(levels)
    return declared
