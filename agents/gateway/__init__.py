"""Several named chat models behind one choice: capabilities, retries, fallback, breakers. Knows no HTTP of ours."""
