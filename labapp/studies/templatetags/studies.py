"""Words of studies in templates."""

from django import template

from labapp.statistics import wording

register = template.Library()


@register.filter
def points(share: float) -> str:
    """``{{ 0.18|points }}``: +18.0"""
    return wording.points(share)
