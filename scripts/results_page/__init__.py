"""What scripts/results-page is made of: the data (data.py), the marks of pages (marks.py), the tables that are written
whole (tables_*.py) and the numbers that nothing holds (unheld.py)."""
