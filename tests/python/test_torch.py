"""Tensors of PyTorch on the host, and their gradients."""

from __future__ import annotations

import numpy as np
import pytest

import weft
import weft.fft

torch = pytest.importorskip("torch")
gradcheck, gradgradcheck = torch.autograd.gradcheck, torch.autograd.gradgradcheck


def tensor(rng, shape, real=False, grad=True):
    values = rng.standard_normal(shape)
    return torch.from_numpy(values if real else values + 1j * rng.standard_normal(shape)).requires_grad_(grad)


def test_tensors_go_in_and_come_out(rng):
    x = tensor(rng, (3, 8), real=True, grad=False)
    result = weft.fft.rfft(x)
    assert isinstance(result, torch.Tensor)
    assert torch.allclose(result, torch.fft.rfft(x))
    assert torch.allclose(weft.fft.fft(result.conj()), torch.fft.fft(result.conj()))
    assert torch.allclose(weft.fft.fftshift(x, 1), torch.fft.fftshift(x, 1))
    out = torch.empty(3, 5, dtype=torch.complex128)
    assert weft.fft.rfft(x, out=out) is out
    assert torch.allclose(out, result)
    assert weft.fft.ihfft(x, out=out) is out
    assert torch.allclose(out, torch.fft.ihfft(x))
    assert torch.allclose(weft.Plan((3, 8), kind="r2c").forward(x), torch.fft.rfft2(x))


ONE_AXIS = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("name", ONE_AXIS)
def test_gradients_are_those_of_torch(rng, name, norm):
    real = name in ("rfft", "ihfft")
    for n, axis in ((None, -1), (4, 0), (7, 1)):
        x = tensor(rng, (3, 6, 2), real)
        results = [getattr(library, name)(x, n, axis, norm) for library in (weft.fft, torch.fft)]
        assert torch.allclose(*results)
        direction = torch.randn_like(results[0])
        gradients = [torch.autograd.grad(result, x, direction)[0] for result in results]
        assert torch.allclose(*gradients), (n, axis)


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn"])
def test_gradients_agree_with_differences(rng, name):
    x = tensor(rng, (2, 3, 2), name in ("rfftn", "ihfftn"))
    function = getattr(weft.fft, name)
    assert gradcheck(lambda x: function(x, (2, 5), (2, 1)), x, fast_mode=True)
    assert gradcheck(lambda x: function(x, (2, 5), (2, 1)), x, fast_mode=True, check_forward_ad=True)
    assert gradgradcheck(lambda x: function(x, norm="ortho"), x, fast_mode=True)


def test_real_data_has_real_gradients(rng):
    x = tensor(rng, (3, 5), real=True)
    results = [library.fft(x, 4).abs().sum() for library in (weft.fft, torch.fft)]
    gradients = [torch.autograd.grad(result, x)[0] for result in results]
    assert gradients[0].dtype == torch.float64
    assert torch.allclose(*gradients)
    single = x.detach().float().requires_grad_()
    assert torch.autograd.grad(weft.fft.rfft(single).abs().sum(), single)[0].dtype == torch.float32


def test_axes_may_occur_twice_and_shifts_have_gradients(rng):
    x = tensor(rng, (3, 4))
    assert gradcheck(lambda x: weft.fft.fftn(x, axes=(0, 1, 0)), x, fast_mode=True)
    assert gradcheck(lambda x: weft.fft.ifftshift(weft.fft.fft(x)), x, fast_mode=True)


def test_where_gradients_are_off_or_cannot_be_kept(rng):
    x = tensor(rng, (3, 4))
    with torch.no_grad():
        assert not weft.fft.fft(x).requires_grad
    with pytest.raises(weft.ArgumentError, match="out"):
        weft.fft.fft(x, out=torch.empty(3, 4, dtype=torch.complex128))
    with pytest.raises(weft.UnsupportedError, match="detach"):
        weft.fft.dct(tensor(rng, (3, 4), real=True))


def test_a_gradient_flows_through_what_weft_computes(rng):
    x = tensor(rng, (16,), real=True)
    spectrum = weft.fft.rfft(x)
    weft.fft.irfft(spectrum * spectrum.conj(), 16).sum().backward()
    wanted = x.detach().clone().requires_grad_()
    other = torch.fft.rfft(wanted)
    torch.fft.irfft(other * other.conj(), 16).sum().backward()
    assert torch.allclose(x.grad, wanted.grad)
    assert np.isfinite(x.grad.numpy()).all()
