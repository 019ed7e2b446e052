"""Addresses of a study's design; included by the studies' own."""

from django.urls import path, re_path

from labapp.studies.design import api, views

urlpatterns = [
    path("studies/<slug:slug>/design/", views.design, name="design"),
    path("studies/<slug:slug>/design/power/", views.power, name="power"),
    re_path(r"^studies/(?P<slug>[-\w]+)/amend/(?P<kind>trials|time-limit|withdraw|note)/$", views.amend, name="amend"),
]

api_urlpatterns = [
    path("studies/<slug:slug>/plan/", api.StudyPlan.as_view(), name="study-plan"),
    path("studies/<slug:slug>/amendments/", api.StudyAmendments.as_view(), name="study-amendments"),
]
