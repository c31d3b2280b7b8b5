"""Packs: the models of several valid cases side by side in one model, since compilers take long for each model."""
