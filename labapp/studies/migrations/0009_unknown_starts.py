"""An imported trial may not tell when it began; until now the moment of its import stood there."""

from django.db import migrations, models
from django.db.models import Q

FORGET = """
UPDATE studies_trial AS trial SET started_at = NULL FROM studies_study AS study
WHERE study.id = trial.study_id AND study.is_imported AND trial.slot_id IS NULL AND trial.started_at = study.locked_at
"""
RESTORE = """
UPDATE studies_trial AS trial SET started_at = study.locked_at FROM studies_study AS study
WHERE study.id = trial.study_id AND trial.started_at IS NULL
"""


class Migration(migrations.Migration):
    dependencies = [("studies", "0008_revisions_in_time")]

    operations = [
        migrations.AlterField(
            model_name="trial",
            name="started_at",
            field=models.DateTimeField(
                blank=True, help_text="Empty for an imported trial that does not tell.", null=True
            ),
        ),
        migrations.RunSQL(FORGET, RESTORE),
        migrations.AddConstraint(
            model_name="trial",
            constraint=models.CheckConstraint(
                condition=Q(started_at__isnull=False) | Q(slot__isnull=True), name="trial_run_here_has_start"
            ),
        ),
    ]
