"""Addresses of results. What starts with an underscore is Dash's own."""

from django.urls import path, re_path

from labapp.results import views

app_name = "results"
urlpatterns = [
    path("results/", views.list_page, name="list"),
    re_path(r"^results/(?P<path>_.*)$", views.dash, name="dash"),
    path("results/<slug:slug>/", views.study_page, name="study"),
    path("results/<slug:slug>/table.csv", views.table_csv, name="table_csv"),
    path("results/<slug:slug>/table.tex", views.table_tex, name="table_tex"),
    path("results/<slug:slug>/table.html", views.table_html, name="table_html"),
    path("results/<slug:slug>/looks.csv", views.looks_csv, name="looks_csv"),
    path("results/<slug:slug>/simulated.csv", views.simulated_csv, name="simulated_csv"),
    path("results/<slug:slug>/rows.parquet", views.rows_parquet, name="rows_parquet"),
    path("results/<slug:slug>/report.html", views.report, name="report"),
    path("results/<slug:slug>/rows.csv", views.rows_csv, name="rows_csv"),
]
