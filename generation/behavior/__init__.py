"""Where simulated motion comes from: `adapt` retargets a demonstration, `synthesize` plans with no human reference."""
