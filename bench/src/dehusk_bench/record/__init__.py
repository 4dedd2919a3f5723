"""The record of results: all experiments run by one command, and the report built from them.

Nothing is measured here. Each experiment is a command of `dehusk bench` with its options; it runs
in a process of its own, and what it prints becomes tables and plots.
"""
