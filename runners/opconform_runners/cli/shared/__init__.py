"""Shared by several commands: options, output, steps and stores."""
