"""How good the answers are."""
