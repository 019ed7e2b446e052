"""Instructions as tokens: a small encoder that needs no download.

`TextEncoder` is the seam where a frozen CLIP text tower goes: anything that maps a list of strings to token vectors
with a mask serves.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor, nn

VOCABULARY = 4096
LONGEST = 24


class TextEncoder(Protocol):
    """What the policy asks of a text encoder."""

    def __call__(self, texts: Sequence[str]) -> tuple[Tensor, Tensor]:
        """Texts to tokens (B, L, d) and a mask that is False for padding (B, L)."""
        ...


def hash_words(text: str) -> list[int]:
    """Words of a text as stable numbers in 1 .. VOCABULARY - 1, at most `LONGEST`; 0 is padding."""
    words = re.findall(r"\w+", text.lower())[:LONGEST]
    return [1 + zlib.crc32(word.encode()) % (VOCABULARY - 1) for word in words]


class WordEncoder(nn.Module):
    """Learned word vectors plus a learned position each; words are hashed, so any word has a vector."""

    def __init__(self, d: int) -> None:
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, d, padding_idx=0)
        self.position = nn.Parameter(0.02 * torch.randn(LONGEST, d))
        self.project = nn.Linear(d, d)

    def forward(self, texts: Sequence[str]) -> tuple[Tensor, Tensor]:
        """See `TextEncoder`; an empty text is one padding word."""
        ids = [hash_words(text) or [0] for text in texts]
        longest = max(map(len, ids))
        table = torch.tensor([row + [0] * (longest - len(row)) for row in ids])
        tokens = self.project(self.words(table) + self.position[:longest])
        return tokens, table > 0
