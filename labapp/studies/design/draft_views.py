"""Around a draft: the order it would get, its earlier states, a copy of it, its end."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from labapp.accounts.models import Role
from labapp.accounts.roles import RESEARCH, role_required
from labapp.forms import submitted
from labapp.studies.design import drafts
from labapp.studies.design.forms import CopyForm
from labapp.studies.design.selectors import order_preview
from labapp.studies.models import Study


def study_or_404(slug: str) -> Study:
    return get_object_or_404(Study.objects.select_related("cell"), slug=slug)


@require_safe
@role_required(*RESEARCH)
def order(request: HttpRequest, slug: str) -> HttpResponse:
    """The order that a lock of the saved draft would freeze, without policies."""
    try:
        context = {"preview": order_preview(study_or_404(slug))}
    except ValueError as error:
        context = {"problem": str(error)}
    return render(request, "studies/design/_order.html", context)


@require_POST
@role_required(*RESEARCH)
def bring_back(request: HttpRequest, slug: str, version: int) -> HttpResponse:
    study = study_or_404(slug)
    try:
        drafts.draft_bring_back(study=study, version=version, actor=request.user, now=timezone.now())
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        messages.success(request, f"Version {version} is back; what came after it is still in the list.")
    return redirect("studies:design", study.slug)


@role_required(Role.RESEARCHER)
def copy(request: HttpRequest, slug: str) -> HttpResponse:
    """A new draft with this study's design."""
    source = study_or_404(slug)
    form = CopyForm(request.POST or None, initial={"name": f"{source.name}, again"})

    def make(values: dict[str, Any]) -> Study:
        return drafts.study_copy(source=source, actor=request.user, now=timezone.now(), **values)

    made = submitted(form, make)
    if made is not None:
        messages.success(request, "A draft with the same design: new codes, another order. Look at it, then lock it.")
        return redirect("studies:design", made.slug)
    context = {"study": source, "form": form}
    return render(request, "studies/design/copy.html", context, status=422 if form.is_bound else 200)


@require_POST
@role_required(*RESEARCH)
def delete(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_or_404(slug)
    try:
        name = drafts.draft_delete(study=study)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
        return redirect(study)
    messages.success(request, f"The draft “{name}” is deleted.")
    return redirect("studies:list")
