"""The lab's addresses and one more, whose view does nothing: what Django and the server cost by themselves."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.urls import path

from labapp.urls import urlpatterns as lab_urlpatterns


@login_not_required
def empty(request: HttpRequest) -> HttpResponse:
    return HttpResponse()


urlpatterns = [path("empty/", empty), *lab_urlpatterns]
