"""Reading several tables as one study, and the guess at their columns: pure."""

import pytest

from labapp.studies.importing.guess import guess_levels, guess_mapping
from labapp.studies.importing.outcome_tables import ArmColumns, TableMapping, TableRefused
from labapp.studies.importing.tables import ImportMapping, ImportRefused, TableFile, read_files, summary

WIDE = TableMapping(outcomes=(ArmColumns("a_success", "a"), ArmColumns("b_success", "b")), arm_factor="method")
EASY = TableFile("easy.csv", "seed,a_success,b_success\n1,1,1\n2,0,1\n")
HARD = TableFile("hard.csv", "seed,a_success,b_success\n1,0,0\n2,0,1\n")
LEVELS = {"easy.csv": {"clutter": "easy"}, "hard.csv": {"clutter": "hard"}}


def test_a_file_gives_its_own_level_of_a_factor_and_the_arm_may_be_one():
    rows = read_files([EASY, HARD], ImportMapping(WIDE, LEVELS))
    assert rows[0].factors == (("clutter", "easy"), ("method", "a"))
    assert rows[-1].factors == (("clutter", "hard"), ("method", "b"))
    assert dict(summary(rows).arms)["b / hard"] == (1, 2)


def test_a_wide_row_is_a_pair_that_stays_within_its_file():
    rows = read_files([EASY, HARD], ImportMapping(WIDE, LEVELS))
    assert rows[0].block == rows[1].block == "easy.csv: line 2"
    assert summary(rows).pairs == 4


def test_a_key_may_hold_across_files():
    table = TableMapping(outcomes=WIDE.outcomes, block=("seed",), arm_factor="method")
    rows = read_files([EASY, HARD], ImportMapping(table, LEVELS, pairs_across_files=True))
    assert summary(rows).pairs == 2


def test_every_file_is_checked_and_a_bad_row_37_is_named_with_its_file():
    lines = ["seed,a_success,b_success", *["1,1,0"] * 60]
    lines[36] = "1,1,maybe"
    files = [TableFile("good.csv", EASY.text), TableFile("bad.csv", "\n".join(lines)), TableFile("empty.csv", "")]
    with pytest.raises(ImportRefused) as refused:
        read_files(files, ImportMapping(WIDE))
    assert "bad.csv: 1 value cannot be read; nothing was imported." in str(refused.value)
    assert "empty.csv: The file is empty" in str(refused.value)
    (problem,) = refused.value.problems
    assert str(problem).startswith("bad.csv, line 37, column “b_success”: “maybe” is not a yes or no")


def test_a_stage_that_there_is_not_is_named():
    table = TableMapping(outcomes=(ArmColumns("ok", furthest_stage="stage"),), arm="policy")
    file = TableFile("t.csv", "policy,ok,stage\nA,0,Lift\nA,0,moonwalk over the belt\n")
    with pytest.raises(ImportRefused) as refused:
        read_files([file], ImportMapping(table))
    (problem,) = refused.value.problems
    assert (problem.problem.line, problem.problem.column) == (3, "stage")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "whether a trial succeeded"),
        ({"outcomes": [{"success": "ok"}]}, "names the arm"),
        ({"outcomes": [{"success": "a", "label": "x"}, {"success": "b", "label": "x"}]}, "Two arms are called “x”"),
        ({"outcomes": [{"success": "a"}], "arm": "p", "arm_factor": "m", "factors": {"m": "c"}}, "named twice"),
        ({"outcomes": [{"winner": "ok"}]}, "outcomes.0..winner: no such field"),
        ({"outcomes": [{"success": "ok"}], "arm": "p", "colour": "red"}, "colour: no such field"),
        ({"outcomes": [{"success": ["ok"]}], "arm": "p"}, "outcomes.0..success: must be text"),
        ({"outcomes": [{"success": "ok"}], "arm": 5}, "arm: must be text, got 5"),
        ({"outcomes": [{"success": "ok"}], "arm": "p", "files": "past.csv"}, "files: must be an object"),
        ({"outcomes": [{"success": "ok"}], "arm": "p", "files": {"a.csv": {"c": 5}}}, "files.a.csv.c: must be text"),
        ({"outcomes": [{"success": "ok"}], "arm": "p", "factors": ["c"]}, "factors: must be an object"),
        ({"outcomes": [{"success": "ok"}], "arm": "p", "pairs_across_files": "no"}, "must be true or false"),
        ({"outcomes": [{"success": "ok"}], "arm": "p", "constants": {"c": "a\0b"}}, "all printable; got 'a.x00b'"),
        ({"outcomes": [{"success": "ok"}], "arm": "p", "constants": {"c": "x" * 81}}, "at most 80 letters"),
    ],
)
def test_a_mapping_that_says_too_little_is_refused_in_words(values, message):
    with pytest.raises(TableRefused, match=message):
        ImportMapping.from_json(values)


def test_an_arm_twice_under_one_key_is_an_oddity():
    table = TableMapping(outcomes=(ArmColumns("ok"),), arm="policy", block=("seed",))
    rows = read_files([TableFile("t.csv", "policy,seed,ok\nA,1,1\nA,1,0\nB,1,1\n")], ImportMapping(table))
    twice, unequal = summary(rows).oddities
    assert "several trials under one pairing key" in twice
    assert "unequal numbers" in unequal


def test_a_wide_table_is_recognised_and_a_second_measure_is_no_arm():
    header = ["seed", "new_success", "old_success", "new_hard_success", "new_failure_mode", "new_time"]
    record = dict.fromkeys(header, "1")
    found = guess_mapping(header, [record])
    assert found.is_wide
    assert [(c.label, c.success, c.failure_mode, c.duration_s) for c in found.outcomes] == [
        ("new", "new_success", "new_failure_mode", "new_time"),
        ("old", "old_success", "", ""),
    ]
    assert found.block == ("seed",)


def test_a_long_table_is_recognised():
    header = ["Policy", "world", "behavior", "condition", "success", "duration_s", "operator", "started_at"]
    record = dict(zip(header, ["A", "grounded", "adapt", "nominal", "0", "3", "ann", "2026-11-30"], strict=True))
    found = guess_mapping(header, [record])
    assert (found.arm, found.condition, found.operator, found.started_at) == (
        "Policy", "condition", "operator", "started_at",
    )  # fmt: skip
    assert found.factors == {"world": "world", "behavior": "behavior"}
    assert found.outcomes == (ArmColumns("success", duration_s="duration_s"),)


def test_a_column_of_numbers_is_no_success_and_no_time_of_day():
    found = guess_mapping(["policy", "result", "ok", "time"], [{"policy": "A", "result": "7", "ok": "1", "time": "7"}])
    assert (found.outcomes[0].success, found.started_at) == ("ok", "")


@pytest.mark.parametrize(
    ("names", "levels"),
    [
        (["control_n10.csv", "semantic_n10.csv"], ["control", "semantic"]),
        (["a.csv"], []),
        (["n10.csv", "n10_b.csv"], ["n10.csv", "n10_b.csv"]),
    ],
)
def test_files_are_told_apart_by_what_differs_in_their_names(names, levels):
    assert list(guess_levels(names).values()) == levels
