"""What an agent may do."""
