"""Addresses of the live view and of the agents."""

from django.urls import path, re_path

from labapp.live import api, consumers, views

app_name = "live"
urlpatterns = [
    path("live/", views.live, name="index"),
    path("live/<slug:slug>/", views.live, name="cell"),
]

_TRIAL = "agent/trials/<uuid:trial_id>"
api_urlpatterns = [
    path("agent/checkpoints/<str:sha256>/", api.CheckpointView.as_view(), name="agent-checkpoint"),
    path("agent/checkpoints/<str:sha256>/<str:name>", api.CheckpointFileView.as_view(), name="agent-checkpoint-file"),
    path(f"{_TRIAL}/report/", api.TrialReportView.as_view(), name="agent-report"),
    path(f"{_TRIAL}/episode/", api.TrialEpisodeView.as_view(), name="agent-episode"),
    path(f"{_TRIAL}/episode/<path:path>", api.TrialEpisodeFileView.as_view(), name="agent-episode-file"),
]

websocket_urlpatterns = [
    path("ws/agent/", consumers.AgentConsumer.as_asgi()),
    re_path(r"^ws/live/(?P<cell>[-\w]+)/$", consumers.ViewerConsumer.as_asgi()),
]
