from django.apps import AppConfig


class StudiesConfig(AppConfig):
    name = "labapp.studies"
    verbose_name = "Studies"
