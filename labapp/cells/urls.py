from django.urls import include, path
from rest_framework.routers import SimpleRouter

from labapp.cells import api, views

app_name = "cells"
urlpatterns = [
    path("worlds/", views.worlds, name="worlds"),
    path("worlds/new/", views.world_new, name="new"),
    path("worlds/compare/", views.compare, name="compare"),
    path("worlds/<int:pk>/", views.world, name="world"),
    path("worlds/calibrations/<int:pk>/", views.calibration, name="calibration"),
    path("worlds/cells/<slug:slug>/", views.cell, name="cell"),
]

router = SimpleRouter()
router.register("cells", api.CellViewSet, basename="cell")
router.register("calibrations", api.CalibrationViewSet, basename="calibration")
router.register("worlds", api.WorldViewSet, basename="world")
api_urlpatterns = [path("", include(router.urls))]
