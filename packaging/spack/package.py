from spack.package import *


class Weft(CMakePackage):
    """Fourier transforms across processes and devices: a C library, and a command for files."""

    license("BSD-3-Clause")

    # A local copy: spack develop --path /path/to/weft weft@main, then spack install weft@main.
    version("main")

    variant("mpi", default=True, description="Transforms over MPI")
    variant("fortran", default=True, description="The module for Fortran")
    variant("hdf5", default=True, description="HDF5 files in the command")
    variant("hwloc", default=True, description="Caches and cores by hwloc")
    variant("live", default=True, description="weft live")

    depends_on("c", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("jansson")
    depends_on("hwloc@2.1:", when="+hwloc")
    depends_on("mpi", when="+mpi")
    depends_on("hdf5+mpi", when="+hdf5+mpi")
    depends_on("hdf5~mpi", when="+hdf5~mpi")
    depends_on("libpng")
    depends_on("libjpeg-turbo")
    depends_on("libtiff")
    depends_on("zlib-api")
    depends_on("expat")
    depends_on("muparser")
    depends_on("libmicrohttpd", when="+live")

    # Kernels for instruction sets want __builtin_shufflevector.
    conflicts("%gcc@:11", msg="GCC before 12 compiles the native engine without SIMD")

    def cmake_args(self):
        args = [
            self.define_from_variant("WEFT_MPI", "mpi"),
            self.define_from_variant("WEFT_FORTRAN", "fortran"),
            self.define_from_variant("WEFT_HDF5", "hdf5"),
            self.define_from_variant("WEFT_HWLOC", "hwloc"),
            self.define("WEFT_TESTS", self.run_tests),
            self.define("WEFT_EXAMPLES", False),
        ]
        if self.spec.satisfies("+hdf5"):
            args.append(self.define("HDF5_ROOT", self.spec["hdf5"].prefix))
        return args
