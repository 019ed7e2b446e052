"""Addresses of studies and trials."""

from django.urls import path

from labapp.studies import api, views
from labapp.studies.browser import lists
from labapp.studies.browser import urls as browser
from labapp.studies.design import urls as design
from labapp.studies.importing import urls as importing

app_name = "studies"
urlpatterns = [
    path("studies/", views.study_list, name="list"),
    *importing.urlpatterns,
    path("studies/new/", views.study_new, name="new"),
    path("studies/<slug:slug>/", views.study, name="study"),
    path("studies/<slug:slug>/lock/", views.lock, name="lock"),
    path("studies/<slug:slug>/unblind/", views.unblind, name="unblind"),
    path("studies/<slug:slug>/finish/", views.finish, name="finish"),
    path("studies/<slug:slug>/console/", views.console, name="console"),
    path("studies/<slug:slug>/console/worker.js", views.console_worker, name="console_worker"),
    path("studies/<slug:slug>/trials/", lists.trial_list, name="trials"),
    path("studies/<slug:slug>/trials.csv", lists.trial_csv, name="trials_csv"),
    path("studies/<slug:slug>/trials/<uuid:trial_id>/", views.trial, name="trial"),
    path("studies/<slug:slug>/trials/<uuid:trial_id>/correct/", views.trial_correct, name="trial_correct"),
    path("studies/<slug:slug>/trials/<uuid:trial_id>/series/", views.series, name="series"),
    *design.urlpatterns,
    *browser.urlpatterns,
]

api_urlpatterns = [
    path("studies/", api.StudyList.as_view(), name="studies"),
    *importing.api_urlpatterns,
    *design.api_urlpatterns,
    path("studies/<slug:slug>/", api.StudyDetail.as_view(), name="study"),
    path("studies/<slug:slug>/lock/", api.StudyLock.as_view(), name="study-lock"),
    path("studies/<slug:slug>/unblind/", api.StudyUnblind.as_view(), name="study-unblind"),
    path("studies/<slug:slug>/finish/", api.StudyFinish.as_view(), name="study-finish"),
    path("studies/<slug:slug>/console/", api.ConsoleState.as_view(), name="console"),
    path("studies/<slug:slug>/session/", api.SessionView.as_view(), name="session"),
    path("studies/<slug:slug>/trials/", api.TrialList.as_view(), name="trials"),
    path("trials/<uuid:trial_id>/confirm/", api.TrialConfirm.as_view(), name="trial-confirm"),
    path("trials/<uuid:trial_id>/undo/", api.TrialUndo.as_view(), name="trial-undo"),
    path("trials/<uuid:trial_id>/correct/", api.TrialCorrect.as_view(), name="trial-correct"),
    path("trials/<uuid:trial_id>/invalidate/", api.TrialInvalidate.as_view(), name="trial-invalidate"),
    path("trials/<uuid:trial_id>/stop/", api.TrialStop.as_view(), name="trial-stop"),
    path("cells/<slug:slug>/stop/", api.CellStop.as_view(), name="cell-stop"),
    *browser.api_urlpatterns,
]

websocket_urlpatterns = [*browser.websocket_urlpatterns]
