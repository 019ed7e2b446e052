"""Importing outcome tables in the browser: files, mapping with a preview, check, import."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from labapp.accounts.roles import RESEARCH, role_required
from labapp.forms import submitted
from labapp.studies.importing import staging
from labapp.studies.importing.forms import MappingForm, UploadForm
from labapp.studies.importing.progress import Progress, progress_of
from labapp.studies.importing.services import import_undo, study_import
from labapp.studies.importing.source import imported_before, source_facts
from labapp.studies.importing.tables import ImportRefused, TableFile, line_count, read_files, summary
from labapp.studies.models import Study

PREVIEWED = 5


@require_http_methods(["GET", "HEAD", "POST"])
@role_required(*RESEARCH)
def upload(request: HttpRequest) -> HttpResponse:
    """Choose the files."""
    form = UploadForm(request.POST, request.FILES) if request.method == "POST" else UploadForm()

    def stage(values: dict[str, Any]) -> str:
        try:
            return staging.keep(staging.read_uploads(values["files"]), request.user)
        except ValidationError as error:
            raise ValidationError({"files": error.messages}) from error

    key = submitted(form, stage)
    if key is not None:
        return redirect("studies:import_mapping", key)
    return render(request, "studies/importing/upload.html", {"form": form}, status=422 if form.is_bound else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@role_required(*RESEARCH)
def mapping(request: HttpRequest, key: str) -> HttpResponse:
    """Say what the columns mean; check every row; then import all of it or nothing."""
    files = staging.kept(key, request.user)
    if files is None:
        messages.error(request, "This upload is gone (they are kept for a day): choose the files again.")
        return redirect("studies:import")
    if request.method != "POST":
        return mapping_page(request, files, MappingForm(files))
    form = MappingForm(files, request.POST)
    return mapped(request, key, files, form) if form.is_valid() else mapping_page(request, files, form, status=422)


def mapped(request: HttpRequest, key: str, files: list[TableFile], form: MappingForm) -> HttpResponse:
    """Read all files with a mapping that is filled in; import them where that was asked."""
    progress, mapping = Progress(key, request.user), form.mapping()
    try:
        rows = read_files(files, mapping, progress.of("rows read", sum(map(line_count, files))))
    except ImportRefused as error:
        return mapping_page(request, files, form, status=422, refused=error)
    if request.POST.get("then") != "import":
        return mapping_page(request, files, form, checked=summary(rows))

    def store(values: dict[str, Any]) -> Study:
        return study_import(
            name=values["name"],
            rows=rows,
            actor=request.user,
            is_simulated=values["is_simulated"],
            now=timezone.now(),
            note=values["note"],
            source=source_facts(files, mapping),
            told=progress.of("trials stored", len(rows)),
        )

    study = submitted(form, store)
    if study is None:
        return mapping_page(request, files, form, status=422)
    staging.forget(key, request.user)
    messages.success(request, f"{len(rows)} trials are imported. The study's page has the way to undo it.")
    return redirect("results:study", study.slug)


@require_safe
@role_required(*RESEARCH)
def progress(request: HttpRequest, key: str) -> JsonResponse:
    """How far the import under this key is."""
    return JsonResponse(progress_of(key, request.user))


@require_POST
@role_required(*RESEARCH)
def undo(request: HttpRequest, slug: str) -> HttpResponse:
    study = get_object_or_404(Study, slug=slug)
    try:
        count = import_undo(study=study)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
        return redirect(study)
    messages.success(request, f"The import of “{study.name}” is undone: {count} trials are gone from here.")
    return redirect("studies:import")


def mapping_page(
    request: HttpRequest, files: list[TableFile], form: MappingForm, status: int = 200, **found: Any
) -> HttpResponse:
    previews = [(file.name, file.encoding, staging.first_records(file, PREVIEWED)) for file in files]
    context = {
        "key": request.resolver_match.kwargs["key"],
        "form": form,
        "files": files,
        "previews": previews,
        "before": imported_before(files),
        **found,
    }
    return render(request, "studies/importing/mapping.html", context, status=status)
