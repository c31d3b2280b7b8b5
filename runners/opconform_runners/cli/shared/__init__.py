"""What several commands share: options, progress, and steps of more than one command."""
