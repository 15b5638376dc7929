"""One table of mechanisms, rates and directions drives every conformance test."""
