"""Addresses of importing; included by the studies' own, before those of a study."""

from django.urls import path

from labapp.studies.importing import api, views

urlpatterns = [
    path("studies/import/", views.upload, name="import"),
    path("studies/import/<slug:key>/", views.mapping, name="import_mapping"),
    path("studies/import/<slug:key>/progress/", views.progress, name="import_progress"),
    path("studies/<slug:slug>/undo-import/", views.undo, name="import_undo"),
]
api_urlpatterns = [path("studies/import/", api.StudyImport.as_view(), name="study-import")]
