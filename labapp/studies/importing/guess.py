"""A first guess at what the columns of an outcome table mean; the person corrects it."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from labapp.studies.importing.outcome_tables import ArmColumns, TableMapping
from labapp.studies.importing.outcome_values import yes_or_no

SUCCESS = ("success", "is_success", "succeeded", "success_once", "outcome", "result", "ok", "passed")
ARM = ("policy", "arm", "policy_name", "method", "model", "agent", "system", "checkpoint")
CONDITION = ("condition", "scenario", "setting", "environment", "env", "split", "task")
FACTORS = ("world", "behavior", "behaviour")
OPERATOR = ("operator", "operator_label", "rater", "evaluator", "person")
STARTED = ("started_at", "timestamp", "datetime", "date", "time")
FAILURE = ("failure_mode", "failure", "failure_reason", "error")
STAGE = ("furthest_stage", "stage")
DURATION = ("duration_s", "duration", "time_s", "seconds", "time")
BLOCKS = (("block_label",), ("block",), ("pair",), ("run", "seed", "episode"))
WIDE = re.compile(r"^(?P<arm>.+?)[_\-. ](?:is_)?(?:success|succeeded|outcome|ok)$", re.IGNORECASE)

Record = Mapping[str, str]


def guess_mapping(header: Sequence[str], records: Sequence[Record]) -> TableMapping:
    """The likeliest meaning of the columns, judged by their names and first values; empty fields where none fits."""
    arms = _wide_arms(header, records)
    block = _block(header, records)
    shared = {
        "condition": _named(header, CONDITION),
        "block": block,
        "operator": _named(header, OPERATOR),
        "started_at": _moments(header, records),
    }
    if len(arms) > 1:
        outcomes = tuple(_arm_columns(arm, column, header) for arm, column in arms.items())
        return TableMapping(outcomes=outcomes, **shared)
    arm = _named(header, ARM)
    outcome = ArmColumns(
        success=_success(header, records),
        failure_mode=_named(header, FAILURE),
        furthest_stage=_named(header, STAGE),
        duration_s=_named(header, DURATION[:-1]),
    )
    factors = {name: column for name in FACTORS if (column := _named(header, (name,))) and _is_filled(column, records)}
    return TableMapping(outcomes=(outcome,), arm=arm, factors=factors, **shared)


def guess_levels(names: Sequence[str]) -> dict[str, str]:
    """What tells files apart by their names: control_n10.csv and semantic_n10.csv -> control and semantic."""
    if len(names) < 2:
        return {}
    words = {name: re.split(r"[_\-. ]+", name.rsplit(".", 1)[0]) for name in names}
    common = set.intersection(*(set(parts) for parts in words.values()))
    own = {name: " ".join(part for part in parts if part not in common) for name, parts in words.items()}
    return own if len(set(own.values())) == len(names) and all(own.values()) else {n: n for n in names}


def _named(header: Sequence[str], names: Sequence[str]) -> str:
    """The column that has the first of these names that there is."""
    by_name = {column.lower().replace(" ", "_"): column for column in reversed(header)}
    return next((by_name[name] for name in names if name in by_name), "")


def _is_filled(column: str, records: Sequence[Record]) -> bool:
    return bool(records) and all(record.get(column, "").strip() for record in records)


def _says_yes_or_no(column: str, records: Sequence[Record]) -> bool:
    return all(yes_or_no(record.get(column, "")) is not None for record in records)


def _success(header: Sequence[str], records: Sequence[Record]) -> str:
    named = [column for name in SUCCESS if (column := _named(header, (name,)))]
    return next((column for column in named if _says_yes_or_no(column, records)), named[0] if named else "")


def _wide_arms(header: Sequence[str], records: Sequence[Record]) -> dict[str, str]:
    """Arm -> its success column; a name that only extends another arm's (baseline_hard) is a second measure of it."""
    found = {
        match["arm"]: column for column in header if (match := WIDE.match(column)) and _says_yes_or_no(column, records)
    }
    return {
        arm: column
        for arm, column in found.items()
        if not any(arm != other and arm.startswith(f"{other}_") for other in found)
    }


def _arm_columns(arm: str, success: str, header: Sequence[str]) -> ArmColumns:
    def own(names: Sequence[str]) -> str:
        return _named(header, [f"{arm}_{name}".lower() for name in names])

    return ArmColumns(success, arm, own(FAILURE), own(STAGE), own(DURATION))


def _block(header: Sequence[str], records: Sequence[Record]) -> tuple[str, ...]:
    for names in BLOCKS:
        columns = tuple(column for name in names if (column := _named(header, (name,))) and _is_filled(column, records))
        if columns:
            return columns
    return ()


def _moments(header: Sequence[str], records: Sequence[Record]) -> str:
    column = _named(header, STARTED)
    if not column or not _is_filled(column, records):
        return ""
    try:
        for record in records:
            datetime.fromisoformat(record[column].strip())
    except ValueError:
        return ""
    return column
