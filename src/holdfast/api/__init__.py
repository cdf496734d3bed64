"""The library's face: `AsyncMemory`, and `Memory`, which is generated from it."""
