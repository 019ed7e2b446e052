from django.urls import include, path
from rest_framework.routers import SimpleRouter

from labapp.evaluations import api, views

app_name = "evaluations"
urlpatterns = [
    path("evaluations/", views.evaluation_list, name="list"),
    path("evaluations/new/", views.evaluation_new, name="new"),
    path("evaluations/<int:pk>/", views.evaluation, name="evaluation"),
    path("evaluations/<int:pk>/rollouts/", views.rollouts, name="rollouts"),
    path("evaluations/<int:pk>/remove/", views.remove, name="remove"),
]

router = SimpleRouter()
router.register("evaluations", api.EvaluationViewSet, basename="evaluation")
api_urlpatterns = [path("", include(router.urls))]
