"""Pages of results. Every request of the dashboard passes here: login, role and CSRF are checked before Dash runs."""

from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, StreamingHttpResponse
from django.shortcuts import render
from django.utils.safestring import mark_safe
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_GET, require_http_methods

from frontend.dashboards.filters import Filters, parse_filters
from labapp.accounts.roles import EVERYONE, role_required
from labapp.results import exports
from labapp.results.access import current_viewer, may_see_results, sees_names, study_or_error_page
from labapp.results.dashboard import results_app
from labapp.results.mount import call_wsgi
from labapp.results.queries import study_content
from labapp.studies.models import Study, Trial


@require_GET
@role_required(*EVERYONE)
def list_page(request: HttpRequest) -> HttpResponse:
    """Studies whose results this person may see."""
    confirmed = Count("trials", filter=Q(trials__status=Trial.Status.CONFIRMED))
    studies = Study.objects.select_related("cell").annotate(confirmed=confirmed)
    visible = [study for study in studies if may_see_results(request.user, study)]
    return render(request, "results/list.html", {"studies": visible})


@require_GET
@ensure_csrf_cookie
@role_required(*EVERYONE)
def study_page(request: HttpRequest, slug: str) -> HttpResponse:
    """A study's results: the site's frame around what Dash draws."""
    study = study_or_error_page(request.user, slug)
    fragment = call_wsgi(results_app().server, request).content.decode()
    return render(request, "results/study.html", {"study": study, "dashboard": mark_safe(fragment)})


@require_http_methods(["GET", "POST"])
@role_required(*EVERYONE)
def dash(request: HttpRequest, path: str) -> HttpResponse:
    """Scripts, layout and callbacks of the dashboard; the queries check the study against the viewer."""
    token = current_viewer.set(request.user)
    try:
        return call_wsgi(results_app().server, request)
    finally:
        current_viewer.reset(token)


@require_GET
@role_required(*EVERYONE)
def table_csv(request: HttpRequest, slug: str) -> HttpResponse:
    """The success table with the page's filters."""
    study = study_or_error_page(request.user, slug)
    filters = _filters(request)
    if isinstance(filters, HttpResponse):
        return filters
    content = study_content(study, request.user, filters)
    return _download(exports.table_lines(content, filters.confidence), f"{slug}-table-{content.data_version}.csv")


@require_GET
@role_required(*EVERYONE)
def rows_csv(request: HttpRequest, slug: str) -> HttpResponse:
    """The confirmed trials with the page's filters, as `python -m labapp.statistics` reads them."""
    study = study_or_error_page(request.user, slug)
    filters = _filters(request)
    if isinstance(filters, HttpResponse):
        return filters
    lines = exports.trial_lines(study, filters, sees_names(request.user, study))
    return _download(lines, f"{slug}-trials.csv")


def _filters(request: HttpRequest) -> Filters | HttpResponse:
    try:
        return parse_filters(request.META.get("QUERY_STRING", ""))
    except ValueError as error:
        return HttpResponseBadRequest(f"This address cannot be read. {error}", content_type="text/plain; charset=utf-8")


def _download(lines: object, name: str) -> StreamingHttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8", headers=headers)
