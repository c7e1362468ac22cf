"""The model store: pinned models as data, where they come from, how they are checked."""
