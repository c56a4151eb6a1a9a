"""What every web server of the package has: guards, plain errors, tokens, pages, and the loop that serves."""
