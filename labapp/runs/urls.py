from django.urls import include, path
from rest_framework.routers import SimpleRouter

from labapp.runs import views
from labapp.runs.api import RunViewSet
from labapp.runs.consumers import AllRunsConsumer, RunConsumer

app_name = "runs"
urlpatterns = [
    path("runs/", views.run_list, name="list"),
    path("runs/<int:pk>/", views.run_detail, name="run"),
    path("runs/<int:pk>/cancel/", views.cancel, name="cancel"),
    path("runs/<int:pk>/retry/", views.retry, name="retry"),
]

router = SimpleRouter()
router.register("runs", RunViewSet, basename="run")
api_urlpatterns = [path("", include(router.urls))]

websocket_urlpatterns = [
    path("ws/runs/", AllRunsConsumer.as_asgi()),
    path("ws/runs/<int:run_id>/", RunConsumer.as_asgi()),
]
