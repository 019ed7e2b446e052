"""Features of an episodes folder: what a row holds, and the arrow types that store it."""

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from robots.errors import DataError

VIDEO_NAMES = ("height", "width", "channels")


@dataclass(frozen=True)
class Feature:
    """One column of every row, or one camera.

    Attributes:
        dtype: numpy name (`float32`, `int64`, `bool`), `string`, `video`, or `image` (foreign folders).
        shape: of one row's value; (H, W, 3) for a camera.
        names: one name per entry of a vector.
        units: one unit per entry (`rad`, `m`, ...); None when the source does not say.
        info: further facts of a video stream, as info.json words them.
    """

    dtype: str
    shape: tuple[int, ...]
    names: tuple[str, ...] | None = None
    units: tuple[str, ...] | None = None
    info: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        size = int(np.prod(self.shape))
        for label, values in (("names", self.names), ("units", self.units)):
            if values is not None and not self.is_camera and len(values) != size:
                raise DataError(f"a feature of shape {list(self.shape)} needs {size} {label}, got {len(values)}")

    @classmethod
    def vector(
        cls, names: Iterable[str], *, units: str | Iterable[str] | None = None, dtype: str = "float32"
    ) -> "Feature":
        """A vector with one name per entry; `units` is one word for all entries, or one per entry."""
        named = tuple(names)
        per_entry = (units,) * len(named) if isinstance(units, str) else units
        return cls(dtype, (len(named),), named, None if per_entry is None else tuple(per_entry))

    @classmethod
    def scalar(cls, dtype: str = "float32", *, unit: str | None = None) -> "Feature":
        """One number (or `string`) a row."""
        return cls(dtype, (1,), None, None if unit is None else (unit,))

    @classmethod
    def video(cls, height: int, width: int, info: Mapping[str, Any] | None = None) -> "Feature":
        """A camera of RGB frames, one frame a row.

        Raises:
            DataError: an odd height or width (the yuv420p pixel format has none).
        """
        if not info and (height % 2 or width % 2 or height < 2 or width < 2):
            raise DataError(f"video frames need an even height and width, got {height}x{width}")
        return cls("video", (height, width, 3), VIDEO_NAMES, info=dict(info or {}))

    @property
    def is_video(self) -> bool:
        """Stored in mp4 files beside the table."""
        return self.dtype == "video"

    @property
    def is_camera(self) -> bool:
        """Pixels, stored as a video or (foreign folders) as images in the table."""
        return self.dtype in ("video", "image")

    @property
    def is_numeric(self) -> bool:
        """Numbers that statistics can be taken of."""
        try:
            return np.dtype(self.dtype).kind in "biuf"
        except TypeError:
            return False

    @property
    def is_known(self) -> bool:
        """A kind this code can write; foreign folders may hold others, which are read and copied as they are."""
        return self.is_numeric or self.is_video or self.dtype == "string"

    def label(self, entry: int) -> str:
        """Name of one entry for people, e.g. `3 (right_arm_joint4)`."""
        return f"{entry} ({self.names[entry]})" if self.names else str(entry)

    def arrow_type(self) -> pa.DataType:
        """The parquet column type: scalars for shape (1,), else fixed-size lists."""
        value = pa.string() if self.dtype == "string" else pa.from_numpy_dtype(np.dtype(self.dtype))
        if self.shape == (1,):
            return value
        for size in reversed(self.shape):
            value = pa.list_(value, size)
        return value

    def to_json(self) -> dict[str, Any]:
        """As info.json stores it."""
        names = None if self.names is None else list(self.names)
        values: dict[str, Any] = {"dtype": self.dtype, "shape": list(self.shape), "names": names}
        if self.units is not None:
            values["units"] = list(self.units)
        if self.info:
            values["info"] = dict(self.info)
        return values

    @classmethod
    def from_json(cls, name: str, values: Mapping[str, Any]) -> "Feature":
        """From info.json of any writer; nested name lists are flattened, other forms of names dropped.

        Raises:
            DataError: no dtype or shape.
        """
        try:
            dtype, shape = str(values["dtype"]), tuple(int(n) for n in values["shape"])
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise DataError(f"info.json: feature {name} needs a dtype and a shape, got {values!r}") from error
        names, units = _flat(values.get("names")), _flat(values.get("units"))
        info = values.get("info") or values.get("video_info") or {}
        info = info if isinstance(info, Mapping) else {}
        if dtype not in ("video", "image") and names is not None and len(names) != int(np.prod(shape)):
            names = None
        return cls(dtype, shape, names, units, info)


DEFAULT_FEATURES: dict[str, Feature] = {
    "timestamp": Feature.scalar("float32"),
    "frame_index": Feature.scalar("int64"),
    "episode_index": Feature.scalar("int64"),
    "index": Feature.scalar("int64"),
    "task_index": Feature.scalar("int64"),
}


def validated(features: Mapping[str, Feature]) -> dict[str, Feature]:
    """The features with the default columns added.

    Raises:
        DataError: a name with a slash, a default column given by hand, or no feature at all.
    """
    if not features:
        raise DataError("an episodes folder needs at least one feature")
    for name in features:
        if "/" in name or not name:
            raise DataError(f"feature name {name!r} must be non-empty and hold no '/'")
        if not features[name].is_known:
            raise DataError(
                f"feature {name} has dtype {features[name].dtype!r}: expected a numpy number, string or video"
            )
        if name in DEFAULT_FEATURES:
            raise DataError(f"feature {name} is written for every row and cannot be declared")
    return {**features, **DEFAULT_FEATURES}


def difference(ours: Mapping[str, Feature], theirs: Mapping[str, Feature]) -> str | None:
    """What keeps two folders apart, in words naming the feature; None when rows of both can share a folder."""
    for name in sorted(set(ours) ^ set(theirs)):
        return f"feature {name} is in only one of them"
    for name in ours:
        for attribute in ("dtype", "shape", "names", "units"):
            first, second = getattr(ours[name], attribute), getattr(theirs[name], attribute)
            if first != second and not (ours[name].is_camera and attribute == "names"):
                return f"feature {name} has {attribute} {_brief(first)} in one and {_brief(second)} in the other"
    return None


def with_info(feature: Feature, info: Mapping[str, Any]) -> Feature:
    """The same camera with other facts of its stream."""
    return dataclasses.replace(feature, info=dict(info))


def _flat(values: Any) -> tuple[str, ...] | None:
    if not isinstance(values, list | tuple):
        return None
    if all(isinstance(value, list | tuple) for value in values):
        values = [item for value in values for item in value]
    return tuple(str(value) for value in values) or None


def _brief(value: Any) -> str:
    text = str(list(value) if isinstance(value, tuple) else value)
    return text if len(text) <= 80 else text[:77] + "..."
