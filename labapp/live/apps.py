from django.apps import AppConfig


class LiveConfig(AppConfig):
    name = "labapp.live"
    verbose_name = "Live view"
