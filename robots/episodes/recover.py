"""Save what can be trusted of a damaged folder: the verified prefix of its episodes, in a new folder."""

from pathlib import Path
from typing import Any

from robots.episodes.check import check_episodes
from robots.episodes.merge import OnStep, merge_episodes
from robots.episodes.reader import EpisodesReader
from robots.errors import DataError


def recover_episodes(src: str | Path, dst: str | Path, *, on_step: OnStep | None = None) -> dict[str, Any]:
    """Copy the episodes before the first damaged one into a new folder; the source is left as it is.

    Args:
        src: v3.0 folder with damaged files.
        dst: a folder that does not exist yet.
        on_step: called with (episodes checked, episodes in all).

    Returns:
        `episodes` and `frames` saved, `lost` episodes, and `damage`: what was found, file by file.

    Raises:
        DataError: not even the first episode is whole; the message names the damage.
    """
    found = check_episodes(src, on_step=on_step)
    damaged = {finding.episode for finding in found.errors if finding.episode is not None}
    reader = EpisodesReader(src, broken=[])
    kept: list[int] = []
    for row in reader.episodes:
        if row.index != len(kept) or row.index in damaged:
            break
        kept.append(row.index)
    damage = [finding.message for finding in found.errors]
    if not kept:
        raise DataError(f"nothing of {src} can be recovered: {damage[0] if damage else 'it holds no episode'}")
    merged = merge_episodes([reader], dst, choose=[kept])
    return {
        "episodes": merged["episodes"],
        "frames": merged["frames"],
        "lost": len(reader) - len(kept),
        "damage": damage,
    }
