from django.apps import AppConfig


class EvaluationsConfig(AppConfig):
    name = "labapp.evaluations"
    verbose_name = "Evaluations in simulation"
