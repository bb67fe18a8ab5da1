"""The nearest neighbours of each point."""
