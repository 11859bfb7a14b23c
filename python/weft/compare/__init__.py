"""`weft compare`: Python's Fourier transforms beside each other, each used as its own documentation says."""
