"""An operator tries every address of the project, by every method, with every id there is, and learns no policy."""

import re
from uuid import uuid4

import pytest
from channels.db import database_sync_to_async
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import ValidationError
from django.db import connection
from django.http import HttpResponseBase
from django.utils import timezone
from django.utils.regex_helper import normalize

from labapp.media.models import Media
from labapp.policies.models import Checkpoint, Policy
from labapp.runs.models import Run, RunEvent
from labapp.studies import amendments
from labapp.studies.browser.models import TrialFlag, TrialNote
from labapp.studies.browser.remarks import remark_create
from labapp.studies.browser.saved import filter_save
from labapp.studies.models import PolicyArm
from labapp.studies.services import study_create
from labapp.studies.sessions import CHECKLIST, session_start
from labapp.studies.trials import trial_correct, trial_invalidate
from labapp.urls import websocket_urlpatterns
from tests.labapp import builders
from tests.labapp.studies.addresses import filled
from tests.labapp.studies.conftest import SUCCESS, Lab, make_lab
from tests.labapp.studies.test_blinding import identities, played
from tests.websocket import Websocket

FIRST_ID, SIZE = 918_273_640, 73_519_264  # numbers that stand nowhere by chance
NAMES = ("Quokka-grounded", "Narwhal-ungrounded")
STRANGERS = ("Zebras-grounded", "Giraffe-ungrounded")  # of the same length, and no policies
WRITES = ("post", "put", "patch", "delete")
# What differs between two answers to the same request.
CHANGING = re.compile(
    r'csrfmiddlewaretoken" value="[^"]+"|"X-CSRFToken": ?"[^"]+"|name="id" value="[^"]+"|expires=[^;]+|datetime="[^"]+"'
    r'|\bExpires: [^\n]+|\d+ \w+ ago|"(?:age_s|now)":[^,}]+'
)


@pytest.fixture
def lab(transactional_db) -> Lab:
    """A blinded study under way, with the policies' names wherever people and jobs put them."""
    with_great_ids()
    lab = make_lab(NAMES)
    for number, policy in enumerate(Policy.objects.order_by("pk")):
        run = Run.objects.create(kind="training", title=f"Train {policy.name}", params={"policy": policy.name})
        RunEvent.objects.create(run=run, seq=1, message=f"{policy.name} learns")
        Policy.objects.filter(pk=policy.pk).update(run=run)
        Checkpoint.objects.filter(policy=policy).update(size_bytes=SIZE + number)
    trial = played(lab)
    common = {"study": lab.study, "actor": lab.pi, "now": timezone.now()}
    amendments.deviation_note(reason=f"{NAMES[0]} was trained a day longer", **common)
    amendments.time_limit_amend(time_limit_s=14.0, reason=f"{NAMES[1]} is slow", **common)
    remark_create(TrialNote, remark_id=uuid4(), trial=trial, author=lab.pi, text="Look again")
    remark_create(TrialFlag, remark_id=uuid4(), trial=trial, author=lab.pi, label="check")
    filter_save(study=lab.study, owner=lab.pi, name="Successes", query="outcome=success", is_shared=True)
    rig = {"operator": lab.operator, "checklist": dict.fromkeys(CHECKLIST, True), "device_id": uuid4()}
    session_start(study=lab.study, now=timezone.now(), **rig)
    return lab


def with_great_ids() -> None:
    """Rows of policies get ids that a search cannot hit by chance."""
    with connection.cursor() as cursor:
        for model in (Policy, Checkpoint, PolicyArm):
            sequence = f"{model._meta.db_table}_id_seq"
            cursor.execute("SELECT setval(%s, %s)", [sequence, FIRST_ID])


def secrets_of(lab: Lab) -> list[str]:
    """Names, hashes, object keys, ids and weight sizes."""
    arms = lab.study.arms.select_related("policy", "checkpoint")
    sizes = [str(arm.checkpoint.size_bytes) for arm in arms]
    ids = [str(row.pk) for arm in arms for row in (arm, arm.policy, arm.checkpoint)]
    return identities(lab) + sizes + ids + [name.lower() for name in NAMES]


def values_of(lab: Lab) -> dict[str, list[object]]:
    """What to put for each parameter of an address: every row that has to do with the study."""
    study, cell = lab.study, lab.study.cell
    trials = list(study.trials.values_list("pk", flat=True))
    arms = list(study.arms.select_related("policy", "checkpoint"))
    remarks = [*TrialNote.objects.values_list("pk", flat=True), *TrialFlag.objects.values_list("pk", flat=True)]
    runs = list(Run.objects.values_list("pk", flat=True))
    policies = [arm.policy_id for arm in arms]
    return {
        "slug": [study.slug, cell.slug],
        "name": [arm.policy.name for arm in arms],
        "pk": [*runs, policies[0]],
        "id": [lab.operator.pk],
        "object_id": [policies[0], study.pk],
        "content_type_id": [ContentType.objects.get_for_model(Policy).pk],
        "app_label": ["policies", "studies"],
        "url": ["policies/policy", "nothing"],
        "trial_id": trials,
        "media_id": list(Media.objects.values_list("pk", flat=True)),
        "remark_id": remarks,
        "session_id": list(study.sessions.values_list("pk", flat=True)),
        "filter_id": list(study.saved_filters.values_list("pk", flat=True)),
        "sha256": [arm.checkpoint.sha256 for arm in arms],
        "path": ["checkpoint.json", "_dash-layout", "videos/observation.images.head/chunk-000/file-000.mp4"],
        "token": ["nothing"],
        "key": ["0" * 32],
        "kind": ["note", "flag", "trials", "withdraw"],
        "action": ["edit", "restore"],
        "index": [0],
        "version": [1, 2],
        "code": [arm.code for arm in arms],
        "number": [1],
    }


def said(answer: HttpResponseBase) -> str:
    """Everything of an answer: body, headers, cookies."""
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    headers = "\n".join(f"{name}: {value}" for name, value in answer.headers.items())
    return f"{headers}\n{answer.cookies.output()}\n{body.decode(errors='replace')}"


def told(secrets: list[str], text: str, address: str) -> list[str]:
    """Secrets in a text that the asker did not put into the address."""
    return [secret for secret in secrets if secret in text and secret.lower() not in address.lower()]


def test_every_address_is_silent_to_an_operator(lab):
    client, secrets = lab.client("operator"), secrets_of(lab)
    addresses = sorted(set(filled(values_of(lab))))
    answers = {address: client.get(address) for address in addresses}
    leaks = [(address, found) for address, answer in answers.items() if (found := told(secrets, said(answer), address))]
    assert leaks == []
    opened = {address for address, answer in answers.items() if answer.status_code == 200}
    assert len(addresses) > 250 and len(opened) > 20
    assert not [address for address in opened if address.startswith(("/admin/policies", "/policies", "/api/policies"))]


def test_no_write_of_an_operator_is_answered_with_a_policy(lab):
    client, secrets = lab.client("operator"), secrets_of(lab)
    addresses = [a for a in sorted(set(filled(values_of(lab)))) if a not in ("/logout/", "/admin/logout/")]
    leaks = []
    for method in WRITES:
        for address in addresses:
            answer = getattr(client, method)(address, data={}, content_type="application/json")
            assert answer.status_code != 500, (method, address)
            leaks += [(method, address, found)] if (found := told(secrets, said(answer), address)) else []
    assert leaks == []


# What somebody might try; those that a page knows are refused there, so they are asked apart from the others.
QUERIES = (
    "policy={0}&policy__name={0}&arm__policy__name={0}&arm__label={0}&label={0}&checkpoint={0}&object={0}&operator={0}",
    "search={0}&q={0}&name={0}&note={0}&query={0}&ordering=arm__policy__name&sort={0}&order_by={0}",
    "arm={0}&status={0}&conditions={0}&block={0}", "conditions={0}", "a={0}&b={0}&page={0}&t={0}&limit={0}",
)  # fmt: skip


def test_no_question_about_a_policy_is_answered_otherwise_than_one_about_a_stranger(lab, monkeypatch):
    moment = timezone.now()  # of all answers: a report says when it was made, and a minute may end between two
    monkeypatch.setattr(timezone, "now", lambda: moment)
    client = lab.client("operator")
    asked = [a for a in sorted(set(filled(values_of(lab)))) if client.get(a).status_code == 200]
    assert len(asked) > 20
    differing = []
    for address in asked:
        for query in QUERIES:
            first, second = (client.get(f"{address}?{query.format(name)}") for name in (NAMES[0], STRANGERS[0]))
            if shape(first, NAMES[0]) != shape(second, STRANGERS[0]):
                differing.append(f"{address}?{query}")
    assert differing == []


def shape(answer: HttpResponseBase, asked: str) -> tuple[int, str]:
    """An answer without what the asker said and without tokens and ages."""
    return answer.status_code, CHANGING.sub("", said(answer).replace(asked, "").replace(asked.lower(), ""))


def test_the_order_of_codes_says_nothing_of_the_order_of_policies(db, researcher):
    checkpoints, cell = [builders.checkpoint(name) for name in NAMES], builders.cell()
    first_is_first = 0
    for number in range(60):
        study = study_create(name=f"S {number}", cell=cell, checkpoints=checkpoints, actor=researcher, seed=number)
        codes = list(study.arms.order_by("policy_id").values_list("code", flat=True))
        first_is_first += codes[0] < codes[1]
    assert 12 < first_is_first < 48, "a fair coin lands outside this once in a million"


@pytest.mark.parametrize("change", [trial_correct, trial_invalidate])
def test_a_reason_that_names_a_policy_is_refused_to_those_who_know_it(lab, change):
    trial = lab.study.trials.get(status="confirmed")
    values = {"outcome": SUCCESS} if change is trial_correct else {}
    with pytest.raises(ValidationError, match="write the code instead"):
        change(
            trial=trial,
            reason=f"{NAMES[0]} never does that",
            version=trial.version,
            actor=lab.pi,
            now=timezone.now(),
            **values,
        )
    trial.refresh_from_db()
    assert trial.status == "confirmed"


async def test_every_socket_is_silent_or_closed_to_an_operator(lab):
    secrets = await database_sync_to_async(secrets_of)(lab)
    values = await database_sync_to_async(values_of)(lab)
    values |= {"cell": [lab.study.cell.slug], "run_id": values["pk"]}
    opened = {}
    for pattern in websocket_urlpatterns:
        template, names = normalize(pattern.pattern.regex.pattern.removeprefix("^"))[0]
        path = "/" + template % {name: values[name][0] for name in names}
        connection = Websocket(path, user=lab.operator)
        opened[template] = await connection.connect()
        if opened[template]:
            assert not told(secrets, await first_words(connection), path)
            await connection.disconnect()
    closed = {template for template, is_open in opened.items() if not is_open}
    assert closed >= {"ws/agent/", "ws/runs/", "ws/runs/%(run_id)s/"} and len(closed) < len(opened)


async def first_words(connection: Websocket) -> str:
    """What a socket says unasked; nothing where it waits."""
    said = []
    while not await connection.receives_nothing(0.5):
        said.append(str(await connection.receive()))
    return "\n".join(said)
