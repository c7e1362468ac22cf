"""Agents that act: model, policy, approval, ledger, tool, model, and a proved answer at the end."""
