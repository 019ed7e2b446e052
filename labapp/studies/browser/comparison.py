"""Two trials side by side: which to offer, which views they share, where they can be aligned."""

from typing import Any

from labapp.studies.browser.timeline import shared_events, trial_events
from labapp.studies.models import Study, Trial

MOST_OTHERS = 100
ROWS = ("study", "slot__object", "arm", "condition")


def partners(study: Study, a: Trial) -> list[tuple[str, list[Trial]]]:
    """Trials to compare with, in groups: those that began from the same state first."""
    others = study.trials.exclude(pk=a.pk).select_related(*ROWS).order_by("-started_at", "-pk")
    paired = list(others.filter(slot__seed=a.slot.seed, slot__block=a.slot.block)) if a.slot else []
    rest = list(others.exclude(pk__in=[trial.pk for trial in paired])[:MOST_OTHERS])
    groups = [("Same block and initial state", paired), ("Newest others", rest)]
    return [(title, trials) for title, trials in groups if trials]


def comparison(a: Trial, b: Trial) -> dict[str, Any]:
    """Rows of (view, (("a", video or None), ("b", video or None))), events of both, and where both can be aligned."""
    videos = [{video.camera: video for video in trial.videos.select_related("media")} for trial in (a, b)]
    cameras = list(videos[0] | videos[1])
    events = [trial_events(trial) for trial in (a, b)]
    return {
        "rows": [
            (camera, [(side, found.get(camera)) for side, found in zip("ab", videos, strict=True)])
            for camera in cameras
        ],
        "events": dict(zip("ab", events, strict=True)),
        "shared": shared_events(*events),
    }
