"""Other libraries' words for the same things: one module each, imported only when it is asked for.

A module here imports its library when it is imported itself, and nothing else in the package imports either:
`import tightrope` works without all of them. What a library means by its names is looked up in its source, and what has
no proven translation is refused by name. docs/interop.md shows each of them at work.
"""
