"""What a study tells the agent that runs its trials, and the consoles that watch them."""

from django.urls import reverse

from labapp.cells.agents import send_to_agent, tell_viewers
from labapp.policies.models import Checkpoint
from labapp.studies.models import Study, Trial
from labapp.studies.selectors import slots_open
from robots.agent.protocol import CheckpointRef, TrialCancel, TrialPrepare, TrialStart
from robots.cell.initial import instruction


def start_message(trial: Trial) -> TrialStart:
    """What the agent needs to run a trial; the policy is only a hash."""
    slot = trial.slot
    return TrialStart(
        trial=str(trial.pk),
        code=trial.arm.code,
        checkpoint=checkpoint_ref(trial.arm.checkpoint),
        condition=trial.condition.slug,
        object=slot.object.name,
        belt_speed=slot.belt_speed,
        bin=slot.bin,
        light=trial.condition.light,
        instruction=instruction(slot.object.name, slot.bin),
        seed=slot.seed,
        time_limit_s=trial.study.time_limit_s,
    )


def checkpoint_ref(checkpoint: Checkpoint) -> CheckpointRef:
    return CheckpointRef(sha256=checkpoint.sha256, url=reverse("api:agent-checkpoint", args=[checkpoint.sha256]))


def trial_dispatch(trial: Trial) -> None:
    """Send a started trial to its agent, and tell it which checkpoint comes after."""
    if trial.agent_id is None:
        return
    send_to_agent(trial.agent_id, start_message(trial))
    if (following := next_checkpoint(trial.study, after=trial)) is not None:
        send_to_agent(trial.agent_id, TrialPrepare(checkpoint_ref(following)))
    study_changed(trial.study)


def next_checkpoint(study: Study, after: Trial) -> Checkpoint | None:
    slot = slots_open(study).exclude(pk=after.slot_id).select_related("arm__checkpoint").first()
    return slot.arm.checkpoint if slot is not None else None


def trial_recall(trial: Trial, reason: str) -> None:
    """Ask the agent to end a trial that is not wanted any more."""
    if trial.agent_id is not None:
        send_to_agent(trial.agent_id, TrialCancel(trial=str(trial.pk), reason=reason))


def study_changed(study: Study) -> None:
    """Consoles of this study fetch their state again."""
    if study.cell is not None:
        tell_viewers(study.cell.slug, {"type": "changed", "study": study.slug})
