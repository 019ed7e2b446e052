"""Where an imported study comes from: its files by hash, with the mapping; the same file again is recognised."""

from collections.abc import Sequence
from typing import Any

from labapp.studies.importing.tables import ImportMapping, TableFile, line_count
from labapp.studies.models import Study, StudyEvent


def source_facts(files: Sequence[TableFile], mapping: ImportMapping) -> dict[str, Any]:
    """What is kept with the study: enough to make the import again from the same files."""
    kept = [
        {"name": file.name, "sha256": file.sha256, "encoding": file.encoding, "lines": line_count(file)}
        for file in files
    ]
    return {"files": kept, "mapping": mapping.to_json()}


def import_of(study: Study) -> StudyEvent | None:
    """The event that brought an imported study here: files in its payload, with who and when."""
    if not study.is_imported:
        return None
    return study.events.filter(kind=StudyEvent.Kind.IMPORTED).select_related("actor").first()


def imported_before(files: Sequence[TableFile]) -> list[tuple[str, Study]]:
    """(name of the file now, study) for every file whose very bytes were imported already, oldest first."""
    found = []
    for file in files:
        events = StudyEvent.objects.filter(
            kind=StudyEvent.Kind.IMPORTED, payload__files__contains=[{"sha256": file.sha256}]
        )
        found += [(file.name, event.study) for event in events.select_related("study").order_by("created_at")]
    return found


def again_in_words(before: Sequence[tuple[str, Study]]) -> list[str]:
    return [f"{name} was imported before, as “{study.name}”." for name, study in before]
