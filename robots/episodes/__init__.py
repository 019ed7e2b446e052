"""Episodes on disk: LeRobotDataset v3.0, written and read without the lerobot library."""

from robots.episodes.features import Feature
from robots.episodes.reader import Episode, EpisodeRow, EpisodesReader, VideoSpan
from robots.episodes.video import VideoEncoding
from robots.episodes.writer import EpisodesWriter

__all__ = [
    "Episode",
    "EpisodeRow",
    "EpisodesReader",
    "EpisodesWriter",
    "Feature",
    "VideoEncoding",
    "VideoSpan",
]
