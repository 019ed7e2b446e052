from django.apps import AppConfig


class HomeConfig(AppConfig):
    name = "labapp.home"
    verbose_name = "Home"
