"""Shared by several commands: options, progress and steps."""
