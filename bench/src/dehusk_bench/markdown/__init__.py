"""How good Markdown is: what is measured, the gold it is measured by, and who is measured."""
