"""The study at the end of the chain: created, locked, operated automatically, finished and unblinded."""

from collections.abc import Callable

from django.utils import timezone

from labapp.accounts.models import Role, User
from labapp.evaluations.params import EvaluateOptions
from labapp.evaluations.services import study_evaluate
from labapp.policies.models import Policy
from labapp.reproduction.chain import Chain
from labapp.reproduction.jobs import Job
from labapp.runs.models import Run
from labapp.studies.automatic import Tally, auto_operate
from labapp.studies.design.plan import EFFECTS, AnalysisPlan
from labapp.studies.design.services import plan_update
from labapp.studies.models import Study
from labapp.studies.selectors import slots_open
from labapp.studies.services import study_create, study_finish, study_lock, study_unblind

QUESTION = "What do world grounding and behavior grounding each add to co-training, nominally and under shift?"
PLAN = AnalysisPlan(primary=EFFECTS, adjustment="holm")


def automation_user() -> User:
    """Whoever acts where no person does; it cannot sign in."""
    user, is_new = User.objects.get_or_create(username="automation", defaults={"role": Role.PI, "is_active": False})
    if is_new:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    return user


def study_ensure(chain: Chain) -> Study:
    """The locked study over the chain's policies."""
    name = f"{chain.preset.name.capitalize()} study"
    study = Study.objects.filter(name=name).first()
    if study is None:
        policies = Policy.objects.in_bulk(chain.policy_names(), field_name="name")
        checkpoints = [policies[policy].final_checkpoint for policy in chain.policy_names()]
        study = study_create(
            name=name,
            cell=chain.cell,
            checkpoints=checkpoints,
            actor=chain.actor,
            seed=chain.preset.seed,
            question=QUESTION,
        )
        study = plan_update(study=study, plan=PLAN)
    if study.status == Study.Status.DRAFT:
        study = study_lock(study=study, actor=chain.actor, now=timezone.now())
    return study


def evaluation_job(chain: Chain, study: Study) -> Job:
    """The arms rolled out in the measured world, from the very starts of the trials that were run."""
    options = EvaluateOptions(amount="run", seed=chain.preset.seed)

    def find_run() -> Run | None:
        newest = study.evaluations.select_related("run").first()
        return newest.run if newest else None

    return Job(
        title="policies in simulation",
        find_run=find_run,
        is_ready=lambda: study.evaluations.filter(ready_at__isnull=False).exists(),
        launch=lambda: study_evaluate(actor=chain.actor, study=study, world=chain.world("grounded"), options=options),
    )


def slots_planned(study: Study, blocks: int | None) -> int:
    """Open slots of the part that this preset runs: whole blocks from the start, so that it is balanced."""
    slots = slots_open(study)
    return slots.count() if blocks is None else slots.filter(block__lte=blocks).count()


def study_operate(chain: Chain, study: Study, report: Callable[[Tally], None]) -> Study:
    """Run the trials with the auto-operator, then finish and unblind, each with its reason on record."""
    if study.status == Study.Status.LOCKED:
        planned = slots_planned(study, chain.preset.blocks)
        auto_operate(study, slots=planned, actor=chain.actor, on_progress=report)
        reason = f"The {chain.preset.name} preset runs the first {chain.preset.blocks} blocks of the schedule"
        study = study_finish(study=study, actor=chain.actor, reason=reason, now=timezone.now())
    return study_unblind(study=study, actor=chain.actor, reason="", now=timezone.now())
