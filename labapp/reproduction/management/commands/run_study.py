"""``manage.py run_study --preset quick|full``: the whole loop as runs, its table, the same in simulation. Resumable."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.urls import reverse

from frontend.dashboards.filters import Filters
from labapp.reproduction.chain import Chain
from labapp.reproduction.jobs import Job, JobFailed, carry_out
from labapp.reproduction.presets import PRESETS
from labapp.reproduction.study import automation_user, evaluation_job, study_ensure, study_operate
from labapp.reproduction.table import format_table
from labapp.results.queries import study_content
from labapp.studies.automatic import AutoOperatorError, Tally
from labapp.studies.models import Study


class Command(BaseCommand):
    help = "Reproduce the study on the bench cell: demonstrations, worlds, datasets, policies, blinded trials, table."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--preset", choices=sorted(PRESETS), default="quick")

    def handle(self, *args: Any, **options: Any) -> None:
        began = time.monotonic()
        chain = Chain(PRESETS[options["preset"]], automation_user())
        try:
            carry_out(chain.jobs, self._reporter(began))
        except JobFailed as error:
            raise CommandError(f"{error}\nSee it under Runs; start the same command again to go on.") from error
        study = study_ensure(chain)
        try:
            study = study_operate(chain, study, self._trial_reporter(began))
        except AutoOperatorError as error:
            raise CommandError(f"{error}\nStart the same command again to go on.") from error
        self.stdout.write("\n" + format_table(study_content(study, chain.actor, Filters())) + "\n")
        self.stdout.write(f"{study}: {study.get_absolute_url()} ({(time.monotonic() - began) / 60:.1f} minutes)")
        self._evaluate(chain, study, began)

    def _evaluate(self, chain: Chain, study: Study, began: float) -> None:
        """Simulated beside real, after the table: the trials' result does not wait for it."""
        self.stdout.write("Now the same starts in simulation; the table above stands.")
        try:
            carry_out([evaluation_job(chain, study)], self._reporter(began))
        except JobFailed as error:
            raise CommandError(f"{error}\nSee it under Runs; start the same command again to go on.") from error
        card = study_content(study, chain.actor, Filters()).simulated
        if card and card.sentences:
            self.stdout.write("\n".join(card.sentences))
        self.stdout.write(f"Simulated beside real: {reverse('results:study', args=[study.slug])}")

    def _reporter(self, began: float) -> Callable[[Sequence[Job]], None]:
        told: dict[str, str] = {}

        def report(jobs: Sequence[Job]) -> None:
            for job in jobs:
                tenths = int(10 * job.progress())
                if told.get(job.title) != (state := "done" if job.is_done else f"{10 * tenths}%"):
                    told[job.title] = state
                    if job.is_done or tenths:
                        self._say(began, f"{job.title}: {state}")

        return report

    def _trial_reporter(self, began: float) -> Callable[[Tally], None]:
        def report(tally: Tally) -> None:
            if tally.confirmed % 10 == 0 or tally.confirmed == tally.wanted:
                self._say(began, f"blinded trials: {tally.confirmed} of {tally.wanted}, {tally.invalid} invalid")

        return report

    def _say(self, began: float, text: str) -> None:
        minutes, seconds = divmod(int(time.monotonic() - began), 60)
        self.stdout.write(f"[{minutes:02d}:{seconds:02d}] {text}")
        self.stdout.flush()
