from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class RunsConfig(AppConfig):
    name = "labapp.runs"

    def ready(self) -> None:
        """Each app's ``kinds`` module registers the kinds of run that it knows."""
        autodiscover_modules("kinds")
