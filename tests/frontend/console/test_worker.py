"""The console's service worker, run by Node in a browser of plain objects: what it keeps, shows and forgets."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.node import NODE, needs_node

WORLD = Path(__file__).with_name("worker_world.js")
WORKER = Path(__file__).resolve().parents[3] / "frontend" / "static" / "js" / "console_worker.js"
SCRIPT = """
import { World, PAGE, HTML, FILES, text, failed } from "%(world)s";
const world = new World("%(worker)s");
world.lab();
const run = async () => { %(body)s };
console.log(JSON.stringify(await run()));
process.exit();
"""

pytestmark = needs_node


def run(body: str) -> Any:
    """What the body returns, in a world where the lab answers and nothing is kept yet."""
    script = SCRIPT % {"world": WORLD.as_uri(), "worker": WORKER, "body": body}
    command = [str(NODE), "--input-type=module", "-e", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_lab_answers_first_and_its_copy_during_a_cut_is_marked():
    online, kept, offline = run(
        "const online = await text(world.load()); const kept = await world.keep(); world.isCut = true;"
        " return [online, kept, await text(world.load())]"
    )
    assert kept is True
    assert 'data-from="lab"' in online and 'data-from="device"' in offline


def test_a_lab_that_never_answers_or_breaks_is_a_cut_and_without_a_copy_its_answer_stands():
    assert run(
        "await world.keep(); const found = [];"
        " for (const answer of ['silent', new Response('', { status: 502 })]) {"
        "   world.answers.set(PAGE, answer); found.push((await text(world.load())).includes('device')); }"
        " await world.caches.delete('groundlab-console /studies/s/console/');"
        " found.push((await world.load()).status); world.isCut = true; found.push(await failed(world.load()));"
        " return found"
    ) == [True, True, 502, True]


@pytest.mark.parametrize("answer", ["{ type: 'opaqueredirect', status: 0 }", "{ status: 401 }", "{ status: 403 }"])
def test_a_redirect_to_the_login_or_a_refusal_empties_the_cache(answer):
    assert run(
        f"await world.keep(); world.answers.set(PAGE, {answer}); await world.load(); const held = world.held();"
        " world.isCut = true; return [held, await failed(world.load())]"
    ) == [[], True]
    assert run(f"world.answers.set(PAGE, {{ ok: false, ...{answer} }}); return [await world.keep(), world.held()]") == [
        False,
        [],
    ]


def test_answers_of_the_api_other_pages_and_other_methods_are_left_to_the_browser():
    assert (
        run(
            "await world.keep(); return [await world.ask('http://lab/api/studies/s/console/'),"
            " await world.ask('http://lab/api/rig.jpg', { destination: 'image' }),"
            " await world.load(PAGE + 'worker.js'), await world.load('http://lab/studies/s/'),"
            " await world.ask('http://other/static/a.js', { destination: 'script' })]"
        )
        == [None] * 5
    )


def test_only_the_page_and_its_files_are_held_and_a_new_release_replaces_them():
    first, second = run(
        "await world.keep(); const first = world.held().sort(); world.lab(HTML.replaceAll('/a.', '/a2.'));"
        " await world.keep(['http://lab/static/a2.css', 'http://lab/static/a2.js']);"
        " return [first, world.held().sort()]"
    )
    assert first == [f"http://lab/static/{name}" for name in ("a.css", "a.js", "b.js")] + [
        "http://lab/studies/s/console/"
    ]
    assert second == ["http://lab/static/a2.css", "http://lab/static/a2.js", "http://lab/studies/s/console/"]


def test_a_page_of_the_release_before_and_a_cut_in_between_leave_the_copy_as_it_is():
    newer, cut, page = run(
        "await world.keep(); world.lab(HTML.replaceAll('/a.', '/a2.')); const newer = await world.keep();"
        " world.answers.set(FILES[2], 'cut'); const cut = await world.keep(); world.isCut = true;"
        " return [newer, cut, await text(world.load())]"
    )
    assert (newer, cut) == (False, False) and "/static/a.js" in page


def test_a_page_from_the_device_takes_its_files_from_there_and_any_other_from_the_lab():
    asked, found, other = run(
        "await world.keep(); world.answers.set(PAGE, 'silent'); await world.load(PAGE, 'old'); world.asked = [];"
        " world.answers.set(FILES[1], new Response('newer'));"
        " const ask = (client) => text(world.ask(FILES[1], { destination: 'script', client }));"
        " const found = await ask('old'); const asked = [...world.asked]; return [asked, found, await ask('new')]"
    )
    assert asked == [] and found.startswith("of ") and other == "newer"
    assert run(
        "await world.keep(); world.isCut = true; const script = { destination: 'script' };"
        " return [await text(world.ask(FILES[0], script)), await failed(world.ask('http://lab/static/c.js', script))]"
    ) == ["of http://lab/static/a.css", True]


def test_a_copy_older_than_a_session_may_last_is_not_shown():
    assert run(
        "await world.keep(); world.isCut = true; const ages = [8, -1, 7.9].map((hours) => hours * 3600e3);"
        " const begun = world.now; const found = [];"
        " for (const age of ages) { world.now = begun + age; found.push(await failed(world.load())); } return found"
    ) == [True, True, False]


def test_a_worker_that_begins_anew_drops_what_was_there_and_a_new_release_of_it_does_not():
    install = (
        "const install = () => new Promise((done) => world.handlers.install({ waitUntil: (work) => work.then(done) }));"
    )
    assert run(
        f"{install} await world.keep(); world.self.registration.active = {{}}; await install();"
        " const kept = world.held().length; world.self.registration.active = null; await install();"
        " return [kept, world.held()]"
    ) == [4, []]
