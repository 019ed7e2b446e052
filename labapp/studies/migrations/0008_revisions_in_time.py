"""When the state began that a change of a trial ended, so that the state at any moment is one join away."""

from django.db import migrations, models

# From the change before; the first one from the start of the trial, or from its import.
FILL = """
UPDATE studies_trialrevision AS revision SET before_since = span.since
FROM (
    SELECT r.id, COALESCE(
        MAX(r.created_at) OVER (PARTITION BY r.trial_id ORDER BY r.version ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
        CASE WHEN s.is_imported THEN s.locked_at END,
        t.started_at
    ) AS since
    FROM studies_trialrevision r JOIN studies_trial t ON t.id = r.trial_id JOIN studies_study s ON s.id = t.study_id
) AS span
WHERE span.id = revision.id
"""


class Migration(migrations.Migration):
    dependencies = [("studies", "0007_drafts")]

    operations = [
        migrations.AlterField(
            model_name="trialrevision", name="created_at", field=models.DateTimeField()
        ),
        migrations.AddField(
            model_name="trialrevision", name="before_since", field=models.DateTimeField(null=True)
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        migrations.AlterField(
            model_name="trialrevision", name="before_since", field=models.DateTimeField()
        ),
        migrations.AddIndex(
            model_name="trialrevision", index=models.Index(fields=["created_at"], name="revision_time")
        ),
    ]
