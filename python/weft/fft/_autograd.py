"""Gradients of transforms of PyTorch's tensors.

A transform y = T x is linear, so its backward pass is the adjoint T^H, and its forward-mode derivative T itself. T^H of
fft is the transform of the other direction with the scale of this one. For rfft it is irfft of what has the numbers
halved that the other half of the spectrum repeats, and for irfft it is rfft, of which these numbers are doubled.
Padding and cropping are each other's adjoints. All is made of functions of weft.fft, so that gradients have
gradients.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

from weft._gpu.libraries import is_tensor
from weft.fft import _axes

Shape = tuple[int, ...]

_TURNED = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}
_ADJOINT = {"fft": "ifftn", "ifft": "fftn", "rfft": "irfftn", "irfft": "rfftn"}


def tracks(x: Any) -> bool:
    """Whether it is a tensor of which PyTorch follows the derivatives now."""
    if not is_tensor(x):
        return False
    torch = sys.modules["torch"]
    if x.requires_grad:
        return bool(torch.is_grad_enabled())
    forward = torch.autograd.forward_ad
    return forward._current_level >= 0 and forward.unpack_dual(x).tangent is not None


def differentiable(name: str, x: Any, s: Any, axes: Any, norm: Any, workers: Any) -> Any:
    """The transform of a tensor, with its derivatives. The axes differ."""
    return _function(sys.modules["torch"]).apply(x, name, s, axes, norm, workers)


@functools.cache
def _function(torch: Any) -> Any:
    from weft.fft._transforms import general

    class Transform(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(x: Any, name: str, s: Any, axes: Any, norm: Any, workers: Any) -> Any:
            return general(name, x.detach(), s, axes, norm, False, workers, None, None)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            x, *ctx.arguments = inputs
            ctx.shape, ctx.dtype = tuple(x.shape), x.dtype

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            adjoint = _adjoint(gradient, ctx.shape, *ctx.arguments)
            if not ctx.dtype.is_complex and adjoint.is_complex():
                adjoint = adjoint.real
            return adjoint.to(ctx.dtype), None, None, None, None, None

        @staticmethod
        def jvp(ctx: Any, tangent: Any, *_: Any) -> Any:
            name, s, axes, norm, workers = ctx.arguments
            return general(name, tangent, s, axes, norm, False, workers, None, None)

    return Transform


def _adjoint(gradient: Any, shape: Shape, name: str, s: Any, axes: Any, norm: Any, workers: Any) -> Any:
    """T^H of a gradient, where x had this shape."""
    from weft.fft._transforms import CALLS, general

    call, alone = CALLS[name], name.rstrip("2n")
    places, extents = (_axes.one_axis if call.one else _axes.several_axes)(shape, s, axes)
    n = _axes.real_extents(shape, places, extents, alone == "irfft")
    if alone == "rfft":
        gradient = gradient * _repeated(gradient, places[-1], n[-1], 0.5)
    result = general(_ADJOINT[alone], gradient, n, places, _TURNED[norm], False, workers, None, None)
    if alone == "irfft":
        result = result * _repeated(result, places[-1], n[-1], 2.0)
    return _fitted(result, shape)


def _repeated(half: Any, axis: int, n: int, factor: float) -> Any:
    """`factor` for the numbers of half a spectrum of n points that the other half repeats, 1 for the others."""
    weights = half.real.new_ones(n // 2 + 1)
    weights[1 : (n + 1) // 2] = factor
    return weights.reshape([-1 if a == axis else 1 for a in range(half.ndim)])


def _fitted(x: Any, shape: Shape) -> Any:
    """x cropped, or padded with zeros, to a shape."""
    part = tuple(slice(min(n, m)) for n, m in zip(x.shape, shape))
    if all(n <= m for n, m in zip(shape, x.shape)):
        return x[part]
    fitted = x.new_zeros(shape)
    fitted[part] = x[part]
    return fitted
