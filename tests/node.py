"""Node, for tests of the pages' scripts without a page."""

import shutil

import pytest

NODE = shutil.which("node")
# Node only adds to a machine: nothing of the lab needs it, and the tests in Chromium run the same scripts.
needs_node = pytest.mark.skipif(NODE is None, reason="no Node on this machine")
