"""What pages cost: time, memory, and what a run survives."""
