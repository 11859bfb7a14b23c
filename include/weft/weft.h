/*
 * weft: multi-dimensional Fourier transforms on one core, on many processes, and on devices.
 *
 * The one public header of libweft. MPI programs include <weft/weft_mpi.h>, which adds one
 * function.
 *
 * A program creates a context (one process, or the ranks of a communicator), describes a problem
 * (what to compute) and options (how; zero lets weft choose), creates a plan, asks the plan which
 * box of the global arrays this rank owns, and executes the plan as often as it likes.
 *
 * Conventions. Global shape n[0..rank-1] is row-major: the last axis is contiguous. The forward
 * transform is exp(-2 pi i ...), the inverse exp(+2 pi i ...); both are unscaled unless
 * problem.norm asks otherwise; cosine and sine transforms have formulas of their own (weft_axis).
 * WEFT_R2C halves the last axis that is Fourier transformed (or the one that is WEFT_AXIS_REAL), of
 * n numbers, to n/2+1; its inverse
 * ignores the imaginary parts that a line along that axis cannot have once the other axes are
 * transformed (of its numbers 0 and n/2), but the engine cufft's
 * result is undefined where what it is given, or problem.spectral makes, is not the spectrum of
 * real data. All sizes are counted in elements of the space they belong to unless a name says
 * bytes.
 *
 * Every function returns a weft_status, sets its outputs only on success, and neither prints nor
 * aborts. Each comment says Collective (every rank of the context calls it, with the same arguments
 * unless stated) or Not collective.
 *
 * Versions. A program goes on working with later versions of the library, without being compiled
 * again. Structs keep their sizes: those that may get members have room for them in `reserved`,
 * which callers leave zero and the library sets to zero. So of members that a library is too old to
 * know, it tells 0, and it refuses (WEFT_ERROR_UNSUPPORTED) those that are given; weft_version
 * tells its age. weft_box, weft_brick, weft_octree_cell, weft_window and weft_operators stay as
 * they are. Structs with a struct_size may have another size than here, too, which is then given
 * there: what a shorter one lacks is zero, what a longer one has more must be zero. Sizes are
 * multiples of sizeof(size_t), and no less than the first version's.
 *
 * Callers' arrays are aligned to the numbers that they hold: 8 bytes for double precision, 4 for
 * single precision (a complex number is two numbers), and for a weft_storage of their own 1 byte
 * for U8 and DECIBEL_U8, 2 for I16, U16 and HALF, 4 for FLOAT and COMPLEX_HALF, 8 for DOUBLE. With
 * the engine cufft, and on WEFT_CUDA and WEFT_OPENCL where operators or conversions are a step of
 * their own (weft_plan_explain: pointwise), arrays without a storage of their own are aligned to
 * pairs: 16 bytes for double precision, 8 for single precision.
 */
#ifndef WEFT_H
#define WEFT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_VERSION_MAJOR 0
#define WEFT_VERSION_MINOR 2
#define WEFT_VERSION_PATCH 0
#define WEFT_VERSION "0.2.0"

#define WEFT_MAX_RANK 8

#if defined(__GNUC__)
#define WEFT_API __attribute__((visibility("default")))
#else
#define WEFT_API
#endif

typedef enum weft_status {
    WEFT_SUCCESS = 0,
    WEFT_ERROR_INVALID_ARGUMENT, /* an argument is wrong on this rank or another */
    WEFT_ERROR_MISMATCH,         /* the ranks passed different arguments to a collective call */
    WEFT_ERROR_UNSUPPORTED,      /* valid, but this build, device, engine or mix cannot do it */
    WEFT_ERROR_OUT_OF_MEMORY,    /* host or device memory, or a memory limit */
    WEFT_ERROR_DEVICE,           /* a device failed */
    WEFT_ERROR_ENGINE,           /* an FFT engine failed */
    WEFT_ERROR_TRANSPORT,        /* MPI or another transport failed */
    WEFT_ERROR_SYSTEM            /* the operating system refused: threads, files */
} weft_status;

typedef enum weft_kind {
    WEFT_C2C = 0, /* complex to complex */
    WEFT_R2C,     /* real to complex forward, complex to real inverse; an axis is halved */
    WEFT_R2R      /* real to real: cosine and sine transforms along all axes, or none */
} weft_kind;

/*
 * What is done along an axis. WEFT_AXIS_OF_KIND is the Fourier transform: all axes of WEFT_C2C and
 * WEFT_R2C, unless problem.axis says otherwise. The others are a cosine or sine transform of
 * x[0..n-1] into y[0..n-1], unscaled, as FFTW (REDFT00, 10, 01, 11 and RODFT00, 10, 01, 11) and
 * SciPy (dct and dst of types 1 to 4) define them. All sums run over j = 0..n-1 unless stated, k
 * over 0..n-1:
 *     DCT1  y[k] = x[0] + (-1)^k x[n-1] + 2 sum_(j=1..n-2) x[j] cos(pi j k / (n-1)), n >= 2
 *     DCT2  y[k] = 2 sum x[j] cos(pi (2j+1) k / (2n))
 *     DCT3  y[k] = x[0] + 2 sum_(j=1..n-1) x[j] cos(pi j (2k+1) / (2n))
 *     DCT4  y[k] = 2 sum x[j] cos(pi (2j+1) (2k+1) / (4n))
 *     DST1  y[k] = 2 sum x[j] sin(pi (j+1) (k+1) / (n+1))
 *     DST2  y[k] = 2 sum x[j] sin(pi (2j+1) (k+1) / (2n))
 *     DST3  y[k] = (-1)^k x[n-1] + 2 sum_(j=0..n-2) x[j] sin(pi (j+1) (2k+1) / (2n))
 *     DST4  y[k] = 2 sum x[j] sin(pi (2j+1) (2k+1) / (4n))
 * WEFT_FORWARD does what is named. WEFT_INVERSE does the other of types 2 and 3, and the same of
 * types 1 and 4: inverse(forward(x)) = N x, where N is the product over the axes of their logical
 * lengths 2 (n-1) for DCT1, 2 (n+1) for DST1, 1 for NONE, n for Fourier transforms, and 2 n for all
 * others.
 *
 * Mixed along the axes of one array, transforms commute, so the result is that of one axis after
 * the other in any order:
 *     WEFT_C2C  any of them along any axis. Of complex data a cosine or sine transform is that of
 *               the real and that of the imaginary parts.
 *     WEFT_R2C  a Fourier transform along one axis at least. The last such axis is the halved one,
 *               or the one that is WEFT_AXIS_REAL: {0, 0, WEFT_DCT2} of an array of n0 x n1 x n2
 *               makes n0 x (n1/2+1) x n2 complex numbers, the cosine transforms being done of real
 *               data. Several ranks must find that axis whole before any other Fourier axis is
 *               transformed, so it is none that the decomposition splits in real space (never axis
 *               0): WEFT_ERROR_UNSUPPORTED otherwise.
 *     WEFT_R2R  no Fourier transform.
 * At least one axis is not NONE. Cosine and sine transforms are computed by the engines native,
 * fftw, jit and reference.
 */
typedef enum weft_axis {
    WEFT_AXIS_OF_KIND = 0, /* Fourier transform; not with WEFT_R2R */
    WEFT_AXIS_NONE,        /* left as it is */
    WEFT_DCT1,
    WEFT_DCT2,
    WEFT_DCT3,
    WEFT_DCT4,
    WEFT_DST1,
    WEFT_DST2,
    WEFT_DST3,
    WEFT_DST4,
    WEFT_AXIS_REAL /* the Fourier axis of WEFT_R2C that is halved to n/2+1, instead of the last one;
                      one at most */
} weft_axis;

typedef enum weft_precision {
    WEFT_DOUBLE = 0,
    WEFT_SINGLE,
    WEFT_HALF /* WEFT_SINGLE with arrays of halves: the storages of weft_problem that are SAME
                 become HALF for real numbers and COMPLEX_HALF for complex ones. Others stay, and
                 are of the numbers in single precision. Mind the range of halves: 65504 */
} weft_precision;

/* Which direction is scaled by 1/N (the product of the logical lengths of weft_axis): NumPy's and
 * SciPy's meaning. ORTHO scales both by 1/sqrt(N). For cosine and sine transforms that is SciPy's
 * norm="ortho" with orthogonalize=False: types 1 to 3 are then not orthogonal, since the factors
 * sqrt(2) of their first and last elements are not part of it. */
typedef enum weft_norm {
    WEFT_NORM_NONE = 0,
    WEFT_NORM_BACKWARD,
    WEFT_NORM_ORTHO,
    WEFT_NORM_FORWARD
} weft_norm;

/* WEFT_CONVOLVE goes forward, through problem.spectral, and back, from WEFT_INPUT to WEFT_INPUT, in
 * plans with options.convolve: a cyclic convolution with what has the operators for its spectrum.
 */
typedef enum weft_direction { WEFT_FORWARD = 0, WEFT_INVERSE, WEFT_CONVOLVE } weft_direction;

/* WEFT_INPUT and WEFT_OUTPUT are the two ends of the forward transform. The inverse goes from
 * WEFT_OUTPUT to WEFT_RESULT, and WEFT_CONVOLVE from WEFT_INPUT to WEFT_RESULT, which is WEFT_INPUT
 * unless problem.crop_to says otherwise. */
typedef enum weft_space { WEFT_INPUT = 0, WEFT_OUTPUT, WEFT_RESULT } weft_space;

typedef enum weft_decomposition {
    WEFT_DECOMPOSITION_AUTO = 0,
    WEFT_SLAB_2D1D, /* axis 0 split; FFT of the others; exchange; FFT of axis 0; result split along
                       axis 1 */
    WEFT_SLAB_1D2D, /* axis 0 split; FFT of the last; exchange; FFT of the rest; result split along
                       the last */
    WEFT_SLAB_Y_ZX, /* axis 0 split; FFT of axis 1; exchange; FFT of the rest; result split along
                       axis 1 */
    WEFT_PENCIL,    /* leading axes split over a grid; one exchange for each grid dimension */
    WEFT_BRICK /* problem.input and output give the boxes; weft chooses the chain between them */
} weft_decomposition;

typedef enum weft_variant {
    WEFT_VARIANT_AUTO = 0,
    WEFT_DEFAULT,  /* memory order never changes */
    WEFT_REALIGNED /* passes store so that the next axis is contiguous and messages need no packing
                    */
} weft_variant;

typedef enum weft_exchange {
    WEFT_EXCHANGE_AUTO = 0,
    WEFT_P2P_SYNC,    /* pack for one partner, send, next partner; unpack as messages arrive */
    WEFT_P2P_STREAMS, /* packs run on queues; a sender sends each as soon as it is packed */
    WEFT_P2P_TYPE,    /* point to point with derived datatypes, no packing */
    WEFT_A2A_SYNC,    /* pack for all, one all-to-all, unpack */
    WEFT_A2A_TYPE,    /* one all-to-all with derived datatypes, no packing */
    WEFT_NCCL, /* GPUs send and receive among themselves: libnccl, opened at run time. Only with
                  WEFT_CUDA and a GPU for each rank; WEFT_ERROR_UNSUPPORTED otherwise. Plans
                  that use it must not be executed at the same time on one GPU */
    WEFT_PEER  /* ranks of one node copy straight from each other's arrays in shared memory, or in
                  what devices lend: no packing, no messages; WEFT_ERROR_UNSUPPORTED where a
                  redistribution crosses nodes, and on devices that do not lend */
} weft_exchange;

typedef enum weft_engine {
    WEFT_ENGINE_AUTO = 0,
    WEFT_ENGINE_NATIVE, /* weft's own kernels on the CPU: every size, by the widest SIMD set that it
                           has */
    WEFT_ENGINE_FFTW,   /* libfftw3 and libfftw3f, opened at run time */
    WEFT_ENGINE_CUFFT,  /* libcufft, opened at run time; only with WEFT_CUDA, and with WEFT_OPENMP
                           where its device is an NVIDIA GPU */
    WEFT_ENGINE_JIT,    /* weft's own kernels, compiled at run time: every size, on WEFT_CUDA and
                           WEFT_OPENCL */
    WEFT_ENGINE_REFERENCE, /* portable C, every size, accurate rather than fast */
    WEFT_ENGINE_IDENTITY,  /* transforms nothing: the redistributions of a WEFT_C2C plan alone */
    WEFT_ENGINE_OPENMP     /* weft's own kernels in OpenMP's target regions: every size; only with
                              WEFT_OPENMP */
} weft_engine;

typedef enum weft_device {
    WEFT_HOST = 0,
    WEFT_CUDA,     /* an NVIDIA GPU: by the rank on its node, or WEFT_CUDA_DEVICE of the
                      environment */
    WEFT_OPENCL,   /* a device of OpenCL 1.2: WEFT_OPENCL_DEVICE of the environment (a number, or a
                      part of its name), else a GPU by the rank on its node, else the first */
    WEFT_OPENMP,   /* OpenMP's target directives: the device whose number WEFT_OPENMP_DEVICE of the
                      environment gives, else by the rank on its node; where there is none, or it
                      is "host", the host. Functions, matrices, reductions, conversions, padding,
                      kept spectra, real-to-real transforms and 1-D transforms over several ranks
                      are WEFT_ERROR_UNSUPPORTED there */
    WEFT_SIMULATED /* a device made of threads with its own address space, for tests: see
                      docs/design.md */
} weft_device;

/* Where the buffers given to weft_execute lie. */
typedef enum weft_location {
    WEFT_LOCATION_DEVICE = 0, /* on the device that computes */
    WEFT_LOCATION_HOST
} weft_location;

/* Whether messages leave from device memory (the transport understands it) or through page-locked
 * host memory. Given methods that send none through the transport (WEFT_PEER, WEFT_NCCL) take no
 * notice; with WEFT_STAGED weft does not choose them. */
typedef enum weft_awareness { WEFT_AWARENESS_AUTO = 0, WEFT_AWARE, WEFT_STAGED } weft_awareness;

/* How long planning may take: ESTIMATE never runs a transform, MEASURE times the best few
 * candidates, PATIENT times them all. A candidate that cannot be built, or that fails while it is
 * timed, on some rank is left out on all of them (weft_plan_explain says why) and the next one is
 * tried; planning fails where all do, with the first failure. Engines take the same hint. */
typedef enum weft_effort { WEFT_ESTIMATE = 0, WEFT_MEASURE, WEFT_PATIENT } weft_effort;

/* Whether callers' arrays on the host (WEFT_LOCATION_HOST, but on WEFT_HOST any) pass the device
 * tile by tile, so that it never holds more than a few tiles: each pass transforms as many axes as
 * a tile can hold all of, and what is between two passes lies in the output. As much of that as
 * device_memory_limit or, without one, the memory that the device has free leaves room for stays on
 * the device instead, unless it is WEFT_HOST. Copies in both directions and transforms overlap. The
 * input of weft_execute out of place is read only; the output is read and written several times.
 * Where what is between two passes may be larger than the output, which is cropped or truncated, or
 * the real result of weft_convolution_create, it lies in page-locked memory of the plan's instead.
 * Over several ranks the plan holds arrays of this rank's share in page-locked memory between
 * passes. By WEFT_PEER partners' devices copy their tiles from it: there is one such array, or two
 * where it is redistributed more than once, as in a convolution. By messages it leaves in
 * options.chunks tiles (0: up to eight), each as soon as it has been copied from the device:
 * WEFT_P2P_SYNC, WEFT_P2P_STREAMS and WEFT_A2A_SYNC have two arrays, or three; WEFT_P2P_TYPE and
 * WEFT_A2A_TYPE have one, or two with WEFT_REALIGNED, WEFT_WIRE_SINGLE or by
 * weft_convolution_create.
 * Refused with WEFT_ERROR_UNSUPPORTED are Fourier transforms mixed with real-to-real ones,
 * results and spectra that are converted, arrays with strides, padding along axes that are not
 * transformed, matrices of fields, reductions, operators that the engine does not apply as it loads
 * and stores, and kept spectra; over several ranks also problem.input and output, lines, and
 * WEFT_NCCL. On one rank, Fourier transforms by the engines native and jit have the bits of a plan
 * that holds the arrays on the device, unless boxes of input and output have different memory
 * orders; over several those of native do, where no rank has a single line. */
typedef enum weft_stream {
    /* Where device_memory_limit, or else what the device has free, does not hold the arrays */
    WEFT_STREAM_AUTO = 0,
    WEFT_STREAM_ON,
    WEFT_STREAM_OFF,
    WEFT_STREAM_SYNC /* one thing after another, nothing stays on the device: for comparison */
} weft_stream;

/* What double-precision numbers are while they travel: over the link between the passes of a
 * streamed plan, and in host memory there, and in redistributions over ranks. WEFT_WIRE_SINGLE
 * rounds them to single precision before, so that half as many bytes travel, and widens them behind
 * that. Transforms are computed, and callers' arrays are, in double precision as ever. All of an
 * array is rounded, what stays on the device between passes, or on a rank, too, so that bits depend
 * neither on that nor on the exchange method. Between passes the numbers of a row lie in the first
 * half of the row's place in the output. Exchanges of plans that do not stream do not overlap with
 * transforms then, whatever options.chunks says.
 *
 * Errors: rounding moves a number x, the real and the imaginary part each, by at most 2^-24 |x|,
 * and so an array by at most 2^-24 of its L2 norm. Transforms are unitary but for a factor, so they
 * keep that ratio: k roundings add at most k 2^-24 = 6.0e-8 k to the relative L2 error of the
 * result. What is to be expected is less: an error is spread evenly over +-2^-24 times the power of
 * two below the number, which is 2^-24/sqrt(3) in the root mean square, and mantissas spread evenly
 * over 1 to 2 have sqrt(7/3). As roundings are independent of each other, that makes
 * 2^-24 sqrt(k/7) = 2.3e-8 sqrt(k); 2.5e-8 sqrt(k) is what comes out for noise. k is one less than
 * the number of passes of a streamed plan on one rank, and the number of redistributions of a plan
 * that does not stream; over several ranks what a streamed plan sends is rounded once, as it leaves
 * the device. Operators behind a rounding that weaken the larger part of what there is make the
 * ratio larger.
 *
 * Magnitudes from 2^128 - 2^103 = 3.4e38 on become infinite, so that results are infinite or NaN,
 * without an error. Numbers below 2^-126 = 1.2e-38 are moved by up to 2^-150 = 7e-46, however small
 * they are, or become 0 on devices that do not have such numbers.
 *
 * WEFT_SINGLE and WEFT_HALF leave it without effect, and so does a plan on one rank that does not
 * stream: nothing travels. WEFT_ERROR_UNSUPPORTED with streams of WEFT_OPENMP, whose engine has
 * no conversions. */
typedef enum weft_wire {
    WEFT_WIRE_SAME = 0, /* as they are computed with */
    WEFT_WIRE_SINGLE
} weft_wire;

/* Whether in == out in weft_execute. A plan told beforehand plans faster and may hold less memory.
 */
typedef enum weft_placement {
    WEFT_PLACEMENT_ANY = 0,
    WEFT_OUT_OF_PLACE,
    WEFT_IN_PLACE
} weft_placement;

typedef enum weft_format { WEFT_TEXT = 0, WEFT_JSON } weft_format;

/* What a rank does during an execution. */
typedef enum weft_phase {
    WEFT_PHASE_FFT = 0,
    WEFT_PHASE_PACK,
    WEFT_PHASE_EXCHANGE,
    WEFT_PHASE_UNPACK,
    WEFT_PHASE_COPY,
    WEFT_PHASE_LOCAL
} weft_phase;

typedef struct weft_context_private *weft_context;
typedef struct weft_plan_private *weft_plan;

/* A box of a global array: lo[a] <= index < lo[a] + n[a] along axis a. Empty where any n[a] is 0.
 * Entries past the rank of the problem are lo 0, n 1. */
typedef struct weft_box {
    int64_t lo[WEFT_MAX_RANK];
    int64_t n[WEFT_MAX_RANK];
} weft_box;

/* A rank's share of a global array as the caller stores it. order lists the axes from slowest to
 * contiguous; all zero means 0, 1, 2, ... (row-major). The boxes of all ranks must tile the global
 * array. */
typedef struct weft_brick {
    weft_box box;
    int order[WEFT_MAX_RANK];
} weft_brick;

/*
 * Pointwise operators: what a plan multiplies arrays by, element by element, on the way in or out
 * of its transforms. They see global indices, whatever box and memory order a rank holds, and treat
 * the members of a batch alike. What they multiply by does not depend on the decomposition or the
 * exchange method.
 */
typedef enum weft_operator_kind {
    WEFT_OPERATOR_SCALE = 1, /* by factor */
    WEFT_OPERATOR_WINDOW,    /* by the product of a window along each axis */
    WEFT_OPERATOR_SHIFT,     /* by the phases that shift what is on the other side of the transform
                                cyclically, by shift[a] points along axis a */
    WEFT_OPERATOR_TABLE,     /* by the product of one factor for each index of each axis */
    WEFT_OPERATOR_FUNCTION,  /* what the caller's function, or on GPUs the caller's snippet, does */
    WEFT_OPERATOR_ARRAY,  /* by an array with a factor for each element: see weft_plan_set_array */
    WEFT_OPERATOR_MATRIX, /* what the caller's function, or on GPUs the caller's snippet, makes of
                             all fields of a point: others, result_fields of weft_problem */
    WEFT_OPERATOR_REDUCE, /* by nothing: it remembers a sum, a norm or the largest magnitude of the
                             elements as they are at its place in the list: see weft_plan_reduction
                           */
    WEFT_OPERATOR_MATRIX_ARRAY /* the fields of a point by a matrix of its own, of an array: see
                                  weft_plan_set_array */
} weft_operator_kind;

/* What a WEFT_OPERATOR_REDUCE remembers of the elements x. */
typedef enum weft_reduction {
    WEFT_SUM = 0, /* the sum of x */
    WEFT_NORM,    /* the square root of the sum of |x|^2 */
    WEFT_MAX      /* the largest |x|; NaN if one is */
} weft_reduction;

/* Arrays of WEFT_OPERATOR_ARRAY and WEFT_OPERATOR_MATRIX_ARRAY have numbers from 0 to
 * WEFT_MAX_ARRAYS - 1. */
#define WEFT_MAX_ARRAYS 16

/* Parameters of the caller's functions and snippets (weft_plan_set_parameter) have numbers from 0
 * to WEFT_MAX_PARAMETERS - 1. */
#define WEFT_MAX_PARAMETERS 16

/* Reductions of WEFT_OPERATOR_REDUCE have numbers from 0 to WEFT_MAX_REDUCTIONS - 1. */
#define WEFT_MAX_REDUCTIONS 16

/* Windows of M points as scipy.signal.windows defines them; one point (n = 1) is 1, whether
 * symmetric or periodic. With t = i/(M-1):
 * cosine sums a0 - a1 cos 2 pi t + a2 cos 4 pi t - a3 cos 6 pi t + a4 cos 8 pi t (Harris, "On the
 * use of windows for harmonic analysis with the discrete Fourier transform", Proc. IEEE 66, 1978;
 * the flat top: D'Antona and Ferrero, "Digital signal processing for measurement systems", 2006).
 */
typedef enum weft_window_kind {
    WEFT_WINDOW_NONE = 0,
    WEFT_WINDOW_HANN,            /* 0.5, 0.5 */
    WEFT_WINDOW_HAMMING,         /* 0.54, 0.46 */
    WEFT_WINDOW_BLACKMAN,        /* 0.42, 0.5, 0.08 */
    WEFT_WINDOW_BLACKMAN_HARRIS, /* 0.35875, 0.48829, 0.14128, 0.01168 */
    WEFT_WINDOW_FLAT_TOP,        /* 0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368 */
    WEFT_WINDOW_KAISER,   /* I0(beta sqrt(1 - (2t-1)^2)) / I0(beta); parameter: beta, 0 to 10000 */
    WEFT_WINDOW_GAUSSIAN, /* exp(-(i - (M-1)/2)^2 / (2 sigma^2)); parameter: sigma > 0, in points */
    WEFT_WINDOW_TUKEY     /* (1 - cos(2 pi t/alpha)) / 2 where t <= alpha/2, and mirrored; 1 in
                             between; parameter: alpha; 0 or less: 1 everywhere, 1 or more: Hann */
} weft_window_kind;

typedef struct weft_window {
    weft_window_kind kind;
    int symmetric;    /* 0: periodic, the first n of M = n + 1 points, for spectra; 1: M = n */
    double parameter; /* of Kaiser, Gaussian and Tukey; taken as it is */
} weft_window;

/* What a caller's function gets: elements that lie side by side, consecutive along `axis`. */
typedef struct weft_operator_run {
    void *data; /* count elements, to be changed in place */
    int64_t count;
    int axis; /* depends on the memory order, and, where a box is 1 wide, on the box */
    int64_t index[WEFT_MAX_RANK]; /* global index of the first element; the k-th is k further along
                                     axis. Entries past the rank are 0 */
    int64_t batch;                /* member of the batch */
    weft_precision precision;     /* double or float */
    int complex_elements;         /* 1: each is a pair, real part first */
    const double *parameter; /* the plan's parameters, of which it reads weft_operator.parameters;
                                those that were never set are 0 */
    int64_t reserved[3];
} weft_operator_run;

/* The caller's function. It is called once for each run during weft_execute, in no order and from
 * several threads at once, with runs of any length. It must not call weft. */
typedef void (*weft_operator_function)(const weft_operator_run *run, void *argument);

/* What a caller's function of all fields gets: count points, consecutive along `axis`. */
typedef struct weft_fields_run {
    const void *const *in; /* [in_fields]: each field at the first point. Read only; an array of out
                              may be one of in, so all fields of a point are read before any is
                              written */
    void *const *out;      /* [out_fields] */
    int64_t count;
    int64_t in_stride, out_stride; /* elements from one point to the next */
    int in_fields, out_fields;
    int axis;
    int64_t index[WEFT_MAX_RANK]; /* as in weft_operator_run */
    int64_t batch;
    weft_precision precision;
    int complex_elements;
    const double *parameter; /* as in weft_operator_run */
    int64_t reserved[3];
} weft_fields_run;

/* Called as a weft_operator_function is. */
typedef void (*weft_fields_function)(const weft_fields_run *run, void *argument);

/* The most fields of a point. */
#define WEFT_MAX_FIELDS 64

typedef struct weft_operator {
    size_t struct_size; /* 0, or sizeof(weft_operator); equal in all of a list */
    weft_operator_kind kind;
    double factor;                     /* SCALE: any finite number, taken as it is */
    weft_window window[WEFT_MAX_RANK]; /* WINDOW: along each axis, over its indices as they are
                                          stored; at least one is not NONE */
    /* SHIFT: points along each axis, fractions too, not all 0. The shift theorem: in `load` the
     * spectrum moves up by so many indices (factors exp(2 pi i j s / n) of index j), in `spectral`
     * what an inverse transform makes of it (exp(-2 pi i k s / n) of the frequency k, -n/2 to n/2;
     * its real part at n/2), and `store` undoes what `load` does, for spectra that are stored
     * shifted. n/2, rounded down, puts the origin into the middle (fftshift). Arrays of real
     * numbers take multiples of n/2 only, whose factors are 1 and -1. Not with WEFT_R2R, whose
     * transforms have no such theorem. */
    double shift[WEFT_MAX_RANK];
    /* TABLE: for each axis NULL, or as many factors as the global array has indices along it (in
     * output space of WEFT_R2C n/2+1 along the halved one) */
    const double *table[WEFT_MAX_RANK];
    int complex_factors; /* TABLE, ARRAY, MATRIX_ARRAY: 1: each factor is a pair, real part first;
                            not of real data */
    weft_operator_function function; /* FUNCTION; argument is passed on, and may differ by rank */
    void *argument;
    /* FUNCTION and MATRIX on devices that cannot run the host's code (cuda, opencl): statements of
     * C, compiled with the kernels of the plan. Of a FUNCTION they change `value`. It is a `real`
     * or, of complex elements, a `real2` with the parts value.x and value.y; real is double or
     * float. Of a MATRIX they set out[0], out[1], ..., which are 0 until then, to what they make of
     * the fields in[0], in[1], ... of the point, numbers of the same type. They may read
     *     const long64 *index    the element's global index along each axis
     *     const long64 *n        the global array's extents
     *     long64 batch           the member of the batch
     *     const real *parameter  the plan's parameters, if `parameters` is not 0
     * and call the functions that OpenCL C and CUDA C++ have in common; words of either language
     * are no names (half). What does not compile fails in weft_plan_create with WEFT_ERROR_DEVICE
     * and the compiler's message, lines counted from the snippet's first.
     * Where a plan may run on host and device, give both, the function and the snippet. */
    const char *snippet;
    int64_t array; /* ARRAY, MATRIX_ARRAY: its number. Several operators may have the same one.
                      REDUCE: the reduction's number, which no other one of the plan has */
    /* MATRIX: the function, which gets `argument`, too. One MATRIX or MATRIX_ARRAY, and nothing but
     * scalings beside it, may be in problem.spectral; with WEFT_STORAGE_SAME there, and without
     * options.keep_spectrum. In compositions it may also be in real space between an inverse stage
     * and a forward one: see weft_stage.result_fields. */
    weft_fields_function matrix;
    /* FUNCTION, MATRIX: how many of the plan's parameters (weft_plan_set_parameter) the function
     * and the snippet read: those of numbers 0 to parameters - 1, up to WEFT_MAX_PARAMETERS */
    int64_t parameters;
    int64_t reduction; /* REDUCE: a weft_reduction. Not together with a matrix */
    int64_t reserved[4];
} weft_operator;

/* Operators, applied in order. Neighbouring ones that are no functions, arrays or reductions are
 * multiplied together first, one table of factors for each axis, in long double precision. On
 * devices that cannot run the host's code a list has room for 64 of what it then comes to: tables,
 * and rank + 1 numbers for each snippet. WEFT_ERROR_UNSUPPORTED beyond. */
typedef struct weft_operators {
    const weft_operator *list;
    int count; /* up to WEFT_MAX_OPERATORS */
} weft_operators;

#define WEFT_MAX_OPERATORS 64

/* What a caller's array holds in memory, where that is not what the transform works on: numbers
 * that are converted as they are loaded and stored. Arrays in real space may hold all but
 * DECIBEL_U8, those of WEFT_R2C no COMPLEX_HALF; spectra SAME, DECIBEL_U8 or COMPLEX_HALF. Of a
 * complex array (WEFT_C2C) real numbers are the real parts: imaginary parts are 0 when loaded, and
 * not stored. Integers are rounded to the nearest (halves to even) and saturated when stored. */
typedef enum weft_storage {
    WEFT_STORAGE_SAME = 0,
    WEFT_STORAGE_U8,
    WEFT_STORAGE_I16,
    WEFT_STORAGE_U16,
    WEFT_STORAGE_HALF, /* IEEE 754 binary16 */
    WEFT_STORAGE_FLOAT,
    WEFT_STORAGE_DOUBLE,
    WEFT_STORAGE_DECIBEL_U8,  /* 10 log10(|z|^2), decibels[0] being 0 and decibels[1] 255; rounded
                                and saturated. There is no way back: see weft_problem */
    WEFT_STORAGE_COMPLEX_HALF /* both parts as halves, real part first */
} weft_storage;

typedef struct weft_context_options {
    size_t struct_size;  /* 0, or sizeof(weft_context_options) */
    int simulated_ranks; /* > 0: plan as rank 0 of so many ranks, without them; such plans cannot be
                            executed, so they are made with WEFT_ESTIMATE whatever the effort */
    int64_t reserved[6];
} weft_context_options;

/* What to compute. Zero fields take their default. Equal on all ranks, but for input and output.
 * Entries of arrays past the rank are not read. Arrays have up to 2^60 bytes, counting every number
 * as a complex double. */
typedef struct weft_problem {
    size_t struct_size;       /* 0, or sizeof(weft_problem) */
    int rank;                 /* 1 to WEFT_MAX_RANK */
    int64_t n[WEFT_MAX_RANK]; /* global shape in real (input) space, each >= 1 */
    weft_kind kind;
    weft_precision precision;
    int64_t batch; /* arrays stored one after the other (slowest index); 0 means 1 */
    weft_norm norm;
    const weft_brick
        *input; /* this rank's box and order in input space; NULL: as the decomposition gives */
    const weft_brick *output; /* the same in output space (halved axis n/2+1 for WEFT_R2C); give it
                                 on all ranks or on none. Read during weft_plan_create only. */
    /* Operators on the real-space array as a forward transform loads it, on its spectrum as it is
     * stored (after problem.norm), and on the real-space array as an inverse transform stores it
     * (after problem.norm). Copied by weft_plan_create, tables and snippets included; equal on all
     * ranks. The engine jit applies them as it loads and stores elements, without another trip
     * through memory, and so does native with norms, other scalings of results and, where it can,
     * windows, tables and shifts; otherwise they are steps of their own, as weft_plan_explain
     * says. Results have the same bits either way on the host. */
    weft_operators load, spectral, store;
    /* The caller's arrays at the same places, before `load` and after the other two: what they
     * hold, and, in real space, how far they reach. Along axis a the array has pad_from[a] <= n[a]
     * indices (0: n[a]); a forward transform takes zeros beyond and an inverse one crops what it
     * stores, without reading, writing or operating on what is not there. Boxes (weft_plan_box) and
     * bytes are those of the arrays in memory. What is converted, padded or cropped is not
     * transformed in place, and has no bricks on that side. Where spectral_storage is DECIBEL_U8,
     * an inverse transform loads the spectrum as it would with SAME (of WEFT_HALF: complex halves).
     */
    weft_storage load_storage, spectral_storage, store_storage;
    double decibels[2]; /* of WEFT_STORAGE_DECIBEL_U8; two different finite numbers */
    int64_t pad_from[WEFT_MAX_RANK];
    /* What is done along each axis, for WEFT_R2R of all of them: see weft_axis. */
    weft_axis axis[WEFT_MAX_RANK];
    /* How far what WEFT_INVERSE and WEFT_CONVOLVE store reaches, where that differs from pad_from:
     * indices 0 to crop_to[a] - 1 along axis a, of n[a]. 0: as pad_from says. */
    int64_t crop_to[WEFT_MAX_RANK];
    /* The caller's arrays in memory, in contexts of one process: elements between neighbours along
     * each axis, and between members of the batch, negative ones included; the address that is
     * given is that of element 0 of all axes. Without any stride (all 0) the array is row-major,
     * one member after the other; with one, all axes of more than one index need theirs, and so
     * does a batch of several members. No two elements share an address: in the order of their
     * absolute values, each stride must be larger than what the axes before it reach, so arrays
     * whose axes interleave otherwise are refused. in_stride counts elements of the real space (of
     * load_storage and store_storage), which forward transforms read and inverse ones write and
     * WEFT_CONVOLVE does both, out_stride those of the spectrum. What lies between the elements is
     * not written, and read only where arrays must be copied to a device. in == out where both
     * arrays are the same view and the kind is WEFT_C2C or WEFT_R2R, or with WEFT_CONVOLVE. Engines
     * that do not take a view (cufft and fftw none with negative strides) transform a copy. Not
     * with problem.input, problem.output, and out_stride not with options.keep_spectrum. */
    int64_t in_stride[WEFT_MAX_RANK], out_stride[WEFT_MAX_RANK];
    int64_t in_batch_stride, out_batch_stride;
    /* Fields of each point (the components of a vector or a tensor), up to WEFT_MAX_FIELDS; 0: 1.
     * Each is transformed as a member of the batch is; a WEFT_OPERATOR_MATRIX or _MATRIX_ARRAY sees
     * those of a point together, and may make result_fields of them (0: as many), which is what is
     * stored in WEFT_OUTPUT and WEFT_RESULT. In memory the fields of a member follow each other,
     * one whole array after the other; with fields_fastest = 1 the fields of a point do (then batch
     * is 1). To weft_operator_run.batch, field f of member b is b * fields + f. */
    int64_t fields, result_fields, fields_fastest;
    /* Spectral truncation: along axis a the spectrum is that of truncate_to[a] points, of n[a] (0:
     * all), which are its extents in memory (of the halved axis truncate_to[a] / 2 + 1) and for
     * `spectral`. Forward transforms store only the frequencies that so many points have: k with
     * -m/2 <= k < m/2 of Fourier axes, m being truncate_to[a] (0 <= k <= m/2 of the halved one),
     * and the first m of cosine and sine transforms; inverse ones take zeros at the others. What is
     * not stored is not sent either. Numbers are those of n points, and so is problem.norm. With n
     * = 3/2 m products in real space are free of aliasing (Orszag 1971, "3/2 rule"). Never in
     * place. Not along axes that are not transformed, and of lines over several ranks not at all.
     */
    int64_t truncate_to[WEFT_MAX_RANK];
    int64_t reserved[13];
} weft_problem;

/* How to compute it. Zero fields are chosen by weft. Equal on all ranks.
 *
 * Bits: plans for the same problem give the same bits, whatever their exchange methods, if they
 * have the same chain (decomposition, variant and grid), engine, device and placement, and the
 * engine is not FFTW from WEFT_MEASURE on, whose own plans are measured. With WEFT_ESTIMATE the
 * chain that weft chooses does not depend on the exchange method, unless with the given one another
 * chain is predicted to be faster by half as much again, or the given one cannot be used in that
 * chain. From WEFT_MEASURE on the clock chooses it: who wants the same bits gives decomposition,
 * variant and grid. */
typedef struct weft_options {
    size_t struct_size; /* 0, or sizeof(weft_options) */
    weft_decomposition decomposition;
    int grid[WEFT_MAX_RANK]; /* ranks along each split axis; trailing zeros end it; the product is
                                all ranks */
    /* One for each redistribution in the order of the forward transform, of which those from and to
     * bricks take the first and the last; entries beyond are not used. Entries left 0 repeat the
     * one before, and those before the first given one are chosen by weft: {0, WEFT_PEER} is
     * whatever suits for the first, and peer for the second. WEFT_ERROR_UNSUPPORTED, with the
     * entry, where the ranks of a redistribution cannot use what is given. */
    weft_exchange exchange[WEFT_MAX_RANK];
    weft_variant variant;
    weft_engine engine;
    weft_device device;
    weft_location location;
    weft_awareness device_aware;
    int chunks;  /* parts that each exchange goes in, so that transforms work on one while another
                    travels, up to 1024; fewer where an axis is shorter; 0: weft chooses */
    int threads; /* threads of each rank; 0 means 1 */
    weft_effort effort;
    weft_placement placement;
    /* Bytes a plan may hold on the device; 0: no limit. Plans that may stream (WEFT_LOCATION_HOST)
     * then count on seven eighths of what the device says is free when they are made: on WEFT_CUDA
     * this rank's part of its GPU, by the number of ranks that use it, and of all ranks' parts the
     * smallest. A streamed plan takes most of that, so give limits where several plans, or others,
     * are to share a device. WEFT_OPENCL and WEFT_OPENMP do not tell: a plan there streams by
     * itself where an allocation fails. */
    size_t device_memory_limit;
    int trace;    /* 1: keep the spans of each execution for weft_plan_trace */
    int convolve; /* 1: the plan can WEFT_CONVOLVE too. The spectrum is never stored as the caller
                     would get it, and the engine jit goes forward and back along the last axis in
                     one trip through memory */
    int keep_spectrum; /* 1: convolutions store the spectrum, too: see weft_convolve. With convolve,
                          without bricks, on devices with WEFT_LOCATION_DEVICE */
    int64_t device_number; /* WEFT_CUDA and WEFT_OPENMP, in contexts of one process: 1 + the number
                              of the GPU, as the driver or OpenMP counts them; 0: as weft_device
                              says */
    weft_stream stream;
    int64_t direction; /* 1 + the only weft_direction that the plan is executed in, WEFT_FORWARD or
                          WEFT_INVERSE: half is planned, and less memory may be held; 0: any. Not
                          with convolve, nor for convolutions and compositions */
    int64_t wire;      /* a weft_wire */
    int64_t reserved[12];
} weft_options;

/* Phase times of the last execution on this rank, in seconds, and what it sent to other ranks.
 * Phases that overlap (WEFT_P2P_STREAMS) are counted each in full, so their sum may exceed total.
 * With WEFT_NCCL packing and unpacking, which the GPU does by itself, are part of exchange.
 * With WEFT_PEER no messages are sent and bytes_sent is what partners read; exchange is the time
 * waiting for them, unpack the copying from their arrays, copy that into this rank's shared one. */
typedef struct weft_timings {
    double total;    /* the whole call */
    double fft;      /* transforms */
    double pack;     /* gathering what partners get into send buffers */
    double exchange; /* waiting for the transport */
    double unpack;   /* placing what partners sent */
    double copy;     /* between host and device: staging, and callers' buffers on the host */
    double local;    /* the block a rank keeps in a redistribution, and pointwise operators */
    int64_t bytes_sent;
    int64_t messages_sent;
    double first_message; /* when the first message was handed to the transport, counted from the
                             start of the call; 0 where nothing is sent */
    double last_message;  /* when the last message had arrived; 0 where nothing is received */
    int64_t reserved[13];
} weft_timings;

/* One stretch of work in an execution. */
typedef struct weft_span {
    weft_phase phase;
    int step;          /* number of the step in weft_plan_explain, from 0; of steps that a device is
                          given at once, the last one's */
    int queue;         /* 0: the calling thread; 1, 2, ...: worker queues, of a streamed plan 1 what
                          computes, 2 copies to the device, 3 copies from it; WEFT_SENDER_QUEUE */
    int partner;       /* member of the exchange's group, or -1 */
    double begin, end; /* seconds on the monotonic clock of this rank's machine */
    int64_t tile; /* of a streamed plan's pass, in the order in which they are copied, from 0; or
                     -1. What a device enqueues begins when what is before it on its queue ends */
    int64_t reserved[3];
} weft_span;

/* weft_span.queue of the thread that sends (WEFT_P2P_STREAMS). */
#define WEFT_SENDER_QUEUE (-1)

/* Everything a plan holds, in bytes. */
typedef struct weft_memory {
    size_t
        workspace; /* where the plan computes: host memory for WEFT_HOST, device memory otherwise;
                      with WEFT_PEER this rank's own part of what the ranks of a node share */
    size_t page_locked; /* host memory for staging */
    size_t tables; /* the plan's own records, twiddles, the engine's plans as far as it tells */
    size_t total;  /* the sum */
    size_t reserved[12];
} weft_memory;

/* Creates the context of one process. Not collective. opt may be NULL. The caller destroys it after
 * its plans. */
WEFT_API weft_status weft_context_create(const weft_context_options *opt, weft_context *ctx);

/* Destroys *ctx and sets it to NULL; NULL and *ctx == NULL are ignored. Collective for MPI
 * contexts; call before MPI_Finalize. */
WEFT_API void weft_context_destroy(weft_context *ctx);

/* Creates a plan. Collective. Wrong, unsupported or differing arguments on any rank fail on all
 * ranks.
 *
 * 1-D transforms over several ranks: n is factored into n1 n2, of which n1 is the largest factor up
 * to the square root of n, and the line is transformed as an array of n1 x n2, with three
 * exchanges. Ranks own consecutive elements at both ends: in input space n1 rows of n2 elements are
 * shared out, in output space n2 rows of n1 elements (of WEFT_R2C those that begin at n/2 or
 * before); weft_plan_box tells them. No more than n1 ranks share the transforms of n2 elements, so
 * of a prime length, whose n1 is 1, one rank does it all, and no faster than alone. WEFT_R2C does
 * the work of a complex transform. options.decomposition and options.chunks do not matter then.
 * Of a padded or cropped line the rows that hold what is stored are shared out. options.convolve
 * takes six exchanges, weft_convolution_create four. WEFT_ERROR_UNSUPPORTED with bricks,
 * fields_fastest, matrices, options.keep_spectrum, cosine and sine transforms, and the engine
 * identity. */
WEFT_API weft_status weft_plan_create(weft_context ctx, const weft_problem *problem,
                                      const weft_options *opt, weft_plan *plan);

/* Destroys *plan and sets it to NULL; NULL and *plan == NULL are ignored. Collective for MPI
 * contexts. */
WEFT_API void weft_plan_destroy(weft_plan *plan);

/* The box that `rank` owns in `space`. Row-major in memory (unless problem.input or output gave an
 * order), one such array for each member of the batch. Not collective. */
WEFT_API weft_status weft_plan_box(weft_plan plan, weft_space space, int rank, weft_box *box);

/* Bytes to allocate for this rank's buffer in `space`: at least its box, more where the plan uses
 * the buffer for intermediate data. Of an array with strides of its own: those from its lowest to
 * its highest element, of which the lowest is not the one at the address where strides are
 * negative. A buffer used in place needs the larger of both spaces, which is what plans made for
 * WEFT_IN_PLACE tell of either; WEFT_CONVOLVE, in place or not, those of WEFT_INPUT. Not
 * collective. */
WEFT_API weft_status weft_plan_bytes(weft_plan plan, weft_space space, size_t *bytes);

/* Every byte the plan holds on this rank; callers' buffers are not included. Not collective. */
WEFT_API weft_status weft_plan_memory(weft_plan plan, weft_memory *memory);

/* What the plan settled on: the options with every choice filled in. The caller sets
 * options->struct_size, to 0 or to the size of *options: no more is written. Not collective. */
WEFT_API weft_status weft_plan_options(weft_plan plan, weft_options *options);

/* Runs the plan: `in` is read and kept unless in == out, `out` is written. in and out hold
 * weft_plan_bytes of their space (with WEFT_CONVOLVE both are of WEFT_INPUT), lie where
 * options.location says, aligned as said at the top, and either are the same or do not overlap
 * (with strides of their own: from the lowest to the highest element).
 * NULL is accepted where weft_plan_bytes is 0. Ranks that give different directions get
 * WEFT_ERROR_MISMATCH, all of them. Fails on all ranks alike; but where messages fail on one rank,
 * with WEFT_HOST, the others return success and fail with the next execution. Collective; one
 * execution of a plan at a time.
 *
 * Returns when the result is in place and nothing of the execution is left to be done. With
 * WEFT_CUDA it works on streams of its own, and begins after what this process has enqueued so far
 * on the legacy default stream of the GPU's primary context, and on the streams that synchronize
 * with that one: those that cudaStreamCreate makes, say. Of other work on `in` and `out`, on
 * streams made with cudaStreamNonBlocking and on the default streams that threads have of their
 * own, the caller waits for the end first. It fails with WEFT_ERROR_DEVICE while another thread
 * captures a graph from a stream that synchronizes with the legacy one. With WEFT_OPENCL there is
 * no such order: the caller's own work on `in` and `out` must be done. */
WEFT_API weft_status weft_execute(weft_plan plan, weft_direction dir, const void *in, void *out);

/* weft_execute without waiting for the end, on WEFT_CUDA: returns once the work is enqueued. It
 * begins after what has been enqueued so far on `stream`, and what is enqueued there later begins
 * after it. `stream` is a CUstream, or cudaStream_t, of the plan's GPU (NULL: the legacy default
 * stream), on which no graph is being captured. The caller frees `in` and `out` in the order of
 * that stream, or after waiting for it. The plan may be executed again at once, also with another
 * stream: its executions run one after the other. Destroying it waits for them. A failure of the
 * work itself is told by the caller's next wait for the stream; weft_plan_timings tells nothing of
 * such executions. For contexts of one process and arrays on the GPU; WEFT_ERROR_UNSUPPORTED
 * otherwise. Not collective; one call for a plan at a time. */
WEFT_API weft_status weft_enqueue(weft_plan plan, weft_direction dir, const void *in, void *out,
                                  void *stream);

/* weft_execute with WEFT_CONVOLVE. In plans with options.keep_spectrum the spectrum that it goes
 * through, problem.spectral applied, is stored in `spectrum` as WEFT_FORWARD would store it: by the
 * engine jit from registers, by cuFFT as problem.spectral is applied, by the host's engines after
 * that. `spectrum` holds weft_plan_bytes of WEFT_OUTPUT and overlaps with neither in nor out; NULL
 * in other plans. Collective. */
WEFT_API weft_status weft_convolve(weft_plan plan, const void *in, void *spectrum, void *out);

/* Sets array `number` of the operators of the plan, for the executions that follow: one factor for
 * each element of this rank's box (weft_plan_box) of the side that the operator works on,
 * row-major, the same for all members of the batch. Factors are real, or pairs with
 * weft_operator.complex_factors, in the precision of the transform (single for WEFT_HALF). The
 * array of a WEFT_OPERATOR_MATRIX_ARRAY that makes G fields of F has such an array for each entry
 * of the matrices, G * F of them one after the other, whatever fields_fastest is: number g * F + f
 * has what field f of a point is multiplied by in the sum that is field g of the result. An array
 * lies where the plan computes (the host for WEFT_HOST, else the device: weft_buffer_create; for
 * WEFT_CUDA also in weft_host_buffer_create's memory, which each execution reads across the link),
 * belongs to the caller, is read by executions and must outlive them; NULL where the box is empty.
 * It is as often replaced as the caller likes, and may be changed between executions. An execution
 * whose operators have an array that was never set fails on all ranks. Not with problem.input or
 * problem.output. Not collective; not during an execution. */
WEFT_API weft_status weft_plan_set_array(weft_plan plan, int number, const void *array);

/* Sets parameter `number`, one that an operator of the plan reads (weft_operator.parameters), for
 * the executions that follow; 0 until then. Nothing is planned or compiled anew. What weft_enqueue
 * has enqueued before keeps the value that it was enqueued with. Each rank sets its own, and all
 * give the same value. In single precision snippets get the nearest float. Not collective; not
 * during an execution. */
WEFT_API weft_status weft_plan_set_parameter(weft_plan plan, int number, double value);

/* What reduction `number` (WEFT_OPERATOR_REDUCE) has remembered of the last execution with its
 * list: of a forward transform for problem.load and spectral, of an inverse one for problem.store,
 * and of WEFT_CONVOLVE for all three. It is of all ranks' elements and of all members of the batch:
 * those that the caller's array has, without what is padded, cropped or truncated, and of WEFT_R2C
 * spectra the half that is stored. value[0] gets the result, value[1] the imaginary part of a
 * WEFT_SUM of complex elements, else 0. Sums are in double precision (in single precision on
 * devices that have no other), of parts of the array that are then added up; other numbers of ranks
 * or threads may give other last bits. The ranks' results are combined here, so executions exchange
 * nothing for them. Fails where no execution has had the list yet, or the last one failed.
 * Collective; not during an execution, but after weft_enqueue at any time: it waits for the end of
 * the work. */
WEFT_API weft_status weft_plan_reduction(weft_plan plan, int number, double value[2]);

/* Phase times of this rank's last execution. On one rank and the host, where both arrays have no
 * more than 32 KiB together, reading the clock would take as long as the transform: there those of
 * the last execution that was timed. That is the first of each direction and placement, the first
 * after each call of this function, and one in 16 of the others. Not collective. */
WEFT_API weft_status weft_plan_timings(weft_plan plan, weft_timings *timings);

/* The spans of this rank's last execution, in no particular order, where options.trace is 1. They
 * belong to the plan and change with the next execution. Not collective. */
WEFT_API weft_status weft_plan_trace(weft_plan plan, const weft_span **spans, int *count);

/* Writes what the plan does on this rank: steps, views, buffers, bytes, predicted times, and the
 * candidates that were rejected. Not collective. */
WEFT_API weft_status weft_plan_explain(weft_plan plan, FILE *stream, weft_format format);

/* Memory where the plan computes, for callers' buffers with WEFT_LOCATION_DEVICE. On the host any
 * memory will do. The caller frees it before the plan is destroyed. Not collective. */
WEFT_API weft_status weft_buffer_create(weft_plan plan, size_t bytes, void **buffer);
WEFT_API void weft_buffer_destroy(weft_plan plan, void **buffer);

/* Host memory that is page-locked for the plan's device, which copies to and from it at the full
 * speed of the link while it computes: for callers' arrays with WEFT_LOCATION_HOST, above all where
 * they are streamed (weft_stream): other host memory is then page-locked in each call, which takes
 * longer than the copies, or else goes through the driver's own, where nothing overlaps. Executions
 * in several threads that stream the same array want such memory. The caller frees it before the
 * plan is destroyed. Not collective. */
WEFT_API weft_status weft_host_buffer_create(weft_plan plan, size_t bytes, void **buffer);
WEFT_API void weft_host_buffer_destroy(weft_plan plan, void **buffer);

/* Copies between host memory and a buffer of weft_buffer_create; begins as weft_execute does, and
 * returns when done. Not collective. */
WEFT_API weft_status weft_buffer_upload(weft_plan plan, void *buffer, const void *host,
                                        size_t bytes);
WEFT_API weft_status weft_buffer_download(weft_plan plan, void *host, const void *buffer,
                                          size_t bytes);

/* ---- compositions ---- */

/* What a stage of a composition does with the array that the stage before it left. */
typedef enum weft_stage_kind {
    WEFT_STAGE_FORWARD = 0, /* the forward transform: of real numbers a half spectrum */
    WEFT_STAGE_INVERSE,     /* the inverse of all axes that are transformed */
    WEFT_STAGE_POINTWISE,   /* operators */
    WEFT_STAGE_EMBED,       /* the array becomes a box of a larger one of zeros; a spectrum that of
                               more points, with zeros at the frequencies that it did not have */
    WEFT_STAGE_CROP,     /* a box of the array, or every so many points of it, is what stays; of a
                            spectrum the frequencies that fewer points have */
    WEFT_STAGE_COPY_OUT, /* the array as it is here is stored in an array of the caller's, too */
    WEFT_STAGE_PROBLEM   /* what weft_execute does with a plan for a problem */
} weft_stage_kind;

/* A stage. Members that do not belong to its kind are 0. */
typedef struct weft_stage {
    weft_stage_kind kind;
    /* FORWARD: as weft_problem.axis. INVERSE, and EMBED and CROP of a spectrum: the same at the
     * first of them where the composition begins with a spectrum, else 0. */
    weft_axis axis[WEFT_MAX_RANK];
    /* POINTWISE: as weft_problem.load, spectral and store: next to a transform, behind an EMBED and
     * before a CROP. Once between two other stages. */
    weft_operators operators;
    /* POINTWISE with a matrix: as in weft_problem, behind a forward stage. Between an inverse stage
     * and a forward one along the same axes fields are made in real space, as products are: where
     * the arrays lie on the plan's device and are not streamed, and not of lines over several
     * ranks. Behind that forward stage a matrix makes as many fields as it gets. */
    int64_t result_fields;
    /* EMBED, in real space: the extents of the larger array, in which the box begins at index
     * lo[a]. CROP, in real space: n[a] points stay, those at lo[a], lo[a] + step[a], ... n[a] of 0
     * is all there are, step[a] of 0 is 1; it wants a transform before. Both of a spectrum: it
     * becomes that of n[a] points, of 0: of as many as before; lo is 0. Numbers stay as they are,
     * at their frequencies: -m/2 <= k < m/2 of Fourier axes, m being the smaller number of points
     * (0 <= k <= m/2 of the halved one), and the first m of axes with another transform or none. */
    int64_t n[WEFT_MAX_RANK], lo[WEFT_MAX_RANK], step[WEFT_MAX_RANK];
    /* PROBLEM: of the same rank, precision, batch and, in the space where it begins, extents and
     * numbers as the array; without input, output and strides. It is read by
     * weft_composition_create only. With WEFT_CONVOLVE it is a convolution with problem.spectral.
     */
    const weft_problem *problem;
    weft_direction direction;
    int64_t reserved[8];
} weft_stage;

/* What to compose. Zero fields take their default. Equal on all ranks. */
typedef struct weft_composition_problem {
    size_t struct_size; /* 0, or sizeof(weft_composition_problem) */
    int rank;
    int64_t n[WEFT_MAX_RANK]; /* extents of the array at the beginning; of a spectrum those of the
                                 real space */
    weft_kind kind;           /* WEFT_R2C: real numbers in real space; WEFT_C2C: complex ones */
    weft_space begin; /* WEFT_INPUT: it begins in real space; WEFT_OUTPUT: with a spectrum */
    weft_precision precision;              /* double or single */
    weft_norm norm;                        /* of all FORWARD and INVERSE stages */
    int64_t batch, fields, fields_fastest; /* as in weft_problem */
    const weft_stage *stage;               /* [stages] */
    int stages;                            /* 1 to WEFT_MAX_STAGES */
    int64_t reserved[16];
} weft_composition_problem;

#define WEFT_MAX_STAGES 64

/* A composition is a plan: weft_plan_box and weft_plan_bytes tell the boxes and bytes of the array
 * it begins with (WEFT_INPUT) and of its result (WEFT_OUTPUT); weft_plan_memory, _timings, _trace
 * and _explain tell of all of it, weft_plan_options of its first plan, and weft_plan_set_array,
 * weft_plan_set_parameter and weft_plan_reduction are about the operators of all stages. */
typedef weft_plan weft_composition;

/* Creates a composition: stages one after the other, as few plans as possible. From an embedding
 * before a forward stage to a crop behind the inverse stage everything is one plan with one
 * schedule, which goes there and back along the last axis in one trip where the engine can, and
 * pads, multiplies and crops as it loads and stores. Between plans lie arrays of the composition's
 * own. weft_plan_explain shows the plans, and the stages that each of them does. opt may be NULL;
 * it is for all plans, and its convolve and keep_spectrum do not matter. Collective. */
WEFT_API weft_status weft_composition_create(weft_context ctx,
                                             const weft_composition_problem *problem,
                                             const weft_options *opt,
                                             weft_composition *composition);

/* The box that `rank` owns of the array as stage number `stage` leaves it: of a copy that is
 * stored, say, or of the factors of a WEFT_OPERATOR_ARRAY. Before a forward stage it is the box of
 * what was there before zeros were added. Not collective. */
WEFT_API weft_status weft_composition_box(weft_composition composition, int stage, int rank,
                                          weft_box *box);

/* Bytes to allocate for this rank's array out[number] of weft_composition_execute. Not collective.
 */
WEFT_API weft_status weft_composition_bytes(weft_composition composition, int number,
                                            size_t *bytes);

/* Executes all stages. out[0], out[1], ... are the arrays of the WEFT_STAGE_COPY_OUT in their
 * order, and then that of the result. They do not overlap with each other nor with `in`, which is
 * read and kept; the result may be `in` where weft_execute would allow that and no other array is
 * given. Otherwise as weft_execute, which with WEFT_CONVOLVE executes compositions that store one
 * array, convolutions included. Collective. */
WEFT_API weft_status weft_composition_execute(weft_composition composition, const void *in,
                                              void *const *out);

/* Destroys *composition and sets it to NULL. Collective for MPI contexts. */
WEFT_API void weft_composition_destroy(weft_composition *composition);

/* ---- convolutions ---- */

/* What the field is, beyond its box, along an axis of n points with spacing h = length / n. Their
 * points are the middles of cells: point j lies at (j + 1/2) h. */
typedef enum weft_boundary {
    WEFT_PERIODIC = 0, /* repeats itself */
    WEFT_LINEAR,       /* zero; the result has the extents of weft_convolution_problem.mode */
    WEFT_FREE_SPACE,   /* zero; the result has the field's extents. Built-in kernels: POISSON and
                          SCREENED_POISSON, as in unbounded space, along up to 3 such axes */
    WEFT_DIRICHLET,    /* odd about both faces, so 0 there: cosine and sine transforms of type 2 */
    WEFT_NEUMANN       /* even about both faces, so without slope there */
} weft_boundary;

/* Extents of the result along axes of n points that are WEFT_LINEAR, the kernel having m: as
 * scipy.signal.convolve. */
typedef enum weft_convolution_mode {
    WEFT_FULL = 0, /* n + m - 1 */
    WEFT_SAME,     /* n: the middle of FULL, from index (m - 1) / 2 on */
    WEFT_VALID     /* n - m + 1, or m - n + 1 if that is larger: what depends on no zeros */
} weft_convolution_mode;

/* How a convolution is computed. Results of WEFT_WHOLE and WEFT_OVERLAP_SAVE differ by rounding;
 * WEFT_SAMPLES and WEFT_MULTILEVEL have the error that is asked for. */
typedef enum weft_convolution_method {
    WEFT_METHOD_AUTO = 0, /* the one that an estimate finds faster, from the shapes and the sizes of
                             this machine's caches; never from the number of threads. One with an
                             error only where problem.tolerance is given, and over several ranks:
                             the estimate is then one of work, bytes and messages */
    WEFT_WHOLE,           /* transforms of the whole field, padded */
    WEFT_OVERLAP_SAVE,    /* tiles of the field, which overlap by the kernel's extents less 1, are
                             convolved one by one while they lie in the cache. For arrays as kernels
                             and WEFT_LINEAR along all axes (of axes of 1 point with a kernel of 1
                             point the boundary does not matter), without deconvolve, on WEFT_HOST,
                             out of place; WEFT_ERROR_UNSUPPORTED otherwise. Threads share the tiles;
                             over several ranks each convolves its box of the result, after one
                             exchange of the points around it */
    WEFT_SAMPLES,   /* with little communication: each rank convolves its own part of the field,
                      and sends samples of the result, from which the others interpolate it:
                      the fewer the farther away. For kernels that are smooth but near 0 and
                      not given as arrays, WEFT_PERIODIC along all axes, up to 3, on WEFT_HOST;
                      on WEFT_CUDA and WEFT_OPENCL sub-domains of arrays on the host
                      (WEFT_LOCATION_HOST) are convolved with built-in functions of |k|^2 and
                      kernels that make fields; WEFT_ERROR_UNSUPPORTED otherwise. A kernel's
                      function is then called during executions */
    WEFT_MULTILEVEL /* with little communication: the kernel is split into short ones on coarser
                       and coarser lattices. Each rank convolves its own part of the field, for
                       which it needs the few points around it; of the last lattice, which is
                       small, it has all. For built-in functions of |k|^2, without deconvolve,
                       and ELASTIC if WEFT_STAGGERED, smooth but near 0; WEFT_PERIODIC along all
                       axes, up to 3, on WEFT_HOST; WEFT_ERROR_UNSUPPORTED otherwise. Lattices
                       halve the extents; where 2 does not divide all of them (but those of 1
                       point) it is WEFT_WHOLE */
} weft_convolution_method;

/* Where WEFT_SAMPLES keeps samples of the result of a box of sources: in the box all points, and
 * around it every so many along each axis, powers of two that divide n. */
typedef enum weft_sample_pattern {
    WEFT_GRADED = 0, /* up to `opening` times the distance to the box: the error, relative to the
                        result there, is then much the same everywhere */
    WEFT_FIXED       /* 2 up to half of the box's edge away, 8 up to four edges, 16 beyond */
} weft_sample_pattern;

/* Kernels. Built-in ones are functions of the wavenumber k, whose component along an axis is 2 pi j
 * / length of index j (-n/2 <= j <= n/2) along periodic axes, and pi j / length along Dirichlet (j
 * = 1..n) and Neumann (j = 0..n-1) axes. |k|^2 is the sum of squares. */
typedef enum weft_kernel_kind {
    WEFT_KERNEL_ARRAY = 0,        /* kernel.array, in real space */
    WEFT_KERNEL_FUNCTION,         /* kernel.function of the wavenumber */
    WEFT_KERNEL_GAUSSIAN,         /* exp(-k.C.k / 2): of the density of covariance C */
    WEFT_KERNEL_POISSON,          /* 1 / |k|^2: the field is the right side of -Laplacian u = f */
    WEFT_KERNEL_SCREENED_POISSON, /* 1 / (|k|^2 + parameter^2): (parameter^2 - Laplacian) u = f */
    WEFT_KERNEL_HEAT,       /* exp(-parameter |k|^2): after the time parameter / diffusivity */
    WEFT_KERNEL_RIESZ,      /* |k|^parameter: the fractional Laplacian (-Laplacian)^(parameter/2) */
    WEFT_KERNEL_DERIVATIVE, /* product of (i k[a])^order[a]; 0 at -n/2 where order[a] is odd. Of an
                               odd order along a Dirichlet axis the result is even there, as a
                               Neumann one's field is, and along a Neumann axis odd */
    WEFT_KERNEL_LAPLACIAN,  /* -|k|^2 */
    /* Kernels that make fields from one another, of each member of the batch; periodic, Dirichlet
     * and Neumann axes, up to 3. Vectors have a component for each axis. Along Dirichlet and
     * Neumann axes `boundary` is that of scalars and of xx, yy and zz; the component of a vector
     * along the axis has the other one, as a gradient's has, and so has a curl's along each other
     * axis, and a tensor's off the diagonal along both of its axes: with WEFT_NEUMANN a velocity
     * does not leave the box, and slips along its faces. */
    WEFT_KERNEL_GRADIENT,     /* of a scalar: a vector */
    WEFT_KERNEL_DIVERGENCE,   /* of a vector: a scalar */
    WEFT_KERNEL_CURL,         /* of a vector: a vector in 3-D, a scalar in 2-D */
    WEFT_KERNEL_LERAY,        /* of a vector: its part without divergence, u - k (k.u) / |k|^2 */
    WEFT_KERNEL_ELASTIC,      /* of a stress: the strain Gamma : stress in an isotropic medium, the
                                 mean 0. Symmetric tensors have the fields xx, yy, zz, yz, xz, xy (2-D:
                                 xx, yy, xy) */
    WEFT_KERNEL_SPECTRUM = 14 /* kernel.array, in spectral space; no axis linear or free space */
} weft_kernel_kind;

/* Fields of a point that a kernel takes or, with made 1, makes, of fields with `rank` axes: 1 of
 * scalars, rank of vectors, rank (rank + 1) / 2 of symmetric tensors. Not collective. */
WEFT_API int weft_kernel_fields(weft_kernel_kind kind, int rank, int made);

/* How the derivatives in a built-in kernel are meant. */
typedef enum weft_discretization {
    WEFT_SPECTRAL = 0, /* those of the Fourier series through the points: by i k */
    WEFT_STAGGERED     /* differences of neighbours, h apart: k becomes 2 sin(k h / 2) / h, for the
                          functions of |k|^2 and ELASTIC. Of a tensor then xx, yy and zz are in the
                          middles of cells, and yz half a cell lower along y and z, xz and xy alike
                          (Schneider, Ospald and Kabel, Int. J. Numer. Methods Engrg. 105, 2016).
                          These kernels fade away from 0 without ripples */
} weft_discretization;

/* A kernel's spectrum at wavenumber k[rank]: value gets the real and the imaginary part. For real
 * fields its values at k and -k are conjugate. Called in weft_convolution_create, from several
 * threads at once. */
typedef void (*weft_kernel_function)(const double *k, int rank, double value[2], void *argument);

typedef struct weft_convolution_kernel {
    weft_kernel_kind kind;
    /* ARRAY: the whole kernel, on every rank, or this rank's box of it, row-major, real or complex
     * and in the precision of the field; read by weft_convolution_create. Element origin[a] along
     * each axis is that of displacement 0 (of WEFT_LINEAR axes it does not matter). Along Dirichlet
     * and Neumann axes the kernel is symmetric about it; with origin 0 it is the half of such a
     * kernel. Along periodic ones it may be longer than the field, and is added up. NULL:
     * weft_convolution_set_kernel gives it later.
     *
     * SPECTRUM: the kernel's spectrum in place of a formula's values, read in the same way: complex
     * numbers in the precision of the field, of the field's extents, but for real fields n/2 + 1
     * along the last periodic axis; n and origin do not matter. Index i along an axis is j of the
     * wavenumber as above, on periodic axes j + n for negative ones. For real fields its values at
     * k and -k, where both are there, are conjugate. */
    const void *array;
    int64_t n[WEFT_MAX_RANK], origin[WEFT_MAX_RANK];
    weft_kernel_function function;
    void *argument;
    const double *covariance; /* GAUSSIAN: rank x rank, row-major, of lengths squared */
    double parameter;
    int order[WEFT_MAX_RANK];
    double lame[2];         /* ELASTIC: the medium's lambda and mu */
    const double *zero;     /* a pair: the spectrum at wavenumber 0, instead of the formula's value.
                               Required where that is infinite */
    int64_t discretization; /* a weft_discretization */
    /* ARRAY and SPECTRUM: the box of the kernel that this rank's array holds, row-major; only that
     * is read. The boxes of all ranks tile the kernel (a spectrum is, of real fields, that with n/2
     * + 1 along the last periodic axis); a rank whose box is empty may pass NULL as array. NULL:
     * every rank has the whole kernel. The same on all ranks or none. */
    const weft_box *box;
    int64_t reserved[6];
} weft_convolution_kernel;

/* What to convolve. Zero fields take their default. Equal on all ranks. */
typedef struct weft_convolution_problem {
    size_t struct_size; /* 0, or sizeof(weft_convolution_problem) */
    int rank;
    int64_t n[WEFT_MAX_RANK]; /* extents of the field */
    weft_kind kind;           /* WEFT_R2C: real fields; WEFT_C2C: complex ones */
    weft_precision precision; /* double or single */
    int64_t batch;            /* members, one after the other; 0 means 1 */
    int64_t fields_fastest;   /* as in weft_problem, where the kernel makes fields from fields */
    weft_boundary boundary[WEFT_MAX_RANK];
    weft_convolution_mode mode;   /* of WEFT_LINEAR axes */
    double length[WEFT_MAX_RANK]; /* of the field's box along each axis; 0: n, for a spacing of 1 */
    weft_convolution_kernel kernel;
    int correlate;      /* 1: correlation: the kernel reversed and conjugated, as
                           scipy.signal.correlate */
    int deconvolve;     /* 1: by conj(K) / (|K|^2 + regularizer) in place of the spectrum K */
    double regularizer; /* 0 or more */
    int64_t method;     /* a weft_convolution_method */
    /* WEFT_SAMPLES, WEFT_MULTILEVEL: the error that the result may have, in the norm relative to
     * its own; with WEFT_METHOD_AUTO it allows them. It is found with the kernel when the
     * convolution is created, which fails where it would be larger: measured with a few points of
     * sources, or computed from the symbols for noise and for smooth sources. Unless opening or
     * interpolation are given, what needs the fewest samples, or the fewest points, is taken. 0:
     * 1e-3 or, if they are given, any (WEFT_SAMPLES). */
    double tolerance;
    int64_t pattern;       /* a weft_sample_pattern */
    double opening;        /* of WEFT_GRADED; no more than 2 / interpolation is taken; 0: 1/4 */
    int64_t interpolation; /* lattice points along each axis that a value is interpolated from, by
                              the polynomial through them: 2, 4 or 6; 0: 4, or 2 with WEFT_FIXED */
    int64_t subdomain;     /* edge of the boxes, in points, into which a rank's part of the field is
                              cut, to be convolved one after the other; 0: it is one box, or, with
                              WEFT_MULTILEVEL, cubes that fit a cache */
    int64_t reserved[10];
} weft_convolution_problem;

/* A convolution is a composition, and so a plan: weft_plan_box and weft_plan_bytes tell the boxes
 * of the field (WEFT_INPUT) and of the result (WEFT_OUTPUT) and their bytes, which are no more than
 * the boxes have; weft_plan_memory, _options, _timings, _trace and _explain work on it, too. It has
 * no transforms of its own to execute. */
typedef weft_plan weft_convolution;

/* Creates a convolution of fields with a kernel: result[i] = sum over j of kernel[j] field[i - j]
 * for an array; for built-in kernels and functions, the field's spectrum times the kernel's, back
 * in real space. opt may be NULL; its convolve and keep_spectrum do not matter. Collective. */
WEFT_API weft_status weft_convolution_create(weft_context ctx,
                                             const weft_convolution_problem *problem,
                                             const weft_options *opt,
                                             weft_convolution *convolution);

/* Gives a convolution of kind WEFT_KERNEL_ARRAY or _SPECTRUM another kernel of the same extents, on
 * the host: the whole of it, or the box that kernel.box said. A failure may leave it without a
 * kernel, so that executions fail until one is set. Collective. */
WEFT_API weft_status weft_convolution_set_kernel(weft_convolution convolution, const void *array);

/* Convolves: as weft_execute. in == out only where box and bytes of field and result are the same
 * and no axis is padded. Collective. */
WEFT_API weft_status weft_convolution_execute(weft_convolution convolution, const void *in,
                                              void *out);

/* A cell of the octree on which WEFT_SAMPLES keeps the result of a box of sources: the points of
 * the field from lo on, `edge` along each axis as far as the field reaches, of which every
 * `step`-th along each axis is kept, beginning with the first; along an axis whose n is no multiple
 * of `step` every so many as the largest power of two that divides both. edge and step are powers
 * of two, lo are multiples of edge, and of axes that the field lacks 0. */
typedef struct weft_octree_cell {
    int64_t lo[3];
    int64_t edge, step;
} weft_octree_cell;

/* The cells of the octree around sub-domain `subdomain` of the box that `rank` has of the field, of
 * a convolution by WEFT_SAMPLES; WEFT_ERROR_UNSUPPORTED for others. Sub-domains are counted from 0
 * in row-major order, the last axis fastest: the box cut from its first point on into cubes of
 * problem.subdomain points. -1: around the box, on which the results of its sub-domains are added
 * up, and from which samples are sent. Every point of the field is in one cell. The step is that of
 * the lattice from which the result at the cell's points is interpolated (1: it is known there);
 * where several lattices share a cell of the coarsest step, it is the finest. A rank without points
 * has no cells. They belong to the convolution, until the next call of this function. Any rank may
 * ask for any other's. Not collective; not during an execution. */
WEFT_API weft_status weft_convolution_cells(weft_convolution convolution, int rank,
                                            int64_t subdomain, const weft_octree_cell **cells,
                                            int64_t *count);

/* Destroys *convolution and sets it to NULL. Collective for MPI contexts. */
WEFT_API void weft_convolution_destroy(weft_convolution *convolution);

/* One sentence about the last failure in ctx: what, where, why, what to do. Where several threads
 * use the context: about the calling thread's own last failure in ctx, or, if it has none since it
 * failed in another context, about that of any thread. With NULL, the calling thread's last
 * failure. Never NULL; it belongs to the calling thread and is valid until its next weft call. Not
 * collective. */
WEFT_API const char *weft_last_error(weft_context ctx);

/* Names as the command line spells them ("slab-2d1d"); "?" for a value out of range. Not
 * collective. */
WEFT_API const char *weft_status_name(weft_status status);
WEFT_API const char *weft_kind_name(weft_kind kind);
WEFT_API const char *weft_axis_name(weft_axis axis);
WEFT_API const char *weft_precision_name(weft_precision precision);
WEFT_API const char *weft_decomposition_name(weft_decomposition decomposition);
WEFT_API const char *weft_variant_name(weft_variant variant);
WEFT_API const char *weft_exchange_name(weft_exchange exchange);
WEFT_API const char *weft_engine_name(weft_engine engine);
WEFT_API const char *weft_device_name(weft_device device);
WEFT_API const char *weft_effort_name(weft_effort effort);
WEFT_API const char *weft_phase_name(weft_phase phase);
WEFT_API const char *weft_operator_kind_name(weft_operator_kind kind);
WEFT_API const char *weft_reduction_name(weft_reduction reduction);
WEFT_API const char *weft_window_kind_name(weft_window_kind kind);
WEFT_API const char *weft_storage_name(weft_storage storage);
WEFT_API const char *weft_boundary_name(weft_boundary boundary);
WEFT_API const char *weft_convolution_mode_name(weft_convolution_mode mode);
WEFT_API const char *weft_convolution_method_name(weft_convolution_method method);
WEFT_API const char *weft_kernel_kind_name(weft_kernel_kind kind);
WEFT_API const char *weft_stage_kind_name(weft_stage_kind kind);

/* The n values of a window, such as a plan multiplies by: their sum tells what a spectrum is to be
 * divided by. Not collective. */
WEFT_API weft_status weft_window_values(const weft_window *window, int64_t n, double *values);

/* Whether an engine can run here, on some device that can be used, or a device can be used:
 * WEFT_SUCCESS, or WEFT_ERROR_UNSUPPORTED with the reason in weft_last_error(NULL). description
 * (may be NULL) gets a static string such as "FFTW 3.3.10 (sse2, avx)". */
WEFT_API weft_status weft_engine_probe(weft_engine engine, const char **description);
WEFT_API weft_status weft_device_probe(weft_device device, const char **description);
/* The same of an exchange method that needs a library: WEFT_NCCL. Others need none, and leave
 * description as it is. */
WEFT_API weft_status weft_exchange_probe(weft_exchange exchange, const char **description);

WEFT_API const char *weft_version(void);

#ifdef __cplusplus
}
#endif
#endif
