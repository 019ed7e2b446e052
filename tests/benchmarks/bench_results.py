"""The results page's queries against one bare SQL aggregate over the same trials, side by side on PostgreSQL.

`run()` gives the measurements to `make bench`.
"""

import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.apart import measure_apart, scratch_database

SIZES = ((100_000, 4.0), (1_000_000, 5.0))  # trials, largest allowed ratio
REPEATS = 15
GROUNDING = ("grounded", "ungrounded")
BARE = """
SELECT arm_id, condition_id, count(*), count(*) FILTER (WHERE is_success)
FROM studies_trial WHERE study_id = %s AND status = 'confirmed' GROUP BY arm_id, condition_id
"""
FILL = """
INSERT INTO studies_trial (id, study_id, arm_id, condition_id, status, is_automatic, is_success, furthest_stage,
    failure_mode, note, invalid_reason, duration_s, latency_ms, block_label, operator_label, episode_prefix, version,
    started_at, confirmed_at)
SELECT gen_random_uuid(), %(study)s, (%(arms)s::bigint[])[1 + i %% 5], (%(conditions)s::bigint[])[1 + (i / 5) %% 5],
    'confirmed', false, good,
    CASE WHEN good THEN 'placed' ELSE (ARRAY['approach', 'contact', 'lift', 'carry'])[1 + i %% 4] END,
    CASE WHEN good THEN '' ELSE (ARRAY['missed_pick', 'dropped', 'drift', 'timeout'])[1 + (i / 7) %% 4] END,
    '', '', 3 + 9 * random(), 40, '', '', '', 1, now() - i * interval '1 second', now() - i * interval '1 second'
FROM (SELECT i, random() < 0.7 AS good FROM generate_series(%(first)s, %(last)s) AS i) AS drawn
"""


def run() -> list[dict[str, Any]]:
    """Measure in a process of its own."""
    return measure_apart("tests.benchmarks.bench_results", "results page", SIZES[0][1])


def measure(folder: Path) -> list[dict[str, Any]]:
    """Fill a scratch database step by step and time both sides at each size."""
    with scratch_database(folder):
        return _all_sizes(*_study())


def _study() -> tuple[Any, Any]:
    from labapp.accounts.models import Role, User
    from labapp.studies.models import Condition, PolicyArm, Study

    study = Study.objects.create(name="Benchmark", slug="benchmark")
    for i in range(5):
        Condition.objects.create(study=study, slug=f"c{i}", label=f"C{i}", order=i, is_shifted=i > 0)
        factors = {"world": GROUNDING[i // 2], "behavior": GROUNDING[i % 2]} if i < 4 else {}
        PolicyArm.objects.create(study=study, code=f"A{i}", label=f"arm {i}", factors=factors)
    return study, User.objects.create_user(username="bench", password=None, role=Role.PI)


def _all_sizes(study: Any, user: Any) -> list[dict[str, Any]]:
    results, filled = [], 0
    for size, bar in SIZES:
        fill(study, filled, size)
        filled = size
        results.append(_ratio(study, user, size, bar))
    return results


def fill(study: Any, first: int, beyond: int) -> None:
    """Scored trials of a study, numbered from ``first`` up to ``beyond``."""
    from django.db import connection

    arms, conditions = (list(rows.values_list("pk", flat=True)) for rows in (study.arms.all(), study.conditions.all()))
    with connection.cursor() as cursor:
        values = {"study": study.pk, "arms": arms, "conditions": conditions, "first": first, "last": beyond - 1}
        cursor.execute(FILL, values)
        cursor.execute("VACUUM ANALYZE studies_trial")  # what autovacuum does on a server at rest


def fill_study(size: int) -> None:
    """A study with as many scored trials."""
    fill(_study()[0], 0, size)


def _ratio(study: Any, user: Any, size: int, bar: float) -> dict[str, Any]:
    """Medians of interleaved repeats, after one of each to warm caches."""
    bare, queries, page = [], [], []
    for _ in range(REPEATS + 1):
        bare.append(_bare_seconds(study))
        in_database, whole = _page_seconds(study, user)
        queries.append(in_database)
        page.append(whole)
    bare_s, queries_s, page_s = (statistics.median(times[1:]) for times in (bare, queries, page))
    ratio = queries_s / bare_s
    detail = f"bare {bare_s * 1e3:.1f} ms, page's queries {queries_s * 1e3:.1f} ms, whole content {page_s * 1e3:.1f} ms"
    name = f"results page, {size:,} trials: its queries / one bare aggregate"
    return {"name": name, "value": round(ratio, 2), "bar": bar, "ok": ratio < bar, "detail": detail}


def _bare_seconds(study: Any) -> float:
    from django.db import connection

    with connection.cursor() as cursor:
        start = time.perf_counter()
        cursor.execute(BARE, [study.pk])
        cursor.fetchall()
        return time.perf_counter() - start


def _page_seconds(study: Any, user: Any) -> tuple[float, float]:
    """(seconds in the database, seconds for the whole content)."""
    from django.db import connection

    from frontend.dashboards.filters import Filters
    from labapp.results.queries import study_content

    spent = 0.0

    def clock(execute: Any, *arguments: Any) -> Any:
        nonlocal spent
        start = time.perf_counter()
        try:
            return execute(*arguments)
        finally:
            spent += time.perf_counter() - start

    start = time.perf_counter()
    with connection.execute_wrapper(clock):
        study_content(study, user, Filters())
    return spent, time.perf_counter() - start


if __name__ == "__main__" and sys.argv[1:2] == ["--measure"]:
    print(json.dumps(measure(Path(sys.argv[2]))))
