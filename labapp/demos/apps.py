from django.apps import AppConfig


class DemosConfig(AppConfig):
    name = "labapp.demos"
    verbose_name = "Demonstrations"
