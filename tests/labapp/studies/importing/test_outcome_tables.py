from collections import Counter

import pytest

from labapp.studies.importing.outcome_tables import ArmColumns, TableMapping, TableRefused, read_outcomes, table_header

LONG = TableMapping(
    outcomes=(ArmColumns(success="ok", failure_mode="why", duration_s="seconds"),),
    arm="policy",
    condition="condition",
    factors={"world": "world"},
)
LONG_CSV = """policy,world,condition,ok,why,seconds
A,grounded,nominal,1,,5.2
A,grounded,red light,no,dropped,
B,ungrounded,nominal,True,,6
"""
WIDE = TableMapping(
    outcomes=(
        ArmColumns(label="baseline", success="baseline_success", failure_mode="baseline_failure_mode"),
        ArmColumns(label="cgvd", success="cgvd_success", failure_mode="cgvd_failure_mode"),
    ),
    block=("run", "episode"),
)


def test_a_long_table_gives_one_outcome_a_row():
    rows = read_outcomes(LONG_CSV, LONG)
    assert [(r.line, r.arm, r.condition, r.is_success) for r in rows] == [
        (2, "A", "nominal", True),
        (3, "A", "red light", False),
        (4, "B", "nominal", True),
    ]
    assert rows[0].factors == (("world", "grounded"),)
    assert (rows[1].failure_mode, rows[1].duration_s) == ("dropped", None)


def test_a_wide_table_gives_one_outcome_per_arm_paired_by_its_block():
    text = "run,episode,baseline_success,cgvd_success,baseline_failure_mode,cgvd_failure_mode\n0,3,0,1,missed,success\n"
    rows = read_outcomes(text, WIDE)
    assert [(r.arm, r.is_success, r.failure_mode, r.block) for r in rows] == [
        ("baseline", False, "missed", "0 / 3"),
        ("cgvd", True, "", "0 / 3"),
    ]


def test_a_bad_row_37_is_named_and_nothing_is_returned():
    lines = ["policy,world,condition,ok,why,seconds"] + ["A,grounded,nominal,1,,5"] * 60
    lines[36] = "A,grounded,nominal,perhaps,,-3"
    with pytest.raises(TableRefused) as refused:
        read_outcomes("\n".join(lines), LONG)
    assert [str(p) for p in refused.value.problems] == [
        "line 37, column “ok”: “perhaps” is not a yes or no (1/0, true/false, yes/no, success/failure); "
        "leave out trials without an outcome, and give a share of several trials as one row a trial",
        "line 37, column “seconds”: “-3” is not a time in seconds, 0 or more, such as 12.5",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("a,a\n1,2\n", "names a column twice: a"),
        ("policy,world\nA,grounded\n", "no column condition, ok, why, seconds"),
        ("policy,world,condition,ok,why,seconds\n", "no rows"),
        ("policy,world,condition,ok,why,seconds\nA,grounded\n", "cannot be read"),
    ],
)
def test_a_wrong_file_says_what_is_wrong(text, message):
    with pytest.raises(TableRefused, match=message):
        read_outcomes(text, LONG)


def test_a_byte_order_mark_and_spaces_in_the_header_are_ignored():
    assert table_header("\ufeffpolicy , ok\n") == ["policy", "ok"]


@pytest.mark.parametrize(
    ("category", "successes"),
    [("semantic", {"baseline": 99, "cgvd": 142}), ("control", {"baseline": 120, "cgvd": 141})],
)
def test_real_paired_rollouts_give_their_published_counts(shared_data, category, successes):
    text = (shared_data / "outcomes_pi0_spoon" / f"{category}_n10.csv").read_text()
    rows = read_outcomes(text, WIDE)
    assert Counter(r.arm for r in rows if r.is_success) == successes
    assert len({r.block for r in rows}) == 200
