"""Episodes on disk: LeRobotDataset v3.0, written and read without the lerobot library."""

from robots.episodes.check import CheckReport, check_episodes
from robots.episodes.features import Feature
from robots.episodes.importing import ImportReport, import_episodes
from robots.episodes.merge import merge_episodes
from robots.episodes.plotdata import episode_series
from robots.episodes.proxy import write_clip
from robots.episodes.reader import Episode, EpisodeRow, EpisodesReader, VideoSpan
from robots.episodes.recover import recover_episodes
from robots.episodes.video import VideoEncoding
from robots.episodes.writer import EpisodesWriter

__all__ = [
    "CheckReport",
    "Episode",
    "EpisodeRow",
    "EpisodesReader",
    "EpisodesWriter",
    "Feature",
    "ImportReport",
    "VideoEncoding",
    "VideoSpan",
    "check_episodes",
    "episode_series",
    "import_episodes",
    "merge_episodes",
    "recover_episodes",
    "write_clip",
]
