from weft import DistArray, newDistArray  # noqa: F401
