"""The template as an answer: slots, rules for other tools, and what people look at."""
