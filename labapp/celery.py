"""The Celery application. It only carries ids of runs; everything else is in the database."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "labapp.settings.dev")

app = Celery("labapp")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

QUEUES = ("default", "generation", "training", "analysis")
