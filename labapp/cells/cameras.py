"""The camera views of a cell, as pages with live pictures name them."""

from robots.agent.protocol import CAMERA_VIEWS


def camera_views() -> list[dict[str, object]]:
    return [{"index": index, "name": name, "label": name.replace("_", " ")} for index, name in enumerate(CAMERA_VIEWS)]
