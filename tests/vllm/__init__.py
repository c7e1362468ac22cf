"""Tests against a real vLLM on this machine; `make test-vllm` runs them."""
