"""A locked design changes only within an amendment: the database itself refuses the rest.

An amendment says so with ``set_config('groundlab.amendment', 'on', true)`` in its transaction. Imported studies have no
design of ours to protect.
"""

from django.db import migrations, models

GUARD = """
CREATE FUNCTION studies_guard_study() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.status <> 'draft' AND NOT OLD.is_imported
       AND current_setting('groundlab.amendment', true) IS DISTINCT FROM 'on'
       AND (NEW.status = 'draft'
            OR (OLD.cell_id, OLD.seed, OLD.time_limit_s, OLD.analysis_plan, OLD.object_names, OLD.design_sha256)
               IS DISTINCT FROM
               (NEW.cell_id, NEW.seed, NEW.time_limit_s, NEW.analysis_plan, NEW.object_names, NEW.design_sha256))
    THEN
        RAISE EXCEPTION 'The design of study % is locked: change it by an amendment with a reason.', OLD.slug
            USING ERRCODE = 'check_violation', CONSTRAINT = 'study_design_locked';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION studies_guard_part() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    locked_slug text;
BEGIN
    SELECT slug INTO locked_slug FROM studies_study
    WHERE id = OLD.study_id AND status <> 'draft' AND NOT is_imported
      AND current_setting('groundlab.amendment', true) IS DISTINCT FROM 'on';
    IF locked_slug IS NOT NULL THEN
        RAISE EXCEPTION 'The design of study % is locked: change it by an amendment with a reason.', locked_slug
            USING ERRCODE = 'check_violation', CONSTRAINT = 'study_design_locked';
    END IF;
    IF TG_OP = 'DELETE' THEN
        RETURN OLD;
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER guard_study BEFORE UPDATE ON studies_study
    FOR EACH ROW EXECUTE FUNCTION studies_guard_study();
CREATE TRIGGER guard_condition BEFORE UPDATE OR DELETE ON studies_condition
    FOR EACH ROW EXECUTE FUNCTION studies_guard_part();
CREATE TRIGGER guard_slot BEFORE UPDATE OR DELETE ON studies_trialslot
    FOR EACH ROW EXECUTE FUNCTION studies_guard_part();
CREATE TRIGGER guard_arm BEFORE UPDATE ON studies_policyarm
    FOR EACH ROW WHEN ((OLD.code, OLD.policy_id, OLD.checkpoint_id, OLD.label, OLD.factors, OLD.study_id)
        IS DISTINCT FROM (NEW.code, NEW.policy_id, NEW.checkpoint_id, NEW.label, NEW.factors, NEW.study_id))
    EXECUTE FUNCTION studies_guard_part();
CREATE TRIGGER guard_arm_deletion BEFORE DELETE ON studies_policyarm
    FOR EACH ROW EXECUTE FUNCTION studies_guard_part();
"""
UNGUARD = """
DROP TRIGGER guard_arm_deletion ON studies_policyarm;
DROP TRIGGER guard_arm ON studies_policyarm;
DROP TRIGGER guard_slot ON studies_trialslot;
DROP TRIGGER guard_condition ON studies_condition;
DROP TRIGGER guard_study ON studies_study;
DROP FUNCTION studies_guard_part();
DROP FUNCTION studies_guard_study();
"""


class Migration(migrations.Migration):
    dependencies = [("studies", "0002_longer_failure_modes")]

    operations = [
        migrations.AddField(
            model_name="study",
            name="object_names",
            field=models.JSONField(
                blank=True, default=list, help_text="Objects of the cell that take part; empty = all of them."
            ),
        ),
        migrations.RunSQL(GUARD, UNGUARD),
    ]
