"""The conditions that explain failures, from the facts about cases."""
