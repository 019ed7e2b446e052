from django.urls import path

from labapp.cells import views

app_name = "cells"
urlpatterns = [
    path("worlds/", views.worlds, name="worlds"),
    path("worlds/new/", views.world_new, name="new"),
    path("worlds/compare/", views.compare, name="compare"),
    path("worlds/<int:pk>/", views.world, name="world"),
    path("worlds/calibrations/<int:pk>/", views.calibration, name="calibration"),
    path("worlds/cells/<slug:slug>/", views.cell, name="cell"),
]
