"""The Celery application. It only carries ids of runs; everything else is in the database."""

import os

from celery import Celery
from django.conf import settings
from kombu.exceptions import OperationalError
from redis import RedisError

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "labapp.settings.dev")

app = Celery("labapp")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

QUEUES = ("default", "generation", "training", "analysis")


class BrokerSilent(RuntimeError):
    """The broker did not take a message within ``REDIS_WAIT_SECONDS``; it may have it all the same."""


def send(task: str, argument: int, *, queue: str) -> None:
    """Hand a task to the broker, tried once, over a connection of its own: the workers' wait without a limit.

    Raises:
        BrokerSilent: it is away, or does not answer.
    """
    wait_s = settings.REDIS_WAIT_SECONDS
    limits = {"socket_timeout": wait_s, "socket_connect_timeout": wait_s, "max_retries": 0}
    try:
        with app.connection_for_write(transport_options=limits) as connection:
            app.send_task(task, args=[argument], queue=queue, connection=connection, retry=False)
    except (OperationalError, RedisError, OSError) as error:
        raise BrokerSilent(str(error)) from error
