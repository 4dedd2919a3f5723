"""The methods of the papers, and those that the papers measure against."""
