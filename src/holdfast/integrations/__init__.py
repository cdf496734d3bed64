"""Frameworks whose agents remember: one module, or folder, for each; each imports its own."""
