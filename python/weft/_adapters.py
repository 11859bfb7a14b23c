"""Types of arrays that neither DLPack nor __cuda_array_interface__ is known of: weft.register_adapter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Adapter(NamedTuple):
    """How arrays of a type become arrays that weft takes, and back."""

    type: type
    to_array: Callable[[Any], Any]
    from_array: Callable[[Any, Any], Any]


_adapters: dict[type, Adapter] = {}


def register_adapter(
    type: type, to_array: Callable[[Any], Any], from_array: Callable[[Any, Any], Any]
) -> None:  # fmt: skip
    """Has weft.fft take objects of a type, and of its subclasses, and give such objects back.

    to_array(x) is an array that weft takes, on the memory of x: of NumPy, CuPy, PyTorch or JAX, or any with DLPack
    or __cuda_array_interface__. from_array(result, x) makes the object that the caller gets of the result, which is
    an array of the kind that to_array gave. Where `out` is such an object, the result is stored in to_array(out),
    and `out` is returned. Registering a type again replaces its adapter.
    """
    _adapters[type] = Adapter(type, to_array, from_array)


def adapter_of(x: Any) -> Adapter | None:
    """The adapter of the nearest type of an object; None for objects without one."""
    if not _adapters:
        return None
    for base in type(x).__mro__:
        if base in _adapters:
            return _adapters[base]
    return None


def through(adapter: Adapter, x: Any, out: Any, compute: Callable[[Any, Any], Any]) -> Any:
    """compute(array, out) of what an adapter makes of x, and of out, given back as x's type."""
    if out is not None and adapter_of(out) is not adapter:
        raise TypeError("return arrays must be of the type of x")
    if out is not None:
        compute(adapter.to_array(x), adapter.to_array(out))
        return out
    return adapter.from_array(compute(adapter.to_array(x), None), x)
