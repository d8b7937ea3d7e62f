"""Between the SDK and what componentize-py generates from the contract. Only inside a component."""
