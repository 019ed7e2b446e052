from django.apps import AppConfig


class ServicesConfig(AppConfig):
    name = "labapp.services"
    verbose_name = "Embedded services and supervisor"
