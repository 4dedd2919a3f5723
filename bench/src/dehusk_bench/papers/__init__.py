"""The tables and figures of the papers that the methods come from."""
