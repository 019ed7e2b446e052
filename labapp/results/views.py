"""Pages of results. Every request of the dashboard passes here: login, role and CSRF are checked before Dash runs."""

from collections.abc import Callable, Iterable
from functools import wraps
from tempfile import TemporaryFile

from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBadRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.utils.safestring import mark_safe
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_GET, require_http_methods

from frontend.dashboards.filters import Filters, parse_filters
from labapp.accounts.roles import EVERYONE, role_required
from labapp.results import exports, simulated, tables
from labapp.results.access import current_viewer, study_or_error_page
from labapp.results.checks import find_cautions
from labapp.results.dashboard import results_app
from labapp.results.mount import call_wsgi
from labapp.results.queries import study_content, study_sensitivity
from labapp.results.report import report_html
from labapp.results.tallies import selected_trials
from labapp.studies.importing.source import import_of
from labapp.studies.models import Study
from labapp.studies.selectors import may_see_results, sees_names, studies_counted


@require_GET
@role_required(*EVERYONE)
def list_page(request: HttpRequest) -> HttpResponse:
    """Studies whose results this person may see."""
    visible = [study for study in studies_counted() if may_see_results(request.user, study)]
    return render(request, "results/list.html", {"studies": visible})


@require_GET
@ensure_csrf_cookie
@role_required(*EVERYONE)
def study_page(request: HttpRequest, slug: str) -> HttpResponse:
    """A study's results: the site's frame around what Dash draws."""
    study = study_or_error_page(request.user, slug)
    fragment = call_wsgi(results_app().server, request).content.decode()
    context = {"study": study, "imported": import_of(study), "dashboard": mark_safe(fragment)}
    return render(request, "results/study.html", context)


@require_http_methods(["GET", "POST"])
@role_required(*EVERYONE)
def dash(request: HttpRequest, path: str) -> HttpResponse:
    """Scripts, layout and callbacks of the dashboard; the queries check the study against the viewer."""
    token = current_viewer.set(request.user)
    try:
        return call_wsgi(results_app().server, request)
    finally:
        current_viewer.reset(token)


def export(view: Callable[[HttpRequest, Study, Filters], HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """A download of what the page shows: study visible, filters read from the address, else 403, 404 or 400."""

    @require_GET
    @role_required(*EVERYONE)
    @wraps(view)
    def checked(request: HttpRequest, slug: str) -> HttpResponseBase:
        study = study_or_error_page(request.user, slug)
        try:
            filters = parse_filters(request.META.get("QUERY_STRING", ""))
        except ValueError as error:
            text = f"This address cannot be read. {error}"
            return HttpResponseBadRequest(text, content_type="text/plain; charset=utf-8")
        return view(request, study, filters)

    return checked


@export
def table_csv(request: HttpRequest, study: Study, filters: Filters) -> HttpResponseBase:
    content = study_content(study, request.user, filters)
    lines = exports.table_lines(content, filters.confidence)
    return _download(lines, f"{study.slug}-table-{content.data_version}.csv", "text/csv")


@export
def table_tex(request: HttpRequest, study: Study, filters: Filters) -> HttpResponseBase:
    content = study_content(study, request.user, filters)
    text = tables.latex_table(content, filters.confidence)
    return _download([text], f"{study.slug}-table-{content.data_version}.tex", "application/x-tex")


@export
def table_html(request: HttpRequest, study: Study, filters: Filters) -> HttpResponseBase:
    content = study_content(study, request.user, filters)
    return _download([tables.html_table(content)], f"{study.slug}-table-{content.data_version}.html", "text/html")


@export
def looks_csv(request: HttpRequest, study: Study, filters: Filters) -> HttpResponseBase:
    """What the plan's looks concluded so far; 404 for a plan that looks once, at the end."""
    content = study_content(study, request.user, filters)
    if content.looks is None:
        raise Http404("The plan of this study has no looks.")
    return _download(exports.looks_lines(content.looks), f"{study.slug}-looks-{content.data_version}.csv", "text/csv")


@export
def simulated_csv(request: HttpRequest, study: Study, filters: Filters) -> HttpResponseBase:
    """The rollouts of the newest evaluation; 404 for a study that has none."""
    evaluation = simulated.newest(study, filters)
    if evaluation is None:
        raise Http404("This study was not evaluated in simulation.")
    rows = simulated.simulated_rows(evaluation, filters, sees_names(request.user, study))
    return _download(exports.csv_lines(simulated.ROW_COLUMNS, rows), f"{study.slug}-simulated.csv", "text/csv")


@export
def rows_csv(request: HttpRequest, study: Study, filters: Filters) -> HttpResponseBase:
    """The confirmed trials, as `python -m labapp.statistics` reads them."""
    lines = exports.trial_lines(study, filters, sees_names(request.user, study))
    return _download(lines, f"{study.slug}-trials.csv", "text/csv")


@export
def rows_parquet(request: HttpRequest, study: Study, filters: Filters) -> HttpResponseBase:
    file = TemporaryFile()  # noqa: SIM115 - the response closes it once it is sent
    exports.write_parquet(file, study, filters, sees_names(request.user, study))
    file.seek(0)
    return FileResponse(file, as_attachment=True, filename=f"{study.slug}-trials.parquet")


@export
def report(request: HttpRequest, study: Study, filters: Filters) -> HttpResponseBase:
    content = study_content(study, request.user, filters)
    cautions = find_cautions(selected_trials(study, filters))
    model = study_sensitivity(study, request.user, filters)
    text = report_html(study, content, filters, cautions, model, timezone.now())
    return _download([text], f"{study.slug}-report-{content.data_version}.html", "text/html")


def _download(parts: Iterable[str], name: str, content_type: str) -> StreamingHttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingHttpResponse(parts, content_type=f"{content_type}; charset=utf-8", headers=headers)
