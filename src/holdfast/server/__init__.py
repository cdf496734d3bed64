"""The server: one process that gives any agent, in any language, a memory over HTTP."""
