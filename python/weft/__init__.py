"""Python parts of weft: the front end of `weft bench` and the pictures of `weft plot`."""
