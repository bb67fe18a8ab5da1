"""Attraction and repulsion: the gradient of KL."""
