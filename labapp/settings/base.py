"""Settings shared by development, tests and production."""

import logging
from importlib.util import find_spec
from pathlib import Path

from labapp.settings import env
from labapp.settings.backends import addresses, backend_settings

BASE_DIR = Path(__file__).resolve().parents[2]
VAR_DIR = Path(env.text("GROUNDLAB_VAR", str(BASE_DIR / "var")))
RUNS_DIR = VAR_DIR / "runs"

DEBUG = False
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", [])
CSRF_TRUSTED_ORIGINS = env.words("CSRF_TRUSTED_ORIGINS", [])

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "channels",
    "rest_framework",
    "drf_spectacular",
    "django_filters",
    "django_htmx",
    "labapp.accounts",
    "labapp.media",
    "labapp.runs",
    "labapp.cells",
    "labapp.demos",
    "labapp.datasets",
    "labapp.policies",
    "labapp.studies",
    "labapp.evaluations",
    "labapp.live",
    "labapp.home",
    "labapp.reproduction",
    "labapp.services",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "labapp.errors.ValuesThatCannotBeStored",
]

ROOT_URLCONF = "labapp.urls"
ASGI_APPLICATION = "labapp.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "frontend" / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "labapp.accounts.context.roles",
            ]
        },
    }
]
FORM_RENDERER = "django.forms.renderers.TemplatesSetting"
INSTALLED_APPS.insert(0, "django.forms")

globals().update(backend_settings(addresses(VAR_DIR), env.text("REDIS_PREFIX", "groundlab")))
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "accounts.User"
LOGIN_URL = "accounts:login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "accounts:login"
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.ScryptPasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

LANGUAGE_CODE = "en-us"
TIME_ZONE = env.text("TIME_ZONE", "UTC")
USE_I18N = False
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = VAR_DIR / "static"
PLOTLY_DIR = Path(find_spec("plotly").origin).parent / "package_data"
STATICFILES_DIRS = [BASE_DIR / "frontend" / "static", ("plotly", PLOTLY_DIR)]

CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False

REDIS_WAIT_SECONDS = env.number("REDIS_WAIT_SECONDS", 1.0)  # of whoever publishes or queues something

RUN_LEASE_SECONDS = env.number("RUN_LEASE_SECONDS", 20.0)
RUN_STOP_GRACE_SECONDS = env.number("RUN_STOP_GRACE_SECONDS", 10.0)

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "labapp.accounts.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.LimitOffsetPagination",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "PAGE_SIZE": 50,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Groundlab API",
    "DESCRIPTION": "The loop over REST: demonstrations, datasets, policies, studies, trials and runs.",
    "VERSION": "1.0",
    "SERVE_INCLUDE_SCHEMA": False,
}


def has_a_name(record: logging.LogRecord) -> bool:
    """Not the remarks of libraries that log to nobody's name, as scipy's optimisers do."""
    return record.name != "root" or record.levelno >= logging.WARNING


LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {
        "named": {"()": "django.utils.log.CallbackFilter", "callback": has_a_name},
        "away": {"()": "labapp.errors.AwayInOneLine"},
    },
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["named"]}},
    "root": {"handlers": ["console"], "level": "INFO"},
    "loggers": {
        "django": {"handlers": ["console"], "level": "INFO", "propagate": False},
        "django.request": {"filters": ["away"]},
    },
}
