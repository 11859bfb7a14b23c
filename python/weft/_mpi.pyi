"""Types of the part that is linked to MPI, weft._mpi."""

built_with: str
handle_bytes: int
version: str

def create(address: int, /) -> object: ...
def library_version() -> str: ...
