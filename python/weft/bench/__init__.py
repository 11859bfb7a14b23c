"""The front end of `weft bench`: reads a job, starts the process groups that measure it, and keeps the results."""
