from django.urls import include, path
from rest_framework.routers import SimpleRouter

from labapp.policies import api, views

app_name = "policies"
urlpatterns = [
    path("policies/", views.policy_list, name="list"),
    path("policies/new/", views.policy_new, name="new"),
    path("policies/<slug:name>/", views.policy, name="policy"),
    path("policies/<slug:name>/remove/", views.remove, name="remove"),
]

router = SimpleRouter()
router.register("policies", api.PolicyViewSet, basename="policy")
api_urlpatterns = [path("", include(router.urls))]
