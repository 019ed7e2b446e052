"""The body of a study's results page: content in, components out."""

from dataclasses import replace
from typing import Any

from dash import html

from frontend.dashboards.content import Content
from frontend.dashboards.drawn import draw
from frontend.dashboards.filters import Filters, format_filters
from frontend.dashboards.looks import looks_cards
from frontend.dashboards.parts import (
    card,
    comparisons_table,
    declared_list,
    differing_pairs,
    effects_list,
    empty,
    export_links,
    graph,
    notice,
    paired_table,
    posterior_table,
    progress_table,
    success_table,
)
from frontend.dashboards.sections import Part, sections
from frontend.dashboards.simulated import simulated_cards

POSTERIOR_NOTE = (
    "Rates of the four cells independent, Jeffreys prior; central credible intervals. It says how probable an effect "
    "is given these trials, and replaces no test."
)
PROGRESS_NOTE = (
    "Share of pairs of trials in which the first arm's got to a later stage (ties half): above 50% it gets further. "
    "Brunner-Munzel by permutation, Holm-adjusted; with ten trials an arm the interval covers more than it says."
)

LASTING = "Shows these numbers again whatever is scored or corrected later"


def page_body(content: Content, filters: Filters, theme: str) -> list[Any]:
    """All cards of the page, or an empty state in words."""
    head = [*_notices(content, filters), _summary(content, filters)]
    if not content.counts.confirmed:
        return [*head, *looks_cards(content.looks, theme), _empty(content, filters)]
    return [*head, *sections(_parts(content, filters, theme))]


def _parts(content: Content, filters: Filters, theme: str) -> list[Part]:
    """The page's story: how often arms succeed, why, who differs, what simulation said, how trials end."""
    compared = [*_comparisons(content, filters), *_margins(content), *_paired(content)]
    simulated = simulated_cards(content.simulated, filters.confidence, theme)
    return [
        Part("success", "Success", _success(content, filters, theme)),
        Part("effects", "Effects", [*_primary(content), *_effects(content, theme)]),
        Part("stopping", "Looks", looks_cards(content.looks, theme)),
        Part("comparisons", "Comparisons", compared),
        Part("beside", "Simulated beside real", simulated),
        Part("endings", "How trials end", [_how_trials_end(content, theme)]),
    ]


def _success(content: Content, filters: Filters, theme: str) -> list[Any]:
    percent = f"{100 * filters.confidence:g}% Wilson intervals"
    figure = graph("success-bars", draw("success-bars", content, theme))
    return [
        card("Success by arm and condition", success_table(content), percent),
        card("Success", figure, percent),
    ]


def _effects(content: Content, theme: str) -> list[Any]:
    if content.effects_missing:
        return [card("Main effects and interaction", html.P(content.effects_missing, className="soft"))]
    forest = graph("effects-forest", draw("effects-forest", content, theme))
    figures = html.Div([forest, _interaction(content, theme)], className="effects-figures")
    inside = [figures, effects_list(content.effects), *_posterior(content)]
    return [card("Main effects and interaction", inside, "in points, averaged over conditions")]


def _interaction(content: Content, theme: str) -> html.Div:
    figure = graph("interaction-plot", draw("interaction-plot", content, theme))
    return html.Div([figure, html.P("Parallel lines: no interaction.", className="faint small")])


def _posterior(content: Content) -> list[Any]:
    if not content.posterior:
        return []
    summary = html.Summary("A second view: Bayesian posterior")
    return [
        html.Details([summary, posterior_table(content.posterior), html.P(POSTERIOR_NOTE, className="faint small")])
    ]


def _progress(content: Content) -> list[Any]:
    if not content.progress:
        return []
    summary = html.Summary("Who gets further? All pairs")
    return [html.Details([summary, progress_table(content.progress), html.P(PROGRESS_NOTE, className="faint small")])]


def _comparisons(content: Content, filters: Filters) -> list[Any]:
    if not content.comparisons:
        return []
    note = f"{content.comparison_test} tests, Holm-adjusted; arms that share a letter: no difference shown"
    more = html.P(content.comparison_note, className="faint small")
    table = html.Details([html.Summary("All pairs"), comparisons_table(content.comparisons), more])
    found = html.P(differing_pairs(content.comparisons, 1 - filters.confidence))
    return [card("Arms compared", html.Div([found, table], className="stack"), note)]


def _primary(content: Content) -> list[Any]:
    if not content.primary:
        return []
    note = "declared before the data; by the plan's test, level and adjustment, over all trials whatever the filters"
    return [card("Primary comparisons", declared_list(content.primary), note)]


def _margins(content: Content) -> list[Any]:
    if not content.margins:
        return []
    note = "declared before the data; each tested at the plan's level"
    return [card("Declared margins", declared_list(content.margins), note)]


def _paired(content: Content) -> list[Any]:
    if not content.paired:
        return []
    note = "over pairs of trials: exact McNemar test, Tango interval (covers more than it says with 20 pairs or fewer)"
    return [card("Arms compared in pairs", paired_table(content.paired), note)]


def _how_trials_end(content: Content, theme: str) -> html.Div:
    """Imported trials often carry neither stages nor times: then there is no card of them."""

    def shown(name: str) -> Any:
        return graph(name, draw(name, content, theme))

    cards = [card("Failure modes", shown("failure-modes"))]
    if content.stages:
        cards.append(card("Stages reached", [shown("stage-funnel"), *_progress(content)]))
    if any(any(curve.share) for curve in content.times):
        cards.append(card("Time to success", shown("time-to-success")))
    return html.Div(cards, className="grid wide-cells ends")


def _notices(content: Content, filters: Filters) -> list[Any]:
    found = [_moment(content, filters)] if content.since else []
    found += [notice(text) for text in content.notes]
    if content.is_blinded and not content.shows_names:
        found.append(notice("This study is blinded: arms show as codes, and effects of the factors stay hidden."))
    elif content.is_blinded:
        found.append(
            notice("This study is blinded. Looking at results by policy before unblinding weakens them.", "warn")
        )
    if filters.data_version and filters.data_version != content.data_version:
        found.append(
            notice(
                f"The data changed since this link was made: it showed version {filters.data_version}, "
                f"the trials are now at {content.data_version}.",
                "warn",
            )
        )
    return found


def _moment(content: Content, filters: Filters) -> html.Div:
    """Which moment is shown, and the way to the state of now."""
    now = format_filters(replace(filters, until=None, data_version="")) or "?"
    return notice(html.Span([f"{content.since} ", html.A("See now", href=now)]), "warn")


def _summary(content: Content, filters: Filters) -> html.Div:
    counts = content.counts
    parts: list[Any] = [_linked(f"{counts.confirmed} scored trials", counts.confirmed_href)]
    parts += [" · ", f"{counts.waiting} not yet scored"] if counts.waiting else []
    parts += [" · ", _linked(f"{counts.invalid} invalid, not counted", counts.invalid_href)] if counts.invalid else []
    link = format_filters(replace(filters, until=content.read_at, data_version=content.data_version))
    told = [*parts, f" · data version {content.data_version} · ", html.A("Link to this view", href=link, title=LASTING)]
    return html.Div([html.Span(told, className="soft"), export_links(content.exports)], className="spread")


def _linked(text: str, href: str) -> Any:
    return html.A(text, href=href) if href else text


def _empty(content: Content, filters: Filters) -> html.Div:
    if filters.conditions or filters.arms or filters.until:
        return empty("No scored trial matches these filters", "Clear a filter to see the study's other trials.")
    if content.counts.waiting:
        return empty("Trials wait for their outcome", "Results appear here as soon as an operator has scored a trial.")
    return empty(
        "No scored trials yet", "Run trials in the console once the study is locked; results appear here as they come."
    )
