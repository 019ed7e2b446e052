from django.urls import path

from labapp.media import views

app_name = "media"
urlpatterns = [path("media/<uuid:media_id>/", views.stream, name="stream")]
