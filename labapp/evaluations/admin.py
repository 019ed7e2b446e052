from django.contrib import admin

from labapp.cells.admin import ReadOnlyAdmin
from labapp.evaluations.models import EvaluatedCondition, EvaluatedPolicy, Evaluation, RolloutFolder

admin.site.register([EvaluatedPolicy, EvaluatedCondition, RolloutFolder], ReadOnlyAdmin)


@admin.register(Evaluation)
class EvaluationAdmin(ReadOnlyAdmin):
    list_display = ("study", "world", "seed", "created_at", "ready_at")
