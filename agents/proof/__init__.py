"""Is a sentence of the answer carried by stored text: deterministic, explains itself, knows no model."""
