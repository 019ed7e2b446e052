from django.urls import include, path
from rest_framework.routers import SimpleRouter

from labapp.demos import api, views

app_name = "demos"
urlpatterns = [
    path("demonstrations/", views.set_list, name="list"),
    path("demonstrations/record/", views.record, name="record"),
    path("demonstrations/import/", views.import_set, name="import"),
    path("demonstrations/<slug:name>/", views.set_detail, name="set"),
    path("demonstrations/<slug:name>/remove/", views.remove, name="remove"),
    path("demonstrations/<slug:name>/<int:index>/", views.demonstration, name="demonstration"),
    path("demonstrations/<slug:name>/<int:index>/plots/", views.plots, name="plots"),
]

router = SimpleRouter()
router.register("demonstration-sets", api.DemonstrationSetViewSet, basename="demonstration-set")
api_urlpatterns = [
    path("uploads/", api.UploadBegin.as_view(), name="upload-begin"),
    path("uploads/<str:token>/<path:path>", api.UploadFile.as_view(), name="upload-file"),
    path("", include(router.urls)),
]
