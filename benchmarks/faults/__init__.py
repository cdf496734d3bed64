"""The fault test: writers on one file are killed, stopped, starved and lied to; then we count.

The way of a run: `run` plans rounds, `rounds` does one fault at a time to a `crew` of writer
processes, each writer does `acts` and tells its journal, `model` knows from the journals what must
be there, and `check` looks whether it is, `raw` even in the bytes of the file.
"""
