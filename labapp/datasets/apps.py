from django.apps import AppConfig


class DatasetsConfig(AppConfig):
    name = "labapp.datasets"
    verbose_name = "Simulated datasets"
