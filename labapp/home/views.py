"""Home: the loop as a picture with live counts."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.templatetags.static import static
from django.views.decorators.http import require_safe

from labapp.accounts.roles import EVERYONE, RESEARCH, has_role, role_required
from labapp.home import picture, selectors


@role_required(*EVERYONE)
def home(request: HttpRequest) -> HttpResponse:
    """The whole page; an htmx refresh gets the live part only."""
    is_research = has_role(request.user, *RESEARCH)
    context = {
        "boxes": selectors.loop_boxes(request.user),
        "wires": selectors.loop_wires(),
        "picture": picture,
        "runs": selectors.runs_active() if is_research else [],
        "studies": selectors.studies_open(),
        "next_step": selectors.next_step() if is_research else None,
    }
    return render(request, "home/_live.html" if request.htmx else "home/home.html", context)


@require_safe
@login_not_required
def favicon(request: HttpRequest) -> HttpResponse:
    """Browsers ask here for the icon of what is no page of ours: an error, a picture, a file of the API."""
    return redirect(static("favicon.svg"))
