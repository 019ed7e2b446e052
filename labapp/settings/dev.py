"""One machine: embedded services, secrets drawn once and kept under ``var/``."""

from labapp.services.state import keep_secret
from labapp.settings import env
from labapp.settings.base import *  # noqa: F403 - a settings module extends another one
from labapp.settings.base import VAR_DIR

DEBUG = env.flag("DEBUG", False)
SECRET_KEY = env.secret("SECRET_KEY", keep_secret(VAR_DIR, "secret_key"))
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", ["127.0.0.1", "localhost", "[::1]"])
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = env.flag("WHITENOISE_AUTOREFRESH", DEBUG)
SECURE_SSL_REDIRECT = False
