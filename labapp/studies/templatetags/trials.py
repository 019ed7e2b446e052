"""Words of trials in templates."""

from django import template

register = template.Library()


@register.filter
def words(name: str) -> str:
    """``missed_pick`` as people write it."""
    return str(name).removeprefix("observation.images.").replace("_", " ")
