"""The test settings with an empty view beside the lab's."""

from labapp.settings.test import *  # noqa: F403 - a settings module extends another one

ROOT_URLCONF = "tests.benchmarks.empty_view"
