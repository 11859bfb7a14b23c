"""weft.fft as a backend of SciPy: scipy.fft.set_backend(weft.fft)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from weft.fft import _axes
from weft.fft._arrays import take

__ua_domain__ = "numpy.scipy.fft"


def __ua_function__(method: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Answers a call of scipy.fft; leaves to other backends what weft.fft has not."""
    from weft import fft

    name = method.__name__
    function = getattr(fft, name, None)
    if function is None:
        return NotImplemented
    if name.endswith(("fft2", "fftn")) and (len(args) > 1 or kwargs.keys() & {"s", "axes"}):
        return _call_as_scipy_means(function, name, *args, **kwargs)
    return function(*args, **kwargs)


def _shape_of(x: Any) -> tuple[int, ...]:
    return tuple(x.shape) if hasattr(x, "shape") else take(x).array.shape


def _call_as_scipy_means(
    function: Callable[..., Any], name: str, x: Any, s: Any = None, *rest: Any, **keywords: Any
) -> Any:
    """A transform along several axes, of which none occurs twice; s without axes is of the last ones."""
    axes = rest[0] if rest else keywords.pop("axes", (-2, -1) if name.endswith("2") else None)
    if s is not None or axes is not None:
        axes, extents = _axes.several_axes(_shape_of(x), s, axes)
        s = None if s is None else extents
        if _axes.are_repeated(axes):
            raise ValueError("all axes must be unique")
    return function(x, s, axes, *rest[1:], **keywords)
