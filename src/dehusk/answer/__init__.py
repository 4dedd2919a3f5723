"""What is said of a page: labels and why, text, Markdown, HTML, links, what it says of itself."""
