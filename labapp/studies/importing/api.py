"""Importing outcome tables over REST: the files and the mapping in one request, all of it or nothing."""

import json
from typing import Any

from django.core.exceptions import ValidationError as Refused
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labapp.accounts.roles import RESEARCH, HasRole
from labapp.api import ServiceErrorsMixin, checked
from labapp.studies.importing.defaults import guess_import
from labapp.studies.importing.outcome_tables import TableRefused
from labapp.studies.importing.services import study_import
from labapp.studies.importing.source import again_in_words, imported_before, source_facts
from labapp.studies.importing.staging import read_uploads
from labapp.studies.importing.tables import ImportMapping, ImportRefused, TableFile, read_files, summary


class ImportSerializer(serializers.Serializer):
    name = serializers.CharField(max_length=120)
    note = serializers.CharField(required=False, allow_blank=True, default="")
    is_simulated = serializers.BooleanField(default=False)
    files = serializers.ListField(child=serializers.FileField(), min_length=1)
    mapping = serializers.CharField(
        required=False,
        default="",
        help_text='JSON, such as {"arm": "policy", "outcomes": [{"success": "ok"}], "files": {"a.csv": '
        '{"category": "control"}}}; guessed from the columns where it is left out.',
    )


class ImportedSerializer(serializers.Serializer):
    slug = serializers.SlugField()
    trials = serializers.IntegerField()
    arms = serializers.DictField(help_text="Arm -> [successes, trials].")
    pairs = serializers.IntegerField()
    notes = serializers.ListField(child=serializers.CharField(), help_text="What looks odd, in words.")


class StudyImport(ServiceErrorsMixin, APIView):
    permission_classes = [HasRole.of(*RESEARCH)]
    parser_classes = [MultiPartParser]

    @extend_schema(
        request=ImportSerializer, responses={201: ImportedSerializer}, summary="Import outcome tables as a study"
    )
    def post(self, request: Request) -> Response:
        values = checked(request, ImportSerializer)
        try:
            files = read_uploads(values["files"])
        except Refused as error:
            raise ValidationError({"files": error.messages}) from error
        try:
            mapping = mapping_of(values["mapping"], files)
            rows = read_files(files, mapping)
        except TableRefused as error:
            raise ValidationError({"mapping": [str(error)]}) from error
        except ImportRefused as error:
            raise ValidationError({"files": [str(error)], "problems": [str(p) for p in error.problems]}) from error
        common = {"name": values["name"], "note": values["note"], "is_simulated": values["is_simulated"]}
        before = imported_before(files)
        source = source_facts(files, mapping)
        study = study_import(rows=rows, actor=request.user, now=timezone.now(), source=source, **common)
        made = summary(rows)
        answer = {"slug": study.slug, "trials": made.trials, "arms": dict(made.arms), "pairs": made.pairs}
        answer |= {"notes": [*made.oddities, *again_in_words(before)]}
        return Response(answer, status=201)


def mapping_of(text: str, files: list[TableFile]) -> ImportMapping:
    """The mapping that was sent, or the guess.

    Raises:
        TableRefused: no JSON object, or one that says too little.
    """
    if not text:
        return guess_import(files)
    try:
        values: Any = json.loads(text)
    except json.JSONDecodeError as error:
        raise TableRefused(f"The mapping is no JSON: {error}.") from error
    if not isinstance(values, dict):
        raise TableRefused("The mapping is a JSON object.")
    return ImportMapping.from_json(values)
