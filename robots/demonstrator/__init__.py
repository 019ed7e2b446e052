"""A scripted demonstrator that moves like a person and works through the drivers alone."""
