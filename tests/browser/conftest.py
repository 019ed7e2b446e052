"""Browser tests use the web server of the integration tests."""

from tests.integration.conftest import closed_connections, web, web_port

__all__ = ["closed_connections", "web", "web_port"]
