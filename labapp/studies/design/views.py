"""The design page: a draft is edited here, a locked study shows its design and takes amendments."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.datastructures import MultiValueDict
from django.views.decorators.http import require_http_methods, require_POST

from frontend.figures import PowerCurve, power_curves
from frontend.figures.theme import THEMES
from labapp.accounts.roles import RESEARCH, role_required
from labapp.cells.models import Cell
from labapp.forms import submitted
from labapp.policies.models import Policy
from labapp.studies import amendments
from labapp.studies.arms import study_arms
from labapp.studies.design import drafts, forms, selectors, stopping_wording, wording
from labapp.studies.design.amend_forms import AmendForm, NoteForm, TimeLimitForm, TrialsForm, WithdrawForm
from labapp.studies.design.plan import AnalysisPlan
from labapp.studies.design.power import Power, Question, Report, design_power
from labapp.studies.design.services import Design, DraftConflict
from labapp.studies.design.stopping import Stopped, stopping_power
from labapp.studies.deviations import study_deviations
from labapp.studies.dispatch import study_changed
from labapp.studies.forms import PRESETS, version_in
from labapp.studies.models import Study
from labapp.studies.services import study_lock
from labapp.studies.verification import study_verify

READ_SAFELY = ("GET", "HEAD", "POST")


class DesignForms:
    """The forms of one design page, filled from the study or from what was sent."""

    def __init__(self, study: Study, data: MultiValueDict | None = None) -> None:
        if data is not None and (cell := sent_cell(data)) is not None:
            study.cell = cell  # as the forms have it; nothing is saved here
        self.study, self.arms = study, study_arms(study, with_names=True)
        plan = selectors.study_plan(study)
        self.comparisons = selectors.comparison_labels(self.arms)
        self.design = forms.DesignForm(study, data, initial=forms.design_initial(study))
        self.conditions = forms.ConditionFormSet(data, initial=forms.conditions_initial(study), prefix="conditions")
        self.rates = forms.RatesForm(self.arms, selectors.assumed_rates(self.arms, plan), data)
        self.plan = forms.PlanForm(self.comparisons, data, initial=forms.plan_initial(plan))
        self.margins = forms.MarginFormSet(
            data, initial=forms.margins_initial(plan), prefix="margins", form_kwargs={"arms": self.arms}
        )

    def are_valid(self) -> bool:
        """Whether all are; each is looked at, so that every error shows at once."""
        every = (self.design, self.conditions, self.rates, self.plan, self.margins)
        return sum(form.is_valid() for form in every) == len(every)

    def design_values(self) -> Design:
        """Raises ValidationError, keyed by field, where the plan contradicts itself."""
        values = self.design.cleaned_data
        presets = [preset for row in self.conditions.forms if (preset := row.preset()) is not None]
        plan = forms.plan_of(self.plan, self.margins, self.rates)
        return Design(conditions=presets, plan=plan, **{name: v for name, v in values.items() if name != "version"})

    def question(self) -> tuple[Question, AnalysisPlan]:
        """What the power of the forms is asked of, saved or not."""
        plan = forms.plan_of(self.plan, self.margins, self.rates)
        presets = [preset for row in self.conditions.forms if (preset := row.preset()) is not None]
        groups = selectors.trial_groups([(preset.trials_per_arm, preset.is_shifted) for preset in presets])
        return selectors.power_question(self.arms, groups, plan, plan.assumed_rates), plan


@require_http_methods(READ_SAFELY)
@role_required(*RESEARCH)
def design(request: HttpRequest, slug: str) -> HttpResponse:
    study = get_object_or_404(Study.objects.select_related("cell"), slug=slug)
    if study.status != Study.Status.DRAFT or study.is_imported:
        return locked_page(request, study)
    if request.method != "POST":
        return draft_page(request, DesignForms(study))
    if request.POST.get("then") == "cell":
        data, left_out = fitted(study, request.POST)
        return draft_page(request, DesignForms(study, data), left_out=left_out, is_other_cell=True)
    sent = DesignForms(study, request.POST)
    try:
        if (seen := seen_version(request.POST)) != study.draft_version:
            raise DraftConflict(study)
        if not sent.are_valid() or not saved(request, sent, seen):
            return draft_page(request, sent, status=422)
    except DraftConflict as conflict:
        return draft_page(request, sent, status=409, conflict=conflict, theirs=their_changes(request.POST, study))
    return lock_too(request, study) if request.POST.get("then") == "lock" else redirect("studies:design", study.slug)


def sent_cell(data: MultiValueDict) -> Cell | None:
    key = data.get("cell", "")
    return Cell.objects.filter(pk=key).first() if key.isdecimal() else None


def seen_version(data: MultiValueDict) -> int | None:
    """The version that the person changed; "over" names the newest one, which they replace knowingly."""
    return version_in(data.get("over") or data.get("version", ""))


def their_changes(data: MultiValueDict, study: Study) -> list[tuple[str, str, str]]:
    """What others saved since the version that the person saw."""
    kept = {row.version: row.design for row in study.draft_versions.all()}
    before, now = kept.get(seen_version(data)), kept.get(study.draft_version)
    return list(drafts.changes(before, now)) if before and now else []


def fitted(study: Study, data: MultiValueDict) -> tuple[MultiValueDict, list[str]]:
    """The fields for another cell: without the policies and objects that are not of it, which are named."""
    cell, data = sent_cell(data) or study.cell, data.copy()
    there = {row.name: row for row in cell.cell_objects.all()}
    chosen = Policy.objects.filter(pk__in=[key for key in data.getlist("policies") if key.isdecimal()])
    fitting = [p for p in chosen if p.embodiment in ("", cell.embodiment)]
    objects = [name for name in data.getlist("object_names") if name in there]
    left_out = [p.name for p in chosen if p not in fitting]
    left_out += [name for name in data.getlist("object_names") if name not in there]
    data.setlist("policies", [str(p.pk) for p in fitting])
    data.setlist("object_names", objects or list(there))
    return data, left_out


def saved(request: HttpRequest, sent: DesignForms, version: int) -> bool:
    """Whether the service took the design; what it refuses stands at the fields."""

    def save(_: dict[str, Any]) -> Study:
        values = sent.design_values()
        if (name := request.POST.get("preset")) in PRESETS:
            values = replace(values, conditions=PRESETS[name])
        common = {"actor": request.user, "now": timezone.now(), "version": version}
        return drafts.draft_save(study=sent.study, design=values, **common)

    if submitted(sent.design, save) is None:
        return False
    messages.success(request, "The draft is saved.")
    return True


def lock_too(request: HttpRequest, study: Study) -> HttpResponse:
    try:
        study_lock(study=study, actor=request.user, now=timezone.now())
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
        return redirect("studies:design", study.slug)
    messages.success(request, "The design is locked; operators can begin.")
    study_changed(study)
    return redirect(study)


def draft_page(request: HttpRequest, sent: DesignForms, status: int = 200, **also: Any) -> HttpResponse:
    study = sent.study
    context = {
        "study": study,
        "forms": sent,
        "rate_rows": list(zip(sent.arms, sent.rates, strict=True)),
        "problems": selectors.design_problems(study),
        "blocking": selectors.blocking_facts(study, list(study.conditions.all())),
        "has_effects": "main_a" in sent.comparisons,
        "is_wrong": status == 422,
        "history": drafts.history(study),
        **also,
    }
    return render(request, "studies/design/draft.html", context, status=status)


def locked_page(request: HttpRequest, study: Study, failed: AmendForm | None = None, status: int = 200) -> HttpResponse:
    arms = study_arms(study, with_names=True)
    context = {
        "study": study,
        "plan_facts": selectors.plan_in_words(study, arms),
        "blocking": selectors.blocking_facts(study, list(study.conditions.all())),
        "deviations": study_deviations(study),
        "verification": study_verify(study),
        "amendments": [] if study.is_imported else amendment_forms(study, failed),
    }
    return render(request, "studies/design/locked.html", context, status=status)


@dataclass(frozen=True)
class Amendment:
    """One kind of amendment: its name in the address, its title, its form, its service."""

    kind: str
    title: str
    hint: str
    form: type[AmendForm]


AMENDMENTS = (
    Amendment("trials", "Add trials", "New blocks, drawn from a new seed, follow the planned ones.", TrialsForm),
    Amendment("time-limit", "Change the time limit", "Holds for the trials from now on.", TimeLimitForm),
    Amendment("withdraw", "Withdraw an arm", "Its trials stay, its open slots are skipped.", WithdrawForm),
    Amendment("note", "Note a deviation", "Something went otherwise than planned; nothing changes.", NoteForm),
)


def amendment_forms(study: Study, failed: AmendForm | None) -> list[tuple[Amendment, AmendForm]]:
    offered = AMENDMENTS if study.status == Study.Status.LOCKED else AMENDMENTS[-1:]
    return [(a, failed if type(failed) is a.form else a.form(study, prefix=a.kind)) for a in offered]


@require_POST
@role_required(*RESEARCH)
def amend(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    study = get_object_or_404(Study.objects.select_related("cell"), slug=slug)
    amendment = next(a for a in AMENDMENTS if a.kind == kind)
    form = amendment.form(study, request.POST, prefix=kind)
    if submitted(form, lambda values: apply_amendment(request, study, form, values)) is None:
        return locked_page(request, study, failed=form, status=422)
    messages.success(request, "Put on record; every report lists it as a deviation.")
    study_changed(study)
    return redirect("studies:design", study.slug)


def apply_amendment(request: HttpRequest, study: Study, form: AmendForm, values: dict[str, Any]) -> Any:
    common = {"study": study, "reason": values["reason"], "actor": request.user, "now": timezone.now()}
    if isinstance(form, TrialsForm):
        return amendments.trials_add(extra=form.extra(), **common)
    if isinstance(form, TimeLimitForm):
        return amendments.time_limit_amend(time_limit_s=values["time_limit_s"], **common)
    if isinstance(form, WithdrawForm):
        return amendments.arm_amend_withdrawn(arm=values["arm"], **common)
    return amendments.deviation_note(**common)


@require_http_methods(READ_SAFELY)
@role_required(*RESEARCH)
def power(request: HttpRequest, slug: str) -> HttpResponse:
    """The power of the design as its forms stand (POST, saved or not) or as it is stored (GET)."""
    study = get_object_or_404(Study.objects.select_related("cell"), slug=slug)
    if request.method != "POST":
        return power_panel(request, selectors.study_question(study), selectors.study_plan(study))
    sent = DesignForms(study, request.POST)
    if not sent.are_valid():
        return render(request, "studies/design/_power.html", {"is_wrong": True})
    try:
        return power_panel(request, *sent.question())
    except ValidationError as error:
        return render(request, "studies/design/_power.html", {"is_wrong": True, "errors": error.messages})


def power_panel(request: HttpRequest, question: Question, plan: AnalysisPlan) -> HttpResponse:
    report, stopped = design_power(question), stopping_power(question, plan)
    context = {
        "question": question,
        "report": report,
        "are_pairs_open": not report.effects or any(row.is_primary for row in report.pairs),
        "sentences": [wording.power_sentence(row, question.trials) for row in told(report)],
        "claims": [wording.claim_sentence(claim) for claim in report.claims],
        "stopping": stopping_wording.stopping_sentence(plan, question.trials),
        "cautions": wording.cautions(report),
        "pairs_note": wording.pairs_note(plan),
        "figures": power_figures(question, report, stopped),
        "plan": plan,
        "rule": stopping_wording.rule_words(plan),
        "stopped": stopped,
        "stopped_sentences": stopping_wording.stopped_sentences(stopped, plan, question.trials),
        "family_caution": stopping_wording.family_caution(stopped, plan),
    }
    return render(request, "studies/design/_power.html", context)


def told(report: Report) -> list[Power]:
    """Comparisons told in sentences: the effects and whatever is primary; the table has the others."""
    return [row for row in (*report.effects, *report.pairs) if row in report.effects or row.is_primary]


def power_figures(question: Question, report: Report, stopped: Sequence[Stopped]) -> dict[str, dict[str, Any]]:
    """The figures in both themes, as the page's script draws them."""
    fixed = {row.key: row.curve for row in (*report.effects, *report.pairs)}
    drawn = {
        "effects": [PowerCurve(row.label, row.curve) for row in report.effects],
        "pairs": [PowerCurve(row.label, row.curve) for row in report.pairs],
        "stopping": [PowerCurve(row.label, row.curve, fixed.get(row.key, ())) for row in stopped],
    }
    return {
        name: {
            theme: power_curves(curves, planned=question.trials, theme_name=theme).to_plotly_json() for theme in THEMES
        }
        for name, curves in drawn.items()
        if curves
    }
