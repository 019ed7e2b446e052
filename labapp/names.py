"""Names that people give to sets, datasets, policies and worlds: short, unique, and safe in an address."""

from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db.models import Model

RESERVED = frozenset({"new", "record", "import", "compare"})


def check_name(model: type[Model], name: str, *, field: str = "name") -> str:
    """The name, stripped.

    Raises:
        ValidationError: keyed by ``field``, when it is no slug, is an address of ours, or is taken.
    """
    name = name.strip()
    try:
        validate_slug(name)
    except ValidationError:
        raise ValidationError({field: "Use letters, digits, “-” and “_” only."}) from None
    longest = model._meta.get_field("name").max_length
    if len(name) > longest:
        raise ValidationError({field: f"At most {longest} characters, this has {len(name)}."})
    if name in RESERVED:
        raise ValidationError({field: f"“{name}” is the address of a page; take another name."})
    if model._default_manager.filter(name=name).exists():
        raise ValidationError({field: f"“{name}” exists already; take another name."})
    return name


def free_name(model: type[Model], base: str) -> str:
    """``base``, or ``base-2``, ``base-3`` … whichever is free: the default in a form."""
    taken = set(model._default_manager.filter(name__startswith=base).values_list("name", flat=True))
    if base not in taken:
        return base
    number = 2
    while f"{base}-{number}" in taken:
        number += 1
    return f"{base}-{number}"
