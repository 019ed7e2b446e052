"""Addresses of a study's design; included by the studies' own."""

from django.urls import path, re_path

from labapp.studies.design import api, draft_views, views

urlpatterns = [
    path("studies/<slug:slug>/design/", views.design, name="design"),
    path("studies/<slug:slug>/design/power/", views.power, name="power"),
    path("studies/<slug:slug>/design/order/", draft_views.order, name="order"),
    path("studies/<slug:slug>/design/<int:version>/bring-back/", draft_views.bring_back, name="bring_back"),
    path("studies/<slug:slug>/copy/", draft_views.copy, name="copy"),
    path("studies/<slug:slug>/delete/", draft_views.delete, name="delete"),
    re_path(r"^studies/(?P<slug>[-\w]+)/amend/(?P<kind>trials|time-limit|withdraw|note)/$", views.amend, name="amend"),
]

api_urlpatterns = [
    path("studies/<slug:slug>/plan/", api.StudyPlan.as_view(), name="study-plan"),
    path("studies/<slug:slug>/verification/", api.StudyVerification.as_view(), name="study-verification"),
    path("studies/<slug:slug>/amendments/", api.StudyAmendments.as_view(), name="study-amendments"),
]
