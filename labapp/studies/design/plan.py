"""The analysis plan of a study, declared before its data: pure. It is part of the design's hash.

Comparisons have keys: "main_a", "main_b" and "interaction" for the effects of a 2 x 2 design, "A17:K42" for two arms.
"""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from typing import Any

from robots import config
from robots.errors import ConfigError

EFFECTS = ("main_a", "main_b", "interaction")
ADJUSTMENTS = {"none": "none", "holm": "Holm, over the primary comparisons"}
TESTS = {
    "boschloo": "Boschloo, exact unconditional",
    "barnard": "Barnard, exact unconditional",
    "fisher": "Fisher, exact conditional",
    "mcnemar": "McNemar, exact, paired by block",
}
STOPPING = {
    "fixed": "Fixed: all planned trials are run, then the data are looked at once",
    "group-sequential": "Group-sequential: a few planned looks, with boundaries",
    "anytime": "Anytime: look after every block, with a betting confidence sequence",
}
SHAPES = {"obrien-fleming": "O'Brien-Fleming: strict early, nearly the full level at the end", "pocock": "Pocock: even"}
MARGIN_KINDS = {"non_inferiority": "not worse than", "equivalence": "equivalent to"}
LARGEST_LOOKS = 10


class PlanError(ValueError):
    """A part of the plan is impossible; ``field`` names it."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True)
class Margin:
    """A claim of equivalence or non-inferiority that the study may make, with its margin as a share."""

    kind: str
    first: str
    second: str
    margin: float

    def __post_init__(self) -> None:
        if self.kind not in MARGIN_KINDS:
            raise PlanError("margins", f"A margin is one of {', '.join(MARGIN_KINDS)}, not “{self.kind}”.")
        if self.first == self.second:
            raise PlanError("margins", f"A margin compares two arms; {self.first} is named twice.")
        if not 0 < self.margin < 1:
            raise PlanError("margins", f"A margin lies between 0 and 100 points, got {100 * self.margin:g}.")


@dataclass(frozen=True)
class AnalysisPlan:
    """What will be concluded, how, and when the trials end.

    Args:
        primary: keys of the comparisons that the study is about; all others are secondary.
        alpha: two-sided level of each comparison, or of the primary ones together with "holm".
        test: exact test of two arms.
        looks, shape: of a group-sequential study.
        assumed_rates: arm code -> success rate assumed for the power of the design; never a result.

    Raises:
        PlanError: naming the field.
    """

    primary: tuple[str, ...] = ()
    alpha: float = 0.05
    adjustment: str = "none"
    test: str = "boschloo"
    stopping: str = "fixed"
    looks: int = 1
    shape: str = "obrien-fleming"
    margins: tuple[Margin, ...] = ()
    assumed_rates: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 0 < self.alpha <= 0.2:
            raise PlanError("alpha", f"The level lies above 0 and up to 0.2, got {self.alpha:g}.")
        _known("adjustment", self.adjustment, ADJUSTMENTS)
        _known("test", self.test, TESTS)
        _known("stopping", self.stopping, STOPPING)
        _known("shape", self.shape, SHAPES)
        if self.stopping == "group-sequential" and not 2 <= self.looks <= LARGEST_LOOKS:
            raise PlanError("looks", f"A group-sequential study has 2 to {LARGEST_LOOKS} looks, got {self.looks}.")
        if not 1 <= self.looks <= LARGEST_LOOKS:
            raise PlanError("looks", f"A study has 1 to {LARGEST_LOOKS} looks, got {self.looks}.")
        for number, key in enumerate(self.primary):
            if not _is_comparison(key) or key in self.primary[:number]:
                known = f"{', '.join(EFFECTS)}, or the codes of two arms such as A17:K42"
                raise PlanError("primary", f"A primary comparison is one of {known}, each once; got “{key[:40]}”.")
        for code, rate in self.assumed_rates.items():
            if not 0 <= rate <= 1:
                raise PlanError("assumed_rates", f"Arm {code}: a rate lies between 0 and 100%, got {100 * rate:g}.")

    @property
    def strictest_alpha(self) -> float:
        """Level of the first of the primary comparisons: what Holm asks of the smallest p-value."""
        return self.alpha / max(1, len(self.primary)) if self.adjustment == "holm" else self.alpha

    def to_json(self) -> dict[str, Any]:
        """Plain values; a rate keeps no more digits than a person gave it."""
        values = asdict(self)
        return values | {"primary": list(self.primary), "margins": [asdict(margin) for margin in self.margins]}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "AnalysisPlan":
        """The plan of a study's row; an empty one gives the defaults.

        Raises:
            PlanError: an unknown field or an impossible value.
        """
        try:
            return config.from_json(cls, values)
        except ConfigError as error:
            if isinstance(error.__cause__, PlanError):
                raise error.__cause__ from None
            raise PlanError((error.field or "analysis_plan").split("[")[0].split(".")[0], f"{error}.") from error

    def kept_to(self, codes: Collection[str]) -> "AnalysisPlan":
        """The plan without what names an arm that is not among ``codes``."""
        return AnalysisPlan(
            **{
                **vars(self),
                "primary": tuple(k for k in self.primary if k in EFFECTS or set(k.split(":")) <= set(codes)),
                "margins": tuple(m for m in self.margins if {m.first, m.second} <= set(codes)),
                "assumed_rates": {code: rate for code, rate in self.assumed_rates.items() if code in codes},
            }
        )

    def renamed(self, codes: Mapping[str, str]) -> "AnalysisPlan":
        """The plan with its arms' codes replaced; those that ``codes`` does not have stay."""

        def new(code: str) -> str:
            return codes.get(code, code)

        def key(comparison: str) -> str:
            return comparison if comparison in EFFECTS else ":".join(map(new, comparison.split(":")))

        return AnalysisPlan(
            **{
                **vars(self),
                "primary": tuple(key(comparison) for comparison in self.primary),
                "margins": tuple(replace(m, first=new(m.first), second=new(m.second)) for m in self.margins),
                "assumed_rates": {new(code): rate for code, rate in self.assumed_rates.items()},
            }
        )


def pair_keys(codes: Collection[str]) -> list[str]:
    """Keys of all pairs of arms, in the order of the arms."""
    return [f"{first}:{second}" for first, second in combinations(codes, 2)]


def _is_comparison(key: str) -> bool:
    codes = key.split(":")
    return key in EFFECTS or (len(codes) == 2 and all(codes) and codes[0] != codes[1])


def _known(field_name: str, value: str, choices: Mapping[str, str]) -> None:
    if value not in choices:
        raise PlanError(field_name, f"Choose one of {', '.join(choices)}, not “{value}”.")
