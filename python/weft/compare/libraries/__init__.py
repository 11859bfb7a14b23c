"""The libraries that `weft compare` knows. Another one is a file here and a line in CLASSES."""

from __future__ import annotations

from importlib import import_module

from weft.compare.library import Library, Unavailable

# In the order of tables: classes in modules of this package. A library may have one for each device.
CLASSES = (
    "numpy.NumPy",
    "scipy.SciPy",
    "pyfftw.PyFFTW",
    "mkl_fft.MKL",
    "ducc0.Ducc",
    "torch.Torch",
    "jax.JAX",
    "cupy.CuPy",
    "pyvkfft.PyVkFFTCUDA",
    "pyvkfft.PyVkFFTOpenCL",
    "weft.Weft",
    "weft.WeftCUDA",
    "weft.WeftOpenCL",
    "weft.WeftPlan",
    "weft.WeftPlanCUDA",
    "weft.WeftFFTW",
)


def classes() -> list[type[Library]]:
    found: list[type[Library]] = []
    for path in CLASSES:
        module, _, name = path.partition(".")
        found.append(getattr(import_module(f"{__name__}.{module}"), name))
    return found


def names(device: str | None = None) -> list[str]:
    """All libraries, or those that have anything for a device."""
    return list(dict.fromkeys(one.name for one in classes() if device is None or device in one.devices))


def open_all(wanted: list[str], device: str, threads: int, effort: str) -> tuple[list[Library], dict[str, str]]:
    """The libraries that can be used here, and why the others cannot."""
    found: list[Library] = []
    missing = {name: f"does not run on the device {device}" for name in wanted}
    for one in classes():
        if one.name not in wanted or device not in one.devices:
            continue
        try:
            found.append(one(device, threads, effort))
            del missing[one.name]
        except Unavailable as reason:
            missing[one.name] = str(reason)
        except ModuleNotFoundError as error:
            missing[one.name] = f"{error.name} is not installed"
        except Exception as error:  # a broken installation must not keep the others from being measured
            missing[one.name] = f"cannot be loaded: {first_line(error)}"
    return found, missing


def first_line(error: BaseException) -> str:
    """What an exception says, in one line."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
