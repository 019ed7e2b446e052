from django.urls import include, path
from rest_framework.routers import SimpleRouter

from labapp.datasets import api, views

app_name = "datasets"
urlpatterns = [
    path("datasets/", views.dataset_list, name="list"),
    path("datasets/new/", views.dataset_new, name="new"),
    path("datasets/<slug:name>/", views.dataset, name="dataset"),
    path("datasets/<slug:name>/remove/", views.remove, name="remove"),
    path("datasets/<slug:name>/<int:index>/", views.trajectory, name="trajectory"),
    path("datasets/<slug:name>/<int:index>/plots/", views.plots, name="plots"),
    path("configurations/", views.configuration_list, name="configurations"),
    path("configurations/<int:pk>/", views.configuration, name="configuration"),
]

router = SimpleRouter()
router.register("datasets", api.SimulatedDatasetViewSet, basename="dataset")
router.register("configurations", api.GroundingConfigurationViewSet, basename="configuration")
api_urlpatterns = [path("", include(router.urls))]
