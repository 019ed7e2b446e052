"""At most one open session a study: of those open now, all but the newest end."""

from django.db import migrations, models

END_OLDER = """
UPDATE studies_operatorsession AS older SET ended_at = GREATEST(older.started_at, now())
WHERE older.ended_at IS NULL AND EXISTS (
    SELECT 1 FROM studies_operatorsession AS newer
    WHERE newer.study_id = older.study_id AND newer.ended_at IS NULL
      AND (newer.started_at, newer.id) > (older.started_at, older.id)
);
"""


class Migration(migrations.Migration):
    dependencies = [
        ("studies", "0004_trial_browser"),
    ]

    operations = [
        migrations.RunSQL(END_OLDER, migrations.RunSQL.noop),
        migrations.AddConstraint(
            model_name="operatorsession",
            constraint=models.UniqueConstraint(
                condition=models.Q(("ended_at", None)), fields=("study",), name="one_open_session_per_study"
            ),
        ),
    ]
