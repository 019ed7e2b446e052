"""Addresses of results. What starts with an underscore is Dash's own."""

from django.urls import path, re_path

from labapp.results import views

app_name = "results"
urlpatterns = [
    path("results/", views.list_page, name="list"),
    re_path(r"^results/(?P<path>_.*)$", views.dash, name="dash"),
    path("results/<slug:slug>/", views.study_page, name="study"),
    path("results/<slug:slug>/table.csv", views.table_csv, name="table_csv"),
    path("results/<slug:slug>/rows.csv", views.rows_csv, name="rows_csv"),
]
