"""The library's contexts: one for each communicator, freed before MPI ends.

A context is kept as an attribute of its communicator. Making and destroying plans is collective, and Python's
garbage collector comes when it likes on each rank; so a plan whose owner is gone is only noted, and destroyed when
the ranks next make a plan in its context and all of them have noted it.
"""

from __future__ import annotations

import atexit
from typing import TYPE_CHECKING, Any

from weft import _core
from weft.distributed._mpi4py import MPI, module

if TYPE_CHECKING:
    from collections.abc import Callable

_contexts: list[Context] = []  # those that exist, in the order in which they were made


class Context:
    """A context over a duplicate of the communicator, and the plans in it. Made and closed collectively."""

    def __init__(self, comm: MPI.Intracomm) -> None:
        made = module().create(MPI._addressof(comm))
        if isinstance(made, tuple):
            _core.raise_status(made)
        self._library = made
        self.comm = comm.Dup()
        self._plans: dict[int, _core.DistributedPlan] = {}
        self._let_go: set[int] = set()
        self._made = 0
        self._orphaned = False
        _contexts.append(self)

    def create(self, plan: _core.DistributedPlan) -> int:
        """Creates the plan and tells its number, which is the same on all ranks. Collective."""
        self.settle()
        plan.create(self._library)
        self._made += 1
        self._plans[self._made] = plan
        return self._made

    def let_go(self, number: int) -> None:
        """Notes that nobody uses the plan on this rank any more. Not collective."""
        if number in self._plans:
            self._let_go.add(number)

    def settle(self) -> None:
        """Destroys the plans that all ranks have let go of. Collective."""
        if self._plans:
            everywhere = set.intersection(*self.comm.allgather(self._let_go))
            for number in sorted(everywhere):
                self.destroy(number)

    def destroy(self, number: int) -> None:
        """Destroys a plan; the second time nothing happens. Collective."""
        plan = self._plans.pop(number, None)
        self._let_go.discard(number)
        if plan is not None:
            plan.destroy()
        if self._orphaned and not self._plans:
            self.close()

    def orphan(self) -> None:
        """The communicator is being freed: closes the context as soon as it has no plans. Collective."""
        self._orphaned = True
        if not self._plans:
            self.close()

    def close(self) -> None:
        """Destroys plans and context. Collective."""
        if self not in _contexts:
            return
        _contexts.remove(self)
        for number in sorted(self._plans):
            self._plans.pop(number).destroy()
        _core.destroy_context(self._library)
        self.comm.Free()


def _close_all(*_: object) -> None:
    if MPI.Is_initialized() and not MPI.Is_finalized():
        for context in list(_contexts):
            context.close()


_keyvals: dict[str, int] = {}


def attached(comm: MPI.Intracomm, name: str, make: Callable[[], Any], free: Callable[[Any], None]) -> Any:
    """What is kept under this name as an attribute of the communicator: made when first asked for, freed with it.

    Collective.
    """
    if not _keyvals:
        # Python's own end comes before mpi4py's MPI_Finalize; the attributes of COMM_SELF go first in MPI_Finalize.
        atexit.register(_close_all)
        end = MPI.Comm.Create_keyval(delete_fn=_close_all)
        MPI.COMM_SELF.Set_attr(end, True)
        _keyvals["end"] = end
    if name not in _keyvals:
        _keyvals[name] = MPI.Comm.Create_keyval(delete_fn=lambda _comm, _keyval, value: free(value))
    found = comm.Get_attr(_keyvals[name])
    if found is None:
        found = make()
        comm.Set_attr(_keyvals[name], found)
    return found


def context_of(comm: MPI.Intracomm) -> Context:
    """The context over this communicator. Collective when first asked for."""
    context: Context = attached(comm, "context", lambda: Context(comm), Context.orphan)
    if context not in _contexts:
        raise _core.ArgumentError("weft's context of this communicator was closed as MPI or the program ended")
    return context
