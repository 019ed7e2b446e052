"""Every figure of the results page by its name: the page, the report and the files draw the same one."""

from collections.abc import Callable, Iterator
from typing import Any

from frontend import figures
from frontend.dashboards.content import Content
from frontend.dashboards.looks import looks_figure
from frontend.dashboards.simulated import simulated_figure

PRINT_WIDTH = 720  # px: 190 mm at 96 to the inch, a page's width


def _success(content: Content, theme: str) -> Any:
    return figures.success_bars(content.bars, theme_name=theme)


def _effects(content: Content, theme: str) -> Any:
    return figures.effects_forest([line.point for line in content.effects], theme_name=theme)


def _interaction(content: Content, theme: str) -> Any:
    a, b = content.factor_names
    return figures.interaction_plot(content.cell_means, a_name=a, b_name=b, theme_name=theme)


def _looks(content: Content, theme: str) -> Any:
    return looks_figure(content.looks.comparisons if content.looks else (), theme)


def _beside(content: Content, theme: str) -> Any:
    return simulated_figure(content.simulated, theme)


def _failures(content: Content, theme: str) -> Any:
    return figures.failure_modes(content.modes, theme_name=theme)


def _stages(content: Content, theme: str) -> Any:
    return figures.stage_funnel(content.stages, theme_name=theme)


def _times(content: Content, theme: str) -> Any:
    return figures.time_to_success(content.times, theme_name=theme)


# Name -> title, how it is drawn, and whether the content has it, in the order of the page.
FIGURES: dict[str, tuple[str, Callable[[Content, str], Any], Callable[[Content], bool]]] = {
    "success-bars": ("Success", _success, lambda content: True),
    "effects-forest": ("Main effects and interaction", _effects, lambda content: bool(content.effects)),
    "interaction-plot": ("Interaction", _interaction, lambda content: bool(content.cell_means)),
    "looks-figure": ("Looks", _looks, lambda content: bool(content.looks and content.looks.comparisons)),
    "sim-beside-real": ("Simulated beside real", _beside, lambda c: bool(c.simulated and c.simulated.lines)),
    "failure-modes": ("Failure modes", _failures, lambda content: True),
    "stage-funnel": ("Stages reached", _stages, lambda content: True),
    "time-to-success": ("Time to success", _times, lambda content: True),
}


def draw(name: str, content: Content, theme: str) -> Any:
    """The figure called `name`.

    Raises:
        ValueError: where there is none of this name.
    """
    if name not in FIGURES:
        raise ValueError(f"no figure {name!r}: one of {', '.join(FIGURES)}")
    return FIGURES[name][1](content, theme)


def for_print(name: str, content: Content) -> Any:
    """The figure as a paper takes it: light, on white, as wide as a page, letters large enough once printed."""
    figure = draw(name, content, "light")
    return figure.update_layout(
        paper_bgcolor="white", plot_bgcolor="white", width=PRINT_WIDTH, font={"size": 14}, autosize=False
    )


def all_figures(content: Content, theme: str) -> Iterator[tuple[str, str, Any]]:
    """(name, title, figure) of every figure that this content has."""
    for name, (title, drawer, is_there) in FIGURES.items():
        if is_there(content):
            yield name, title, drawer(content, theme)


def file_name(name: str, content: Content) -> str:
    """Study, figure and data version, as a file's name without its ending."""
    return f"{content.slug}-{name}-{content.data_version}"
