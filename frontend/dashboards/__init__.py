"""Dash layouts and callbacks over an injected `queries` object; nothing here knows where the numbers come from."""
