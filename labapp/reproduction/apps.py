from django.apps import AppConfig


class ReproductionConfig(AppConfig):
    name = "labapp.reproduction"
    verbose_name = "Reproduction of the paper's study"
