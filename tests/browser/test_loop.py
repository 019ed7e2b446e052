"""The loop through the forms, in a browser, on the whole lab: import, world, dataset, policy."""

import pytest
from playwright.sync_api import expect

from tests.browser.small_v21 import ROWS, make_v21

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
RUN_MS = 180_000


def wait_until_made(page):
    """The page refreshes on its own until its run has ended."""
    page.wait_for_selector("#being-made", state="detached", timeout=RUN_MS)


@pytest.mark.parametrize("role", ["operator", "researcher", "pi"])
def test_each_role_signs_in_and_sees_its_own_places(sign_in, shoot, role):
    page = sign_in(role)
    loop = page.get_by_role("navigation", name="The loop")
    expect(loop.get_by_role("link", name="Studies")).to_be_visible()
    expect(loop.get_by_role("link", name="Policies")).to_have_count(0 if role == "operator" else 1)
    shoot(page, f"home-{role}")
    assert page.troubles == []


def test_an_operator_who_types_a_researchers_address_is_refused_in_words(sign_in):
    page = sign_in("operator")
    assert page.goto("/policies/").status == 403
    expect(page.locator("main")).to_contain_text("Your role does not allow this")


def test_a_folder_is_imported_and_an_episode_plays_on_one_playhead(sign_in, shoot, tmp_path):
    page = sign_in("researcher")
    page.goto("/demonstrations/import/")
    page.set_input_files("#folder", make_v21(tmp_path / "small-arm"))
    expect(page.locator("#chosen")).to_contain_text("8 files")
    expect(page.get_by_label("Name")).to_have_value("small-arm")
    shoot(page, "import")
    page.get_by_role("button", name="Import").click()
    page.wait_for_url("**/demonstrations/small-arm/")
    wait_until_made(page)
    expect(page.locator("main")).to_contain_text("1 video missing")
    shoot(page, "demonstration-set")

    page.get_by_role("link", name="Episode 0").click()
    page.wait_for_selector("#curves .plotly .scatterlayer path")
    page.wait_for_function("document.querySelector('video').readyState >= 2")
    page.locator("#scrub").fill(str(ROWS // 2))
    page.wait_for_function("Math.abs(document.querySelector('video').currentTime - 1.275) < 0.05")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#clock")).to_contain_text(f"row {ROWS // 2 + 1}")
    shoot(page, "episode")
    assert page.troubles == []


def test_a_wrong_folder_is_named_so_before_anything_is_sent(sign_in, tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.jpg").write_bytes(b"JPEG")
    page = sign_in("researcher")
    page.goto("/demonstrations/import/")
    page.set_input_files("#folder", tmp_path / "photos")
    expect(page.locator("#upload-error")).to_contain_text("There is no meta/info.json")


def test_an_impossible_number_is_shown_at_its_field(sign_in, shoot):
    page = sign_in("researcher")
    page.goto("/demonstrations/record/")
    page.get_by_label("Demonstrations", exact=True).fill("0")
    page.get_by_label("highest").fill("9")
    page.get_by_role("button", name="Record").click()
    page.wait_for_selector(".errorlist")
    expect(page.locator("main")).to_contain_text("Must lie in 1..5000")
    expect(page.locator("main")).to_contain_text("Must be two speeds in order")
    shoot(page, "form-errors")


def test_a_world_a_dataset_and_a_policy_are_made_from_forms(sign_in, shoot):
    page = sign_in("researcher")
    page.goto("/worlds/new/")
    page.get_by_label("As the cell is described").check()
    page.get_by_label("Name").fill("nominal")
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/runs/*/")
    page.wait_for_selector("#run-status >> text=succeeded", timeout=RUN_MS)

    page.goto("/datasets/new/")
    page.get_by_label("Name").fill("synthesised")
    page.get_by_label("Grasps and routes of its own").check()
    page.get_by_label("Accepted trajectories").fill("4")
    page.get_by_label("Image size").fill("64")
    page.get_by_label("Camera frames a second").fill("12.5")
    page.get_by_role("button", name="Generate").click()
    page.wait_for_url("**/datasets/synthesised/")
    wait_until_made(page)
    expect(page.locator(".funnel-bar.good")).to_have_count(1)
    shoot(page, "dataset")

    page.get_by_role("link", name="Train on it").click()
    page.get_by_label("Name").fill("first-policy")
    page.get_by_label("Minutes").fill("")
    page.get_by_label("Steps").fill("20")
    page.get_by_role("button", name="Train").click()
    page.wait_for_url("**/policies/first-policy/")
    wait_until_made(page)
    page.wait_for_selector("#training-curve .plotly")
    expect(page.locator("main")).to_contain_text("final")
    shoot(page, "policy")
    assert page.troubles == []


def test_the_keyboard_goes_places_and_the_theme_is_kept(sign_in, shoot):
    page = sign_in("pi", theme="light")
    page.keyboard.press("g")
    page.keyboard.press("s")
    page.wait_for_url("**/datasets/")
    page.keyboard.press("?")
    expect(page.locator("#shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Switch between light and dark").click()
    page.goto("/")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    shoot(page, "home-dark")


def test_pages_fit_a_tablet_held_upright(sign_in, shoot):
    page = sign_in("researcher", width=820, height=1180)
    for name, path in {"home": "/", "demonstrations": "/demonstrations/", "worlds": "/worlds/"}.items():
        page.goto(path)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 820, f"{path} is {width} px wide"
        shoot(page, f"{name}-tablet")


@pytest.mark.slow
def test_the_g1_dataset_is_imported_whole_and_its_video_plays(sign_in, shoot, shared_data):
    page = sign_in("researcher")
    page.goto("/demonstrations/import/")
    page.set_input_files("#folder", shared_data / "lerobot_v21_g1_bottle")
    page.get_by_label("Name").fill("g1-bottle")
    page.get_by_role("button", name="Import").click()
    page.wait_for_url("**/demonstrations/g1-bottle/", timeout=RUN_MS)
    wait_until_made(page)
    expect(page.locator("main")).to_contain_text("35,965")
    expect(page.locator("main")).to_contain_text("95 videos missing")
    page.goto("/demonstrations/g1-bottle/29/")
    page.wait_for_function("document.querySelector('video').readyState >= 2")
    page.wait_for_selector("#curves .plotly .scatterlayer path")
    shoot(page, "g1-episode")
    assert page.troubles == []
