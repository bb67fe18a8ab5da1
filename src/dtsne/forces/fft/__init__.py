"""Repulsion in linear time."""
