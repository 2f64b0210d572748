"""Compiler text in, frozen records out. Nothing in this package imports JAX."""
