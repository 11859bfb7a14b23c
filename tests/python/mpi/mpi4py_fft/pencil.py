from weft import Pencil, Subcomm  # noqa: F401
