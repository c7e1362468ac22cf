"""A model that obeys the attacker: AgentDojo's attack calls against our policy and ledger."""
