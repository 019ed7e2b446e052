"""Free text that everyone reads must not tell what a code hides."""

from collections.abc import Iterator

from django.core.exceptions import ValidationError

from labapp.accounts.models import User
from labapp.studies.models import Study
from labapp.studies.selectors import sees_policies

SHORTEST = 3


def check_text(study: Study, author: User, text: str, *, field: str = "text") -> str:
    """The text, stripped. Authors who do not know the policies may write anything: a refusal would tell them a name.

    Raises:
        ValidationError: the study is blinded, the author knows its policies, and the text names one.
    """
    text = text.strip()
    is_risky = study.is_blinded and sees_policies(author, study)
    if is_risky and any(name.casefold() in text.casefold() for name in identities(study)):
        raise ValidationError(
            {field: "This names a policy of a blinded study, and operators read it: write the code instead."}
        )
    return text


def identities(study: Study) -> Iterator[str]:
    """Names, labels and hashes by which the study's policies are known."""
    for arm in study.arms.select_related("policy__configuration", "checkpoint"):
        names = [arm.label]
        if arm.policy is not None:
            names += [arm.policy.name, arm.policy.configuration.name if arm.policy.configuration else ""]
        if arm.checkpoint is not None:
            names += [arm.checkpoint.sha256, arm.checkpoint.sha256[:12], arm.checkpoint.prefix]
        yield from (name for name in names if len(name) >= SHORTEST and name != arm.code)
