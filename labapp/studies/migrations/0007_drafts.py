"""Saved states of drafts; and a locked design gets no arm, condition or planned trial more, except by an amendment."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

GUARD = """
CREATE FUNCTION studies_guard_addition() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    locked_slug text;
BEGIN
    SELECT slug INTO locked_slug FROM studies_study
    WHERE id = NEW.study_id AND status <> 'draft' AND NOT is_imported
      AND current_setting('groundlab.amendment', true) IS DISTINCT FROM 'on';
    IF locked_slug IS NOT NULL THEN
        RAISE EXCEPTION 'The design of study % is locked: change it by an amendment with a reason.', locked_slug
            USING ERRCODE = 'check_violation', CONSTRAINT = 'study_design_locked';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER guard_new_condition BEFORE INSERT ON studies_condition
    FOR EACH ROW EXECUTE FUNCTION studies_guard_addition();
CREATE TRIGGER guard_new_arm BEFORE INSERT ON studies_policyarm
    FOR EACH ROW EXECUTE FUNCTION studies_guard_addition();
CREATE TRIGGER guard_new_slot BEFORE INSERT ON studies_trialslot
    FOR EACH ROW WHEN (NEW.reschedules_id IS NULL) EXECUTE FUNCTION studies_guard_addition();
"""
UNGUARD = """
DROP TRIGGER guard_new_slot ON studies_trialslot;
DROP TRIGGER guard_new_arm ON studies_policyarm;
DROP TRIGGER guard_new_condition ON studies_condition;
DROP FUNCTION studies_guard_addition();
"""
KINDS = [
    ("locked", "Locked"),
    ("imported", "Imported"),
    ("amended", "Amended"),
    ("arm_withdrawn", "arm withdrawn"),
    ("unblinded", "Unblinded"),
    ("finished", "Finished"),
]


class Migration(migrations.Migration):
    dependencies = [
        ("studies", "0006_trial_attributions"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="study",
            name="draft_version",
            field=models.PositiveIntegerField(default=1, help_text="Raised by every save; a stale one is refused."),
        ),
        migrations.AlterField(
            model_name="studyevent", name="kind", field=models.CharField(choices=KINDS, max_length=20)
        ),
        migrations.CreateModel(
            name="DraftVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField()),
                ("design", models.JSONField(help_text="The whole design, with policies by name.")),
                ("created_at", models.DateTimeField()),
                (
                    "actor",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="draft_versions", to="studies.study"
                    ),
                ),
            ],
            options={
                "ordering": ["study", "-version"],
                "constraints": [models.UniqueConstraint(fields=("study", "version"), name="draft_version_unique")],
            },
        ),
        migrations.RunSQL(GUARD, UNGUARD),
    ]
