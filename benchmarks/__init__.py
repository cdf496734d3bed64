"""Measurements and trials of Holdfast: not installed, run from a checkout."""
