"""Commands on studies that may stop early: `sequential ROWS.csv`, and `power` under a stopping rule."""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labapp.statistics import looks_wording as wording
from labapp.statistics.commands import Answer, names_of, power_command, rates_of
from labapp.statistics.counts import alpha_of
from labapp.statistics.factorial import CELLS, EFFECTS
from labapp.statistics.looks import (
    ANYTIME,
    GROUP_SEQUENTIAL,
    Comparison,
    Course,
    Judged,
    Rule,
    effect_comparison,
    finished_blocks,
    follow,
    judge_looks,
    pair_comparison,
    pair_comparisons,
    planned_looks,
)
from labapp.statistics.power import check_rates
from labapp.statistics.rows import Row, is_success, order_levels, read_rows
from labapp.statistics.sequential_power import Stopping, draw_bets, effect_stopping, pair_stopping
from labapp.statistics.wording import percent

LONGEST = 400  # blocks drawn to find how long betting takes
NAMES = {"main_a": "the first factor", "main_b": "the second factor"}


def sequential_command(options: Namespace) -> Answer:
    """`sequential ROWS.csv --arm arm --outcome success --block block --looks 4 --planned 25` or `--anytime`."""
    factors = names_of(options.factors)
    rows = read_rows(options.rows, [options.arm, options.outcome, options.block, *factors])
    arms = names_of(options.arms) or sorted({row[options.arm].strip() for row in rows})
    outcomes = _outcomes(rows, arms, options)
    gone = names_of(options.withdrawn)
    if strange := [arm for arm in gone if arm not in arms]:
        raise ValueError(f"--withdrawn {', '.join(strange)}: no arm of the rows; they have {', '.join(arms)}")
    finished = finished_blocks(outcomes, [arm not in gone for arm in arms])
    comparisons = _comparisons(arms, names_of(options.primary), _cells(rows, arms, factors, options.arm))
    rule = _rule(options)
    answer: dict[str, Any] = {"rule": rule.kind, "alpha": rule.alpha, "finished_blocks": finished}
    if rule.kind == ANYTIME:
        return _courses_answer(answer, follow(outcomes[:finished], comparisons, rule), rule, finished)
    finished = min(finished, rule.blocks)
    return _looks_answer(answer, judge_looks(outcomes[:finished], comparisons, rule), rule, finished)


def _rule(options: Namespace) -> Rule:
    alpha, is_split = alpha_of(options.confidence), options.adjustment == "holm"
    if options.anytime:
        return Rule(ANYTIME, alpha, is_split, options.planned or 0, reserved=options.reserved)
    if options.planned is None:
        raise ValueError(
            "--looks needs --planned: boundaries follow from the planned number of blocks, not from the rows"
        )
    return Rule(GROUP_SEQUENTIAL, alpha, is_split, options.planned, options.looks, options.shape, options.reserved)


def _outcomes(rows: Sequence[Row], arms: Sequence[str], options: Namespace) -> NDArray[np.float64]:
    """Shape (blocks, arms); raises ValueError naming the line of a bad block, arm, outcome, or a second trial."""
    found: dict[tuple[int, str], bool] = {}
    for line, row in enumerate(rows, start=2):
        key = _block(row, options.block, line), row[options.arm].strip()
        if key[1] not in arms:
            raise ValueError(f"line {line}, column {options.arm}: {key[1]!r} is none of {', '.join(arms)}")
        if key in found:
            raise ValueError(
                f"line {line}: a second trial of {key[1]} in block {key[0]}; a block holds one of each arm"
            )
        found[key] = is_success(row, options.outcome, line)
    outcomes = np.full((max(block for block, _ in found), len(arms)), np.nan)
    for (block, arm), success in found.items():
        outcomes[block - 1, arms.index(arm)] = success
    return outcomes


def _block(row: Row, column: str, line: int) -> int:
    try:
        block = int(row[column])
    except ValueError:
        block = 0
    if block < 1:
        raise ValueError(f"line {line}, column {column}: {row[column]!r} is no block; they count 1, 2, 3")
    return block


def _cells(rows: Sequence[Row], arms: Sequence[str], factors: Sequence[str], arm: str) -> list[list[str]]:
    """Arms of each cell of the 2 x 2 design; empty without factors."""
    if not factors:
        return []
    if len(factors) != len(CELLS) // 2:
        raise ValueError(f"--factors {','.join(factors)}: two columns are needed, like world,behavior")
    levels_of = {row[arm].strip(): tuple(row[name].strip() for name in factors) for row in rows}
    inside = {code: levels for code, levels in levels_of.items() if all(levels)}
    a, b = (order_levels([levels[i] for levels in inside.values()], name) for i, name in enumerate(factors))
    return [[code for code in arms if inside.get(code) == (a[high_a], b[high_b])] for high_a, high_b in CELLS]


def _comparisons(arms: Sequence[str], primary: Sequence[str], cells: Sequence[Sequence[str]]) -> list[Comparison]:
    if not primary:
        return pair_comparisons(arms)
    return [_comparison(arms, key, cells) for key in primary]


def _comparison(arms: Sequence[str], key: str, cells: Sequence[Sequence[str]]) -> Comparison:
    if key in EFFECTS:
        if not cells:
            raise ValueError(f"--primary {key} needs --factors: the two columns of the design, like world,behavior")
        return effect_comparison(arms, cells, key, key)
    first, _, second = key.partition(":")
    return pair_comparison(arms, first, second)


def _looks_answer(answer: dict[str, Any], judged: Sequence[Judged], rule: Rule, finished: int) -> Answer:
    verdict = wording.looks_verdict(judged, rule, finished)
    answer |= {
        "finished_blocks": finished,
        "planned_blocks": rule.blocks,
        "look_blocks": rule.look_blocks,
        "verdict": verdict.word,
        "sentence": verdict.sentence,
        "comparisons": [
            {
                "key": j.comparison.key,
                "crossed_at": j.crossed.number if j.crossed else None,
                "looks": [look._asdict() for look in j.looks],
            }
            for j in judged
        ],
    }
    position = f"{wording.looks_position(rule, finished)}."
    sentences = [wording.judged_sentence(j, rule) for j in judged]
    return answer, [verdict.sentence, position, *sentences, wording.level_sentence(rule, len(judged))]


def _courses_answer(answer: dict[str, Any], courses: Sequence[Course], rule: Rule, finished: int) -> Answer:
    verdict = wording.courses_verdict(courses, rule, finished)
    answer |= {
        "verdict": verdict.word,
        "sentence": verdict.sentence,
        "comparisons": [
            {
                "key": c.comparison.key,
                "level": c.level,
                "blocks": len(c.blocks),
                "estimate": c.estimates[-1] if c.blocks else None,
                "low": c.lows[-1] if c.blocks else None,
                "high": c.highs[-1] if c.blocks else None,
                "decided_at": c.decided_at,
            }
            for c in courses
        ],
    }
    return answer, [
        verdict.sentence,
        *(wording.course_sentence(c) for c in courses),
        wording.level_sentence(rule, len(courses)),
    ]


def stopping_power_command(options: Namespace) -> Answer:
    """`power …`, and with `--looks K [--shape …]` or `--anytime` also what the stopping rule makes of it."""
    answer, sentences = power_command(options)
    if options.looks is None and not options.anytime:
        return answer, sentences
    if options.base is not None:
        raise ValueError("--base has no stopping rule: give assumed rates with --cells or --pair")
    is_pair = options.pair is not None
    rates = check_rates(rates_of(options.pair or options.cells), 2 if is_pair else len(CELLS))
    contrasts = {"difference": np.array([1.0, -1.0])} if is_pair else dict(EFFECTS)
    found = _betting(rates, contrasts, options) if options.anytime else _looking(rates, contrasts, options)
    rule = "betting after every block" if options.anytime else f"{options.looks} looks, {options.shape}"
    answer["stopping"] = {"rule": rule, "comparisons": found}
    for name, row in found.items():
        sentences.append(
            f"With {rule}: {NAMES.get(name, f'the {name}')} is found with {percent(row['power'])} power; "
            f"{row['expected']:.1f} trials per arm on average, {row['expected_without_effect']:.1f} without any effect."
        )
    return answer, sentences


def _looking(rates: NDArray[np.float64], contrasts: Mapping[str, NDArray], options: Namespace) -> dict[str, Any]:
    rule = Rule(GROUP_SEQUENTIAL, alpha_of(options.confidence), False, options.n, options.looks, options.shape)
    looks, edges = planned_looks(options.n, options.looks), rule.edges(1)

    def stopping(p: NDArray[np.float64], c: NDArray[np.float64]) -> Stopping:
        return pair_stopping(p[0], p[1], looks, edges) if len(p) == 2 else effect_stopping(list(p), c, looks, edges)

    found = {}
    for name, c in contrasts.items():
        with_effect, without = stopping(rates, c), stopping(np.full(len(rates), rates.mean()), c)
        found[name] = {
            "power": with_effect.power,
            "expected": with_effect.expected,
            "expected_without_effect": without.expected,
            "looks": looks,
            "chances": list(with_effect.chances),
        }
    return found


def _betting(rates: NDArray[np.float64], contrasts: Mapping[str, NDArray], options: Namespace) -> dict[str, Any]:
    levels, equal = [alpha_of(options.confidence)] * len(contrasts), np.full(len(rates), rates.mean())
    blocks = max(options.n, LONGEST)
    drawn = draw_bets(list(rates), list(contrasts.values()), blocks, levels)
    without = draw_bets(list(equal), list(contrasts.values()), options.n, levels)
    return {
        name: {
            "power": bets.power(options.n),
            "expected": bets.expected(options.n),
            "expected_without_effect": same.expected(options.n),
            "median_block": bets.blocks_for(0.5),
        }
        for name, bets, same in zip(contrasts, drawn, without, strict=True)
    }
