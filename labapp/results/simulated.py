"""Simulated beside real success: the newest evaluation of a study's arms, and how well it foretells their trials."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from urllib.parse import urlencode

from django.db.models import F
from django.urls import reverse

from frontend.dashboards.filters import Filters, format_filters
from frontend.dashboards.simulated_content import BesideLine, SimulatedCard
from frontend.figures.data import RatePair, RatePoint
from labapp.accounts.models import Role, User
from labapp.accounts.roles import has_role
from labapp.evaluations.models import Evaluation, SimulatedRollout
from labapp.evaluations.selectors import latest_of, policies_of, rollouts_of, under_way
from labapp.results.reading import ConditionGroup, Reading, Tally, summary_groups, table_groups
from labapp.results.tallies import OutcomeGroup
from labapp.statistics.counts import Count
from labapp.statistics.differences import newcombe_bounds
from labapp.statistics.prediction import FEWEST, Agreement, agreement
from labapp.statistics.wording import level
from labapp.studies.arms import Arm
from labapp.studies.models import Study, Trial

MIX_TOLERANCE = 0.05
NOT_YET = (
    "Not evaluated in simulation yet. The arms can be rolled out in the measured world, from the trials' own starts."
)
ROW_COLUMNS = (
    "arm", "policy", "condition", "is_shifted", "number", "object", "bin", "belt_speed", "seed", "success",
    "furthest_stage", "failure_mode", "time_s", "is_simulated",
)  # fmt: skip


def simulated_card(
    study: Study, evaluation: Evaluation | None, user: User, reading: Reading, filters: Filters
) -> SimulatedCard | None:
    """The card under the page's filters; None for a study whose policies are not here."""
    if evaluation is None:
        return _missing(study, user) if study.arms.filter(checkpoint__isnull=False).exists() else None
    simulated = replace(reading, tally=Tally(outcomes(evaluation)))
    groups = summary_groups(reading.conditions)
    together = [group.condition_ids for group in groups]
    singles = [g for g in table_groups(reading.conditions) if len(g.slugs) == 1 and g.condition_ids not in together]
    lines = [_line(arm, group, simulated, reading, evaluation) for arm in reading.arms for group in (*groups, *singles)]
    return SimulatedCard(
        about=_about(evaluation),
        href=evaluation.get_absolute_url(),
        lines=tuple(lines),
        figure_groups=tuple(group.label for group in groups),
        sentences=tuple(_sentences(lines, groups, reading.confidence)),
        notes=tuple(_notes(evaluation, groups, simulated, reading)),
        rows_href=reverse("results:simulated_csv", args=[study.slug]) + format_filters(filters),
    )


def newest(study: Study, filters: Filters) -> Evaluation | None:
    """The newest evaluation that was finished by the moment that the page is to show."""
    return latest_of(study, until=filters.until)


def version_facts(evaluation: Evaluation | None) -> list[tuple[str, int]]:
    """What the version of the page's numbers must change with, beside the trials' counts."""
    return [("evaluation", evaluation.pk)] if evaluation else []


def outcomes(evaluation: Evaluation) -> list[OutcomeGroup]:
    """Rollouts by arm, condition and outcome, counted as trials are; an arm's former checkpoint is left out."""
    rows = (
        rollouts_of(evaluation)
        .counted()
        .filter(policy__checkpoint=F("policy__arm__checkpoint"), condition__condition__isnull=False)
        .order_by()
        .values("policy__arm_id", "condition__condition_id")
        .tallies()
        .values_list("policy__arm_id", "condition__condition_id", "k", "n")
    )
    confirmed = Trial.Status.CONFIRMED
    found = []
    for arm, condition, k, n in rows:
        found += [OutcomeGroup(arm, condition, confirmed, True, "", "", k)] if k else []
        found += [OutcomeGroup(arm, condition, confirmed, False, "", "", n - k)] if n > k else []
    return found


def simulated_rows(evaluation: Evaluation, filters: Filters, with_names: bool) -> Iterator[list[object]]:
    """Rollouts as rows of ROW_COLUMNS, under the page's filters."""
    names = {policy.pk: (policy.word, name) for policy, name, _ in policies_of(evaluation, with_names)}
    chosen = rollouts_of(evaluation).counted().select_related("condition__condition").order_by("policy_id", "number")
    if filters.conditions:
        chosen = chosen.filter(condition__slug__in=filters.conditions)
    if filters.arms:
        chosen = chosen.filter(policy__arm__code__in=filters.arms)
    for rollout in chosen.iterator():
        yield [*names[rollout.policy_id], *_facts(rollout), True]


def _facts(rollout: SimulatedRollout) -> list[object]:
    condition = rollout.condition
    is_shifted = condition.condition.is_shifted if condition.condition else ""
    start = [rollout.number + 1, rollout.object_name, rollout.bin, rollout.belt_speed, rollout.seed]
    ended = [rollout.is_success, rollout.furthest_stage, rollout.failure_mode, rollout.time_s]
    return [condition.slug, is_shifted, *start, *ended]


def _missing(study: Study, user: User) -> SimulatedCard:
    started = under_way(study)
    if started is not None:
        done, total = started.run.progress_done, started.run.progress_total
        how_far = f" {done:.0f} of {total:.0f} rollouts are done." if total else ""
        text = f"The arms are being rolled out in simulation.{how_far}"
        return SimulatedCard(missing=text, action="See how far it is", action_href=started.get_absolute_url())
    if not has_role(user, Role.RESEARCHER):
        return SimulatedCard(missing=f"{NOT_YET} A researcher can launch it.")
    href = f"{reverse('evaluations:new')}?{urlencode({'study': study.slug})}"
    return SimulatedCard(missing=NOT_YET, action="Evaluate in simulation", action_href=href)


def _line(arm: Arm, group: ConditionGroup, simulated: Reading, real: Reading, evaluation: Evaluation) -> BesideLine:
    pair = RatePair(*(RatePoint(arm.name, group.label, *side.rate([arm], group)[:5]) for side in (simulated, real)))
    which = "condition" if len(group.slugs) == 1 else "conditions"
    query = urlencode({"policy": arm.code, which: ",".join(group.slugs), "outcome": "counted"}, safe=",")
    rollouts = f"{reverse('evaluations:rollouts', args=[evaluation.pk])}?{query}"
    counts = (side.count([arm], group) for side in (simulated, real))
    return BesideLine(pair, rollouts, real.href([arm], group), *_difference(*counts, real.confidence))


def _difference(simulated: Count, real: Count, confidence: float) -> tuple[float | None, float | None, float | None]:
    """Simulated minus real and its Newcombe bounds, in points."""
    if not (simulated.trials and real.trials):
        return None, None, None
    low, high = newcombe_bounds(*simulated, *real, confidence)
    d = simulated.successes / simulated.trials - real.successes / real.trials
    return 100 * d, 100 * float(low), 100 * float(high)


def _sentences(lines: Sequence[BesideLine], groups: Sequence[ConditionGroup], confidence: float) -> Iterator[str]:
    for group in groups:
        pairs = [line.pair for line in lines if line.pair.real.group == group.label and line.points is not None]
        if pairs:
            found = agreement([p.simulated.rate for p in pairs], [p.real.rate for p in pairs], confidence)
            yield agreement_sentence(group.label, found)


def agreement_sentence(group: str, found: Agreement) -> str:
    """What the arms allow to say about simulation as a forecast; from few arms, no more than the numbers."""
    arms = f"{found.policies} arm{'' if found.policies == 1 else 's'}"
    start = f"{group.capitalize()} conditions, {arms}:"
    if found.rank_violation is None:
        return f"{start} no correlation is computed, that takes at least {FEWEST} arms."
    if found.r is None:
        return f"{start} no correlation and no order, since one side has the same rate for every arm."
    violation = f"mean maximum rank violation {100 * found.rank_violation:.1f} points"
    r = f"Pearson r = {found.r:.2f}".replace("-", "−")
    if found.low is None:
        return f"{start} {r} (too few arms for an interval), {violation}."
    interval = f"{level(found.confidence)} interval {_bound(found.low)} to {_bound(found.high)}"
    claim = "" if found.low > 0 else "; so few arms do not show that simulation foretells the trials"
    return f"{start} {r} ({interval}), {violation}{claim}."


def _bound(r: float) -> str:
    """A bound of r; one that only rounding makes 1 keeps a third digit."""
    digits = 2 if abs(round(r, 2)) < 1 else 3
    return f"{r:.{digits}f}".replace("-", "−")


def _notes(
    evaluation: Evaluation, groups: Sequence[ConditionGroup], simulated: Reading, real: Reading
) -> Iterator[str]:
    yield "A rank violation of 0 means that simulation orders the arms as the trials do. "
    starts = evaluation.conditions.all()
    if any(condition.starts for condition in starts):
        same = sum(min(len(condition.starts), condition.rollouts) for condition in starts)
        total = sum(condition.rollouts for condition in starts)
        yield f"{same} of {total} rollouts of each arm begin as a planned trial does. "
    if any(_mixes_differ(group, simulated, real) for group in groups):
        yield "Simulated and real sides mix the conditions differently: compare condition by condition. "
    if evaluation.study and evaluation.study.is_simulated:
        yield "The trials ran on a bench cell, simulated too, but with true parameters that the world only estimates. "
    absent = [arm.name for arm in simulated.arms if not simulated.tally.trials(arm.id)]
    if absent:
        yield f"Not evaluated with the checkpoint it has now: {', '.join(absent)}. "


def _mixes_differ(group: ConditionGroup, simulated: Reading, real: Reading) -> bool:
    """Whether a condition's share of the trials differs between the sides by more than MIX_TOLERANCE."""
    singles = [ConditionGroup.of(c.label, [c]) for c in real.within(group)]
    totals = [side.count(side.arms, group).trials for side in (simulated, real)]
    if not all(totals):
        return False
    shares = [
        [side.count(side.arms, one).trials / total for one in singles]
        for side, total in zip((simulated, real), totals, strict=True)
    ]
    return any(abs(a - b) > MIX_TOLERANCE for a, b in zip(*shares, strict=True))


def _about(evaluation: Evaluation) -> str:
    world = evaluation.world
    return f"{evaluation} in {world} ({world.grounding})"
