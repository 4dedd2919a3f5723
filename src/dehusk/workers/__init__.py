"""Pages judged by other processes."""
