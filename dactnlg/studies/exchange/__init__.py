"""Import and export of ratings in other formats: Potato annotations and the tables of the E2E challenge."""
