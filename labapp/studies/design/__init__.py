"""Designing a study before it is locked: arms, conditions, plan, and what the trials can show."""
