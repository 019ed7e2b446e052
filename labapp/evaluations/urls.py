from django.urls import include, path
from rest_framework.routers import SimpleRouter

from labapp.evaluations import api, rollouts, views

app_name = "evaluations"
urlpatterns = [
    path("evaluations/", views.evaluation_list, name="list"),
    path("evaluations/new/", views.evaluation_new, name="new"),
    path("evaluations/<int:pk>/", views.evaluation, name="evaluation"),
    path("evaluations/<int:pk>/rollouts/", rollouts.rollout_list, name="rollouts"),
    path("evaluations/<int:pk>/rollouts.csv", rollouts.rollout_csv, name="rollouts_csv"),
    path("evaluations/<int:pk>/rollouts/<str:code>/<int:number>/", rollouts.rollout, name="rollout"),
    path("evaluations/<int:pk>/rollouts/<str:code>/<int:number>/series/", rollouts.series, name="series"),
    path("evaluations/<int:pk>/remove/", views.remove, name="remove"),
]

router = SimpleRouter()
router.register("evaluations", api.EvaluationViewSet, basename="evaluation")
api_urlpatterns = [path("", include(router.urls))]
