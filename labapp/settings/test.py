"""The test suite: the scratch services of tests/conftest.py, fast hashes, short leases."""

from labapp.settings import env
from labapp.settings.base import *  # noqa: F403 - a settings module extends another one

SECRET_KEY = "only-for-tests-" + "x" * 40
ALLOWED_HOSTS = ["testserver", "127.0.0.1", "localhost"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
REDIS_WAIT_SECONDS = env.number("REDIS_WAIT_SECONDS", 30.0)
RUN_LEASE_SECONDS = env.number("RUN_LEASE_SECONDS", 2.0)
RUN_STOP_GRACE_SECONDS = env.number("RUN_STOP_GRACE_SECONDS", 3.0)
