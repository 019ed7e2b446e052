from django.apps import AppConfig


class PoliciesConfig(AppConfig):
    name = "labapp.policies"
    verbose_name = "Policies"
