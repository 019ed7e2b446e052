from django.apps import AppConfig


class CellsConfig(AppConfig):
    name = "labapp.cells"
    verbose_name = "Cells and worlds"
