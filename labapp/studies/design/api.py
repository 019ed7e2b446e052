"""A study's plan with its power, and its amendments, over REST."""

from typing import Any

from django.core.exceptions import ValidationError as Refused
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labapp.accounts.roles import RESEARCH, HasRole
from labapp.api import ServiceErrorsMixin, checked
from labapp.studies import amendments
from labapp.studies.design.drafts import plan_save
from labapp.studies.design.plan import AnalysisPlan, PlanError
from labapp.studies.design.power import design_power
from labapp.studies.design.selectors import design_problems, study_plan, study_question
from labapp.studies.design.services import DraftConflict
from labapp.studies.design.stopping import stopping_power
from labapp.studies.deviations import study_deviations
from labapp.studies.dispatch import study_changed
from labapp.studies.forms import version_in
from labapp.studies.models import PolicyArm, Study
from labapp.studies.verification import study_verify, verification_facts


class AmendmentSerializer(serializers.Serializer):
    kind = serializers.ChoiceField(choices=["trials", "time-limit", "withdraw", "note"])
    reason = serializers.CharField(max_length=4000)
    time_limit_s = serializers.FloatField(required=False, help_text="Of a time-limit.")
    arm = serializers.CharField(required=False, help_text="Code of the arm to withdraw.")
    extra = serializers.DictField(
        child=serializers.IntegerField(min_value=0), required=False, help_text="Condition -> more trials per arm."
    )


class StudyView(ServiceErrorsMixin, APIView):
    permission_classes = [HasRole.of(*RESEARCH)]

    @staticmethod
    def study(slug: str) -> Study:
        return get_object_or_404(Study.objects.select_related("cell"), slug=slug)


class StudyPlan(StudyView):
    """The declared analysis plan and the power of the design under its assumed rates."""

    @extend_schema(responses=OpenApiTypes.OBJECT, summary="Analysis plan and power")
    def get(self, request: Request, slug: str) -> Response:
        return Response(plan_facts(self.study(slug)))

    @extend_schema(
        request=OpenApiTypes.OBJECT,
        responses=OpenApiTypes.OBJECT,
        parameters=[OpenApiParameter("version", int, description="The draft's version that was read; 409 if newer.")],
        summary="Declare the plan of a draft",
    )
    def put(self, request: Request, slug: str) -> Response:
        if not isinstance(request.data, dict):
            raise Refused("The plan is an object.")
        try:
            plan = AnalysisPlan.from_json(request.data)
        except PlanError as error:
            raise Refused({error.field: str(error)}) from error
        seen = version_in(request.query_params.get("version", ""))
        common = {"actor": request.user, "now": timezone.now(), "version": seen}
        try:
            return Response(plan_facts(plan_save(study=self.study(slug), plan=plan, **common)))
        except DraftConflict as conflict:
            return Response({"detail": str(conflict), "version": conflict.version}, status=409)


def plan_facts(study: Study) -> dict[str, Any]:
    question = study_question(study)
    report, stopped = design_power(question), stopping_power(question, study_plan(study))
    return {
        "plan": study.analysis_plan,
        "version": study.draft_version,
        "trials_per_arm": dict(question.groups),
        "assumed_rates": {arm.code: arm.rate for arm in question.arms},
        "effects": [comparison._asdict() for comparison in report.effects],
        "pairs": [comparison._asdict() for comparison in report.pairs],
        "margins": [claim._asdict() for claim in report.claims],
        "under_stopping_rule": [row._asdict() for row in stopped],
        "problems": design_problems(study),
    }


class StudyVerification(StudyView):
    """Whether the hashes on record are found again from the rows."""

    @extend_schema(responses=OpenApiTypes.OBJECT, summary="Verify the design's hash")
    def get(self, request: Request, slug: str) -> Response:
        return Response(verification_facts(study_verify(self.study(slug))))


class StudyAmendments(StudyView):
    """What went otherwise than planned, in order; POST amends a locked study."""

    @extend_schema(responses=OpenApiTypes.OBJECT, summary="Deviations from the plan")
    def get(self, request: Request, slug: str) -> Response:
        return Response([vars(deviation) for deviation in study_deviations(self.study(slug))])

    @extend_schema(request=AmendmentSerializer, responses={201: OpenApiTypes.OBJECT}, summary="Amend a locked study")
    def post(self, request: Request, slug: str) -> Response:
        study = self.study(slug)
        values = checked(request, AmendmentSerializer)
        amend(study, values, reason=values["reason"], actor=request.user, now=timezone.now())
        study_changed(study)
        return Response([vars(deviation) for deviation in study_deviations(study)], status=201)


def amend(study: Study, values: dict[str, Any], **common: Any) -> None:
    """One amendment by its kind."""
    match values["kind"]:
        case "trials":
            amendments.trials_add(study=study, extra=values.get("extra", {}), **common)
        case "time-limit":
            amendments.time_limit_amend(study=study, time_limit_s=values.get("time_limit_s", 0), **common)
        case "withdraw":
            arm = PolicyArm.objects.filter(study=study, code=values.get("arm", "")).first()
            if arm is None:
                raise Refused({"arm": "Name an arm of the study by its code."})
            amendments.arm_amend_withdrawn(study=study, arm=arm, **common)
        case _:
            amendments.deviation_note(study=study, **common)
