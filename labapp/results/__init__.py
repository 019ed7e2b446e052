"""Results of studies: what the results page asks of the database, who may see it, and its exports."""
