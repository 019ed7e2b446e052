"""The results page as a Dash app. Stateless: everything it shows follows from the address and the injected queries.

The page around it (navigation, title) belongs to the web application, which puts `index_fragment` into its template.
"""

from typing import Any

from dash import ALL, Dash, Input, Output, State, ctx, dcc, html, no_update
from dash.exceptions import PreventUpdate
from flask import Flask

from frontend.dashboards.content import HiddenStudyError, Queries, UnknownStudyError
from frontend.dashboards.drawn import file_name, for_print
from frontend.dashboards.filters import CONFIDENCES, Filters, format_filters, parse_filters
from frontend.dashboards.page import page_body
from frontend.dashboards.parts import notice

POLL_MS = 10_000
FRAGMENT = "{%css%}{%app_entry%}{%config%}{%scripts%}{%renderer%}"
WATCH_THEME = """
(_pathname) => {
  const now = () => document.documentElement.dataset.theme === "dark" ? "dark" : "light";
  if (!window.resultsThemeIsWatched) {
    window.resultsThemeIsWatched = true;
    document.addEventListener("themechange", () => dash_clientside.set_props("theme", { data: now() }));
  }
  return now();
}
"""

CHECK = "Check for drift, operators and duplicates, and fit the logistic model"
OPEN_TRIALS = """
(_clicks) => {
  const point = dash_clientside.callback_context.triggered[0]?.value?.points?.[0];
  const href = [point?.customdata].flat().find((value) => typeof value === "string" && value.startsWith("/"));
  if (href) window.location.assign(href);
  return dash_clientside.no_update;
}
"""
SAVE_FIGURE = """
async (asked) => {
  if (!asked) return dash_clientside.no_update;
  const { data, layout } = asked.figure;
  const options = { format: asked.format, width: layout.width, height: layout.height, filename: asked.name };
  await Plotly.downloadImage({ data, layout }, { ...options, scale: asked.format === "png" ? 3 : 1 });
  return asked.name;
}
"""


def create_results_app(queries: Queries, prefix: str, csrf_cookie: str = "csrftoken") -> Dash:
    """The Dash app, to be mounted under `prefix` ("/results/"); all scripts are served locally.

    Args:
        queries: where the numbers come from; asked anew in every callback.
        prefix: path of the mount, with slashes at both ends.
        csrf_cookie: cookie whose value travels back in the X-CSRFToken header.
    """
    app = Dash(
        "results",
        server=Flask("results"),
        requests_pathname_prefix=prefix,
        routes_pathname_prefix=prefix,
        serve_locally=True,
        include_assets_files=False,
        index_string=FRAGMENT,
        csrf_token_name=csrf_cookie,
        update_title="",
        add_log_handler=False,
        use_async=False,
    )
    app.layout = layout
    _refuse_in_words(app.server)
    _add_callbacks(app, queries, prefix)
    return app


def layout() -> html.Div:
    """The frame that every study shares; callbacks fill it."""
    stores = [dcc.Store(id=name) for name in ("theme", "version", "newer", "opened", "to-save", "saved")]
    checks = [html.Button(CHECK, id="run-checks", className="button small"), html.Div(id="checks", className="stack")]
    return html.Div(
        [
            dcc.Location(id="address", refresh="callback-nav"),
            *stores,
            dcc.Interval(id="poll", interval=POLL_MS),
            html.Div(_filters(), className="card results-filters"),
            html.Div(id="body", className="stack", **{"aria-live": "polite"}),
            html.Div(checks, className="stack results-checks"),
        ],
        className="stack",
    )


def _filters() -> list[html.Div]:
    levels = [{"value": c, "label": f"{c:.0%}"} for c in CONFIDENCES]
    return [
        _filter("Conditions", dcc.Checklist(id="conditions", options=[], value=[], inline=True)),
        _filter("Arms", dcc.Checklist(id="arms", options=[], value=[], inline=True)),
        _filter("Confidence", dcc.RadioItems(id="confidence", options=levels, value=0.95, inline=True)),
    ]


def _filter(label: str, control: Any) -> html.Div:
    return html.Div([html.Span(label, className="faint small"), control], className="results-filter")


def slug_of(pathname: str | None, prefix: str) -> str:
    """The study's slug in a page's path: "/results/pick-and-sort/" -> "pick-and-sort".

    Raises:
        UnknownStudyError: where the path is no study's results page.
    """
    rest = (pathname or "").removeprefix(prefix).strip("/")
    if not rest or "/" in rest:
        raise UnknownStudyError(f"{pathname} is no study's results page")
    return rest


def _add_callbacks(app: Dash, queries: Queries, prefix: str) -> None:
    app.clientside_callback(WATCH_THEME, Output("theme", "data"), Input("address", "pathname"))
    app.clientside_callback(OPEN_TRIALS, Output("opened", "data"), Input({"figure": ALL}, "clickData"))
    app.clientside_callback(SAVE_FIGURE, Output("saved", "data"), Input("to-save", "data"))
    for add in (_add_body, _add_polling, _add_checks, _add_saving, _add_boxes):
        add(app, queries, prefix)


def _add_body(app: Dash, queries: Queries, prefix: str) -> None:
    @app.callback(
        Output("body", "children"),
        Output("version", "data"),
        Input("address", "search"),
        Input("theme", "data"),
        Input("newer", "data"),
        State("address", "pathname"),
    )
    def show(search: str, theme: str | None, _newer: str | None, pathname: str) -> tuple[Any, Any]:
        if theme is None:  # the browser has not said yet; it does so at once
            raise PreventUpdate
        try:
            filters = parse_filters(search)
        except ValueError as error:
            return [notice(f"This link cannot be read. {error}", "bad")], no_update
        content = queries.content(slug_of(pathname, prefix), filters)
        return page_body(content, filters, theme), content.data_version


def _add_polling(app: Dash, queries: Queries, prefix: str) -> None:
    @app.callback(
        Output("newer", "data"),
        Input("poll", "n_intervals"),
        State("version", "data"),
        State("address", "search"),
        State("address", "pathname"),
        prevent_initial_call=True,
    )
    def poll(_count: int, version: str | None, search: str, pathname: str) -> Any:
        """Cheap and often; the page is drawn anew only when the numbers changed."""
        now = queries.data_version(slug_of(pathname, prefix), _filters_or_none(search))
        return no_update if version is None or now == version else now


def _add_checks(app: Dash, queries: Queries, prefix: str) -> None:
    @app.callback(
        Output("checks", "children"),
        Input("run-checks", "n_clicks"),
        State("address", "search"),
        State("address", "pathname"),
        prevent_initial_call=True,
    )
    def check(_clicks: int, search: str, pathname: str) -> list[Any]:
        slug, filters = slug_of(pathname, prefix), _filters_or_none(search)
        found = [notice(text, "warn") for text in queries.checks(slug, filters)]
        model = [notice(text) for text in queries.sensitivity(slug, filters)]
        return [*(found or [notice("Nothing conspicuous found.")]), *model]


def _add_saving(app: Dash, queries: Queries, prefix: str) -> None:
    @app.callback(
        Output("to-save", "data"),
        Input({"save": ALL, "format": ALL}, "n_clicks"),
        State("address", "search"),
        State("address", "pathname"),
        prevent_initial_call=True,
    )
    def draw_for_print(_clicks: list[int | None], search: str, pathname: str) -> dict[str, Any]:
        """The figure whose button was pressed, drawn for print; the browser writes the file."""
        clicks, button = ctx.triggered[0]["value"], ctx.triggered_id
        if not clicks:  # buttons that just appeared
            raise PreventUpdate
        content = queries.content(slug_of(pathname, prefix), _filters_or_none(search))
        name = button["save"]
        figure = for_print(name, content).to_plotly_json()
        return {"figure": figure, "format": button["format"], "name": file_name(name, content), "clicks": clicks}


def _add_boxes(app: Dash, queries: Queries, prefix: str) -> None:
    @app.callback(Output("conditions", "options"), Output("arms", "options"), Input("address", "pathname"))
    def offer(pathname: str) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
        conditions, arms = queries.choices(slug_of(pathname, prefix))
        return [vars(choice) for choice in conditions], [vars(choice) for choice in arms]

    @app.callback(
        Output("address", "search"),
        Output("conditions", "value"),
        Output("arms", "value"),
        Output("confidence", "value"),
        Input("address", "search"),
        Input("conditions", "value"),
        Input("arms", "value"),
        Input("confidence", "value"),
    )
    def keep_address_and_boxes_alike(
        search: str, conditions: list[str], arms: list[str], confidence: float
    ) -> tuple[Any, ...]:
        before = _filters_or_none(search)
        if ctx.triggered_id in (None, "address"):
            return no_update, list(before.conditions), list(before.arms), before.confidence
        chosen = Filters(tuple(sorted(conditions)), tuple(sorted(arms)), confidence, before.until)
        return format_filters(chosen), no_update, no_update, no_update


def _filters_or_none(search: str | None) -> Filters:
    try:
        return parse_filters(search)
    except ValueError:
        return Filters()


def _refuse_in_words(server: Flask) -> None:
    """A study that the viewer may not see answers 403, an unknown one 404; never a traceback."""
    server.register_error_handler(HiddenStudyError, lambda error: (str(error), 403))
    server.register_error_handler(UnknownStudyError, lambda error: (str(error), 404))
