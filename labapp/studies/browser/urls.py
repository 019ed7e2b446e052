"""Addresses of the trial browser; included by the studies' own."""

from django.urls import path, re_path

from labapp.studies.browser import api, attribution_api, consumers, rig_api, views

_TRIAL = r"^studies/(?P<slug>[-\w]+)/trials/(?P<trial_id>[0-9a-f-]{36})/remarks/"

urlpatterns = [
    path("studies/<slug:slug>/compare/", views.compare, name="compare"),
    path("studies/<slug:slug>/screen/", views.screen, name="screen"),
    path("studies/<slug:slug>/filters/", views.filter_new, name="filter_new"),
    path("studies/<slug:slug>/filters/<int:filter_id>/forget/", views.filter_forget, name="filter_forget"),
    path("studies/<slug:slug>/trials/<uuid:trial_id>/remarks/", views.remarks, name="remarks"),
    re_path(
        _TRIAL + r"(?P<kind>note|flag)/(?P<remark_id>[0-9a-f-]{36})/(?P<action>edit|delete|restore)/$",
        views.remark,
        name="remark",
    ),
]

api_urlpatterns = [
    path("trials/<uuid:trial_id>/notes/", api.NoteList.as_view(), name="trial-notes"),
    path("trials/<uuid:trial_id>/flags/", api.FlagList.as_view(), name="trial-flags"),
    path("notes/<uuid:remark_id>/", api.NoteDetail.as_view(), name="note"),
    path("flags/<uuid:remark_id>/", api.FlagDetail.as_view(), name="flag"),
    path("notes/<uuid:remark_id>/restore/", api.NoteRestore.as_view(), name="note-restore"),
    path("flags/<uuid:remark_id>/restore/", api.FlagRestore.as_view(), name="flag-restore"),
    path("trials/<uuid:trial_id>/attributions/", attribution_api.AttributionList.as_view(), name="trial-attributions"),
    path(
        "trials/<uuid:trial_id>/attributions/<str:name>/",
        attribution_api.AttributionDetail.as_view(),
        name="trial-attribution",
    ),
    path("studies/<slug:slug>/reference/", rig_api.ReferenceView.as_view(), name="reference"),
    path("sessions/<int:session_id>/rig-picture/", rig_api.RigPictureView.as_view(), name="rig-picture"),
]

websocket_urlpatterns = [path("ws/trials/<uuid:trial_id>/", consumers.TrialConsumer.as_asgi())]
