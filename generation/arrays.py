"""The one array alias of the room: numbers whose shape and unit the docstrings give."""

from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]
