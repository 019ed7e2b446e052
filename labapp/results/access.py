"""Who may see which results, and with which names."""

from contextvars import ContextVar

from django.http import Http404

from frontend.dashboards.content import HiddenStudyError, UnknownStudyError
from labapp.accounts.models import User
from labapp.studies.models import Study
from labapp.studies.selectors import may_see_results

# The person whose request is being answered; set around every call of the Dash app, which knows no Django.
current_viewer: ContextVar[User] = ContextVar("current_viewer")


def visible_study(user: User, slug: str) -> Study:
    """The study whose results the person may see.

    Raises:
        UnknownStudyError: there is none of this name.
        HiddenStudyError: its results are hidden from this person.
    """
    study = Study.objects.select_related("cell").filter(slug=slug).first()
    if study is None:
        raise UnknownStudyError(f"There is no study “{slug}”.")
    if not may_see_results(user, study):
        raise HiddenStudyError("This study is blinded: its results open to operators once the PI unblinds it.")
    return study


def study_or_error_page(user: User, slug: str) -> Study:
    """`visible_study` for plain views: 404 and 403 pages.

    Raises:
        Http404, PermissionDenied.
    """
    from django.core.exceptions import PermissionDenied

    try:
        return visible_study(user, slug)
    except UnknownStudyError as error:
        raise Http404(str(error)) from error
    except HiddenStudyError as error:
        raise PermissionDenied(str(error)) from error
