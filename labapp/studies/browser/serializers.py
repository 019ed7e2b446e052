"""Wire forms of notes and flags."""

from rest_framework import serializers

from labapp.studies.browser.models import TrialFlag, TrialNote

COMMON = ("id", "author", "text", "time_s", "created_at", "edited_at")


class NoteSerializer(serializers.ModelSerializer):
    id = serializers.UUIDField(required=False, help_text="Chosen by the client: sent twice, it is one note.")
    author = serializers.CharField(source="author.username", read_only=True)
    time_s = serializers.FloatField(required=False, allow_null=True, min_value=0)

    class Meta:
        model = TrialNote
        fields = COMMON
        read_only_fields = ("created_at", "edited_at")


class FlagSerializer(NoteSerializer):
    class Meta(NoteSerializer.Meta):
        model = TrialFlag
        fields = (*COMMON, "label")
