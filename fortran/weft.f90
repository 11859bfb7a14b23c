! weft for Fortran: the interface of weft.h by iso_c_binding. Written by scripts/fortran-module; do not edit.
!
! Every function, struct and constant has its name in C and is described in weft.h, but the function weft_convolve and
! the struct weft_brick, which are weft_execute_convolve and weft_brick_box here, since there are constants of these
! names. Handles (weft_context, weft_plan, ...) are type(c_ptr), and so are arrays: pass c_loc(array). Members of structs
! are zero, or c_null_ptr, until they are set, which lets weft choose; structs that may be NULL in C are passed as they
! are then. Shapes are in C's order: the last axis of problem%n is the contiguous one, so a Fortran array a(nx, ny, nz) is
! transformed with n = [nz, ny, nx]. Callbacks are type(c_funptr) of bind(c) procedures. weft_error_text(ctx) is
! weft_last_error as a string.
module weft
    use, intrinsic :: iso_c_binding
    implicit none
    public

    integer(c_int), parameter :: WEFT_VERSION_MAJOR = 0
    integer(c_int), parameter :: WEFT_VERSION_MINOR = 2
    integer(c_int), parameter :: WEFT_VERSION_PATCH = 0
    integer(c_int), parameter :: WEFT_MAX_RANK = 8
    integer(c_int), parameter :: WEFT_SUCCESS = 0
    integer(c_int), parameter :: WEFT_ERROR_INVALID_ARGUMENT = 1
    integer(c_int), parameter :: WEFT_ERROR_MISMATCH = 2
    integer(c_int), parameter :: WEFT_ERROR_UNSUPPORTED = 3
    integer(c_int), parameter :: WEFT_ERROR_OUT_OF_MEMORY = 4
    integer(c_int), parameter :: WEFT_ERROR_DEVICE = 5
    integer(c_int), parameter :: WEFT_ERROR_ENGINE = 6
    integer(c_int), parameter :: WEFT_ERROR_TRANSPORT = 7
    integer(c_int), parameter :: WEFT_ERROR_SYSTEM = 8
    integer(c_int), parameter :: WEFT_C2C = 0
    integer(c_int), parameter :: WEFT_R2C = 1
    integer(c_int), parameter :: WEFT_R2R = 2
    integer(c_int), parameter :: WEFT_AXIS_OF_KIND = 0
    integer(c_int), parameter :: WEFT_AXIS_NONE = 1
    integer(c_int), parameter :: WEFT_DCT1 = 2
    integer(c_int), parameter :: WEFT_DCT2 = 3
    integer(c_int), parameter :: WEFT_DCT3 = 4
    integer(c_int), parameter :: WEFT_DCT4 = 5
    integer(c_int), parameter :: WEFT_DST1 = 6
    integer(c_int), parameter :: WEFT_DST2 = 7
    integer(c_int), parameter :: WEFT_DST3 = 8
    integer(c_int), parameter :: WEFT_DST4 = 9
    integer(c_int), parameter :: WEFT_AXIS_REAL = 10
    integer(c_int), parameter :: WEFT_DOUBLE = 0
    integer(c_int), parameter :: WEFT_SINGLE = 1
    integer(c_int), parameter :: WEFT_HALF = 2
    integer(c_int), parameter :: WEFT_NORM_NONE = 0
    integer(c_int), parameter :: WEFT_NORM_BACKWARD = 1
    integer(c_int), parameter :: WEFT_NORM_ORTHO = 2
    integer(c_int), parameter :: WEFT_NORM_FORWARD = 3
    integer(c_int), parameter :: WEFT_FORWARD = 0
    integer(c_int), parameter :: WEFT_INVERSE = 1
    integer(c_int), parameter :: WEFT_CONVOLVE = 2
    integer(c_int), parameter :: WEFT_INPUT = 0
    integer(c_int), parameter :: WEFT_OUTPUT = 1
    integer(c_int), parameter :: WEFT_RESULT = 2
    integer(c_int), parameter :: WEFT_DECOMPOSITION_AUTO = 0
    integer(c_int), parameter :: WEFT_SLAB_2D1D = 1
    integer(c_int), parameter :: WEFT_SLAB_1D2D = 2
    integer(c_int), parameter :: WEFT_SLAB_Y_ZX = 3
    integer(c_int), parameter :: WEFT_PENCIL = 4
    integer(c_int), parameter :: WEFT_BRICK = 5
    integer(c_int), parameter :: WEFT_VARIANT_AUTO = 0
    integer(c_int), parameter :: WEFT_DEFAULT = 1
    integer(c_int), parameter :: WEFT_REALIGNED = 2
    integer(c_int), parameter :: WEFT_EXCHANGE_AUTO = 0
    integer(c_int), parameter :: WEFT_P2P_SYNC = 1
    integer(c_int), parameter :: WEFT_P2P_STREAMS = 2
    integer(c_int), parameter :: WEFT_P2P_TYPE = 3
    integer(c_int), parameter :: WEFT_A2A_SYNC = 4
    integer(c_int), parameter :: WEFT_A2A_TYPE = 5
    integer(c_int), parameter :: WEFT_NCCL = 6
    integer(c_int), parameter :: WEFT_PEER = 7
    integer(c_int), parameter :: WEFT_ENGINE_AUTO = 0
    integer(c_int), parameter :: WEFT_ENGINE_NATIVE = 1
    integer(c_int), parameter :: WEFT_ENGINE_FFTW = 2
    integer(c_int), parameter :: WEFT_ENGINE_CUFFT = 3
    integer(c_int), parameter :: WEFT_ENGINE_JIT = 4
    integer(c_int), parameter :: WEFT_ENGINE_REFERENCE = 5
    integer(c_int), parameter :: WEFT_ENGINE_IDENTITY = 6
    integer(c_int), parameter :: WEFT_ENGINE_OPENMP = 7
    integer(c_int), parameter :: WEFT_HOST = 0
    integer(c_int), parameter :: WEFT_CUDA = 1
    integer(c_int), parameter :: WEFT_OPENCL = 2
    integer(c_int), parameter :: WEFT_OPENMP = 3
    integer(c_int), parameter :: WEFT_SIMULATED = 4
    integer(c_int), parameter :: WEFT_LOCATION_DEVICE = 0
    integer(c_int), parameter :: WEFT_LOCATION_HOST = 1
    integer(c_int), parameter :: WEFT_AWARENESS_AUTO = 0
    integer(c_int), parameter :: WEFT_AWARE = 1
    integer(c_int), parameter :: WEFT_STAGED = 2
    integer(c_int), parameter :: WEFT_ESTIMATE = 0
    integer(c_int), parameter :: WEFT_MEASURE = 1
    integer(c_int), parameter :: WEFT_PATIENT = 2
    integer(c_int), parameter :: WEFT_STREAM_AUTO = 0
    integer(c_int), parameter :: WEFT_STREAM_ON = 1
    integer(c_int), parameter :: WEFT_STREAM_OFF = 2
    integer(c_int), parameter :: WEFT_STREAM_SYNC = 3
    integer(c_int), parameter :: WEFT_WIRE_SAME = 0
    integer(c_int), parameter :: WEFT_WIRE_SINGLE = 1
    integer(c_int), parameter :: WEFT_PLACEMENT_ANY = 0
    integer(c_int), parameter :: WEFT_OUT_OF_PLACE = 1
    integer(c_int), parameter :: WEFT_IN_PLACE = 2
    integer(c_int), parameter :: WEFT_TEXT = 0
    integer(c_int), parameter :: WEFT_JSON = 1
    integer(c_int), parameter :: WEFT_PHASE_FFT = 0
    integer(c_int), parameter :: WEFT_PHASE_PACK = 1
    integer(c_int), parameter :: WEFT_PHASE_EXCHANGE = 2
    integer(c_int), parameter :: WEFT_PHASE_UNPACK = 3
    integer(c_int), parameter :: WEFT_PHASE_COPY = 4
    integer(c_int), parameter :: WEFT_PHASE_LOCAL = 5
    integer(c_int), parameter :: WEFT_OPERATOR_SCALE = 1
    integer(c_int), parameter :: WEFT_OPERATOR_WINDOW = 2
    integer(c_int), parameter :: WEFT_OPERATOR_SHIFT = 3
    integer(c_int), parameter :: WEFT_OPERATOR_TABLE = 4
    integer(c_int), parameter :: WEFT_OPERATOR_FUNCTION = 5
    integer(c_int), parameter :: WEFT_OPERATOR_ARRAY = 6
    integer(c_int), parameter :: WEFT_OPERATOR_MATRIX = 7
    integer(c_int), parameter :: WEFT_OPERATOR_REDUCE = 8
    integer(c_int), parameter :: WEFT_OPERATOR_MATRIX_ARRAY = 9
    integer(c_int), parameter :: WEFT_SUM = 0
    integer(c_int), parameter :: WEFT_NORM = 1
    integer(c_int), parameter :: WEFT_MAX = 2
    integer(c_int), parameter :: WEFT_MAX_ARRAYS = 16
    integer(c_int), parameter :: WEFT_MAX_PARAMETERS = 16
    integer(c_int), parameter :: WEFT_MAX_REDUCTIONS = 16
    integer(c_int), parameter :: WEFT_WINDOW_NONE = 0
    integer(c_int), parameter :: WEFT_WINDOW_HANN = 1
    integer(c_int), parameter :: WEFT_WINDOW_HAMMING = 2
    integer(c_int), parameter :: WEFT_WINDOW_BLACKMAN = 3
    integer(c_int), parameter :: WEFT_WINDOW_BLACKMAN_HARRIS = 4
    integer(c_int), parameter :: WEFT_WINDOW_FLAT_TOP = 5
    integer(c_int), parameter :: WEFT_WINDOW_KAISER = 6
    integer(c_int), parameter :: WEFT_WINDOW_GAUSSIAN = 7
    integer(c_int), parameter :: WEFT_WINDOW_TUKEY = 8
    integer(c_int), parameter :: WEFT_MAX_FIELDS = 64
    integer(c_int), parameter :: WEFT_MAX_OPERATORS = 64
    integer(c_int), parameter :: WEFT_STORAGE_SAME = 0
    integer(c_int), parameter :: WEFT_STORAGE_U8 = 1
    integer(c_int), parameter :: WEFT_STORAGE_I16 = 2
    integer(c_int), parameter :: WEFT_STORAGE_U16 = 3
    integer(c_int), parameter :: WEFT_STORAGE_HALF = 4
    integer(c_int), parameter :: WEFT_STORAGE_FLOAT = 5
    integer(c_int), parameter :: WEFT_STORAGE_DOUBLE = 6
    integer(c_int), parameter :: WEFT_STORAGE_DECIBEL_U8 = 7
    integer(c_int), parameter :: WEFT_STORAGE_COMPLEX_HALF = 8
    integer(c_int), parameter :: WEFT_SENDER_QUEUE = -1
    integer(c_int), parameter :: WEFT_STAGE_FORWARD = 0
    integer(c_int), parameter :: WEFT_STAGE_INVERSE = 1
    integer(c_int), parameter :: WEFT_STAGE_POINTWISE = 2
    integer(c_int), parameter :: WEFT_STAGE_EMBED = 3
    integer(c_int), parameter :: WEFT_STAGE_CROP = 4
    integer(c_int), parameter :: WEFT_STAGE_COPY_OUT = 5
    integer(c_int), parameter :: WEFT_STAGE_PROBLEM = 6
    integer(c_int), parameter :: WEFT_MAX_STAGES = 64
    integer(c_int), parameter :: WEFT_PERIODIC = 0
    integer(c_int), parameter :: WEFT_LINEAR = 1
    integer(c_int), parameter :: WEFT_FREE_SPACE = 2
    integer(c_int), parameter :: WEFT_DIRICHLET = 3
    integer(c_int), parameter :: WEFT_NEUMANN = 4
    integer(c_int), parameter :: WEFT_FULL = 0
    integer(c_int), parameter :: WEFT_SAME = 1
    integer(c_int), parameter :: WEFT_VALID = 2
    integer(c_int), parameter :: WEFT_METHOD_AUTO = 0
    integer(c_int), parameter :: WEFT_WHOLE = 1
    integer(c_int), parameter :: WEFT_OVERLAP_SAVE = 2
    integer(c_int), parameter :: WEFT_SAMPLES = 3
    integer(c_int), parameter :: WEFT_MULTILEVEL = 4
    integer(c_int), parameter :: WEFT_GRADED = 0
    integer(c_int), parameter :: WEFT_FIXED = 1
    integer(c_int), parameter :: WEFT_KERNEL_ARRAY = 0
    integer(c_int), parameter :: WEFT_KERNEL_FUNCTION = 1
    integer(c_int), parameter :: WEFT_KERNEL_GAUSSIAN = 2
    integer(c_int), parameter :: WEFT_KERNEL_POISSON = 3
    integer(c_int), parameter :: WEFT_KERNEL_SCREENED_POISSON = 4
    integer(c_int), parameter :: WEFT_KERNEL_HEAT = 5
    integer(c_int), parameter :: WEFT_KERNEL_RIESZ = 6
    integer(c_int), parameter :: WEFT_KERNEL_DERIVATIVE = 7
    integer(c_int), parameter :: WEFT_KERNEL_LAPLACIAN = 8
    integer(c_int), parameter :: WEFT_KERNEL_GRADIENT = 9
    integer(c_int), parameter :: WEFT_KERNEL_DIVERGENCE = 10
    integer(c_int), parameter :: WEFT_KERNEL_CURL = 11
    integer(c_int), parameter :: WEFT_KERNEL_LERAY = 12
    integer(c_int), parameter :: WEFT_KERNEL_ELASTIC = 13
    integer(c_int), parameter :: WEFT_KERNEL_SPECTRUM = 14
    integer(c_int), parameter :: WEFT_SPECTRAL = 0
    integer(c_int), parameter :: WEFT_STAGGERED = 1

    type, bind(c) :: weft_box
        integer(c_int64_t) :: lo(8) = 0
        integer(c_int64_t) :: n(8) = 0
    end type weft_box

    type, bind(c) :: weft_brick_box
        type(weft_box) :: box
        integer(c_int) :: order(8) = 0
    end type weft_brick_box

    type, bind(c) :: weft_window
        integer(c_int) :: kind = 0
        integer(c_int) :: symmetric = 0
        real(c_double) :: parameter = 0
    end type weft_window

    type, bind(c) :: weft_operator_run
        type(c_ptr) :: data = c_null_ptr
        integer(c_int64_t) :: count = 0
        integer(c_int) :: axis = 0
        integer(c_int64_t) :: index(8) = 0
        integer(c_int64_t) :: batch = 0
        integer(c_int) :: precision = 0
        integer(c_int) :: complex_elements = 0
        type(c_ptr) :: parameter = c_null_ptr
        integer(c_int64_t) :: reserved(3) = 0
    end type weft_operator_run

    type, bind(c) :: weft_fields_run
        type(c_ptr) :: in = c_null_ptr
        type(c_ptr) :: out = c_null_ptr
        integer(c_int64_t) :: count = 0
        integer(c_int64_t) :: in_stride = 0
        integer(c_int64_t) :: out_stride = 0
        integer(c_int) :: in_fields = 0
        integer(c_int) :: out_fields = 0
        integer(c_int) :: axis = 0
        integer(c_int64_t) :: index(8) = 0
        integer(c_int64_t) :: batch = 0
        integer(c_int) :: precision = 0
        integer(c_int) :: complex_elements = 0
        type(c_ptr) :: parameter = c_null_ptr
        integer(c_int64_t) :: reserved(3) = 0
    end type weft_fields_run

    type, bind(c) :: weft_operator
        integer(c_size_t) :: struct_size = 0
        integer(c_int) :: kind = 0
        real(c_double) :: factor = 0
        type(weft_window) :: window(8)
        real(c_double) :: shift(8) = 0
        type(c_ptr) :: table(8) = c_null_ptr
        integer(c_int) :: complex_factors = 0
        type(c_funptr) :: function = c_null_funptr
        type(c_ptr) :: argument = c_null_ptr
        type(c_ptr) :: snippet = c_null_ptr
        integer(c_int64_t) :: array = 0
        type(c_funptr) :: matrix = c_null_funptr
        integer(c_int64_t) :: parameters = 0
        integer(c_int64_t) :: reduction = 0
        integer(c_int64_t) :: reserved(4) = 0
    end type weft_operator

    type, bind(c) :: weft_operators
        type(c_ptr) :: list = c_null_ptr
        integer(c_int) :: count = 0
    end type weft_operators

    type, bind(c) :: weft_context_options
        integer(c_size_t) :: struct_size = 0
        integer(c_int) :: simulated_ranks = 0
        integer(c_int64_t) :: reserved(6) = 0
    end type weft_context_options

    type, bind(c) :: weft_problem
        integer(c_size_t) :: struct_size = 0
        integer(c_int) :: rank = 0
        integer(c_int64_t) :: n(8) = 0
        integer(c_int) :: kind = 0
        integer(c_int) :: precision = 0
        integer(c_int64_t) :: batch = 0
        integer(c_int) :: norm = 0
        type(c_ptr) :: input = c_null_ptr
        type(c_ptr) :: output = c_null_ptr
        type(weft_operators) :: load
        type(weft_operators) :: spectral
        type(weft_operators) :: store
        integer(c_int) :: load_storage = 0
        integer(c_int) :: spectral_storage = 0
        integer(c_int) :: store_storage = 0
        real(c_double) :: decibels(2) = 0
        integer(c_int64_t) :: pad_from(8) = 0
        integer(c_int) :: axis(8) = 0
        integer(c_int64_t) :: crop_to(8) = 0
        integer(c_int64_t) :: in_stride(8) = 0
        integer(c_int64_t) :: out_stride(8) = 0
        integer(c_int64_t) :: in_batch_stride = 0
        integer(c_int64_t) :: out_batch_stride = 0
        integer(c_int64_t) :: fields = 0
        integer(c_int64_t) :: result_fields = 0
        integer(c_int64_t) :: fields_fastest = 0
        integer(c_int64_t) :: truncate_to(8) = 0
        integer(c_int64_t) :: reserved(13) = 0
    end type weft_problem

    type, bind(c) :: weft_options
        integer(c_size_t) :: struct_size = 0
        integer(c_int) :: decomposition = 0
        integer(c_int) :: grid(8) = 0
        integer(c_int) :: exchange(8) = 0
        integer(c_int) :: variant = 0
        integer(c_int) :: engine = 0
        integer(c_int) :: device = 0
        integer(c_int) :: location = 0
        integer(c_int) :: device_aware = 0
        integer(c_int) :: chunks = 0
        integer(c_int) :: threads = 0
        integer(c_int) :: effort = 0
        integer(c_int) :: placement = 0
        integer(c_size_t) :: device_memory_limit = 0
        integer(c_int) :: trace = 0
        integer(c_int) :: convolve = 0
        integer(c_int) :: keep_spectrum = 0
        integer(c_int64_t) :: device_number = 0
        integer(c_int) :: stream = 0
        integer(c_int64_t) :: direction = 0
        integer(c_int64_t) :: wire = 0
        integer(c_int64_t) :: reserved(12) = 0
    end type weft_options

    type, bind(c) :: weft_timings
        real(c_double) :: total = 0
        real(c_double) :: fft = 0
        real(c_double) :: pack = 0
        real(c_double) :: exchange = 0
        real(c_double) :: unpack = 0
        real(c_double) :: copy = 0
        real(c_double) :: local = 0
        integer(c_int64_t) :: bytes_sent = 0
        integer(c_int64_t) :: messages_sent = 0
        real(c_double) :: first_message = 0
        real(c_double) :: last_message = 0
        integer(c_int64_t) :: reserved(13) = 0
    end type weft_timings

    type, bind(c) :: weft_span
        integer(c_int) :: phase = 0
        integer(c_int) :: step = 0
        integer(c_int) :: queue = 0
        integer(c_int) :: partner = 0
        real(c_double) :: begin = 0
        real(c_double) :: end = 0
        integer(c_int64_t) :: tile = 0
        integer(c_int64_t) :: reserved(3) = 0
    end type weft_span

    type, bind(c) :: weft_memory
        integer(c_size_t) :: workspace = 0
        integer(c_size_t) :: page_locked = 0
        integer(c_size_t) :: tables = 0
        integer(c_size_t) :: total = 0
        integer(c_size_t) :: reserved(12) = 0
    end type weft_memory

    type, bind(c) :: weft_stage
        integer(c_int) :: kind = 0
        integer(c_int) :: axis(8) = 0
        type(weft_operators) :: operators
        integer(c_int64_t) :: result_fields = 0
        integer(c_int64_t) :: n(8) = 0
        integer(c_int64_t) :: lo(8) = 0
        integer(c_int64_t) :: step(8) = 0
        type(c_ptr) :: problem = c_null_ptr
        integer(c_int) :: direction = 0
        integer(c_int64_t) :: reserved(8) = 0
    end type weft_stage

    type, bind(c) :: weft_composition_problem
        integer(c_size_t) :: struct_size = 0
        integer(c_int) :: rank = 0
        integer(c_int64_t) :: n(8) = 0
        integer(c_int) :: kind = 0
        integer(c_int) :: begin = 0
        integer(c_int) :: precision = 0
        integer(c_int) :: norm = 0
        integer(c_int64_t) :: batch = 0
        integer(c_int64_t) :: fields = 0
        integer(c_int64_t) :: fields_fastest = 0
        type(c_ptr) :: stage = c_null_ptr
        integer(c_int) :: stages = 0
        integer(c_int64_t) :: reserved(16) = 0
    end type weft_composition_problem

    type, bind(c) :: weft_convolution_kernel
        integer(c_int) :: kind = 0
        type(c_ptr) :: array = c_null_ptr
        integer(c_int64_t) :: n(8) = 0
        integer(c_int64_t) :: origin(8) = 0
        type(c_funptr) :: function = c_null_funptr
        type(c_ptr) :: argument = c_null_ptr
        type(c_ptr) :: covariance = c_null_ptr
        real(c_double) :: parameter = 0
        integer(c_int) :: order(8) = 0
        real(c_double) :: lame(2) = 0
        type(c_ptr) :: zero = c_null_ptr
        integer(c_int64_t) :: discretization = 0
        type(c_ptr) :: box = c_null_ptr
        integer(c_int64_t) :: reserved(6) = 0
    end type weft_convolution_kernel

    type, bind(c) :: weft_convolution_problem
        integer(c_size_t) :: struct_size = 0
        integer(c_int) :: rank = 0
        integer(c_int64_t) :: n(8) = 0
        integer(c_int) :: kind = 0
        integer(c_int) :: precision = 0
        integer(c_int64_t) :: batch = 0
        integer(c_int64_t) :: fields_fastest = 0
        integer(c_int) :: boundary(8) = 0
        integer(c_int) :: mode = 0
        real(c_double) :: length(8) = 0
        type(weft_convolution_kernel) :: kernel
        integer(c_int) :: correlate = 0
        integer(c_int) :: deconvolve = 0
        real(c_double) :: regularizer = 0
        integer(c_int64_t) :: method = 0
        real(c_double) :: tolerance = 0
        integer(c_int64_t) :: pattern = 0
        real(c_double) :: opening = 0
        integer(c_int64_t) :: interpolation = 0
        integer(c_int64_t) :: subdomain = 0
        integer(c_int64_t) :: reserved(10) = 0
    end type weft_convolution_problem

    type, bind(c) :: weft_octree_cell
        integer(c_int64_t) :: lo(3) = 0
        integer(c_int64_t) :: edge = 0
        integer(c_int64_t) :: step = 0
    end type weft_octree_cell

    interface
        function weft_context_create(opt, ctx) bind(c, name='weft_context_create') result(answer)
            import :: c_int, c_ptr, weft_context_options
            type(weft_context_options), intent(in) :: opt
            type(c_ptr), intent(inout) :: ctx
            integer(c_int) :: answer
        end function weft_context_create

        subroutine weft_context_destroy(ctx) bind(c, name='weft_context_destroy')
            import :: c_ptr
            type(c_ptr), intent(inout) :: ctx
        end subroutine weft_context_destroy

        function weft_plan_create(ctx, problem, opt, plan) bind(c, name='weft_plan_create') result(answer)
            import :: c_int, c_ptr, weft_options, weft_problem
            type(c_ptr), value, intent(in) :: ctx
            type(weft_problem), intent(in) :: problem
            type(weft_options), intent(in) :: opt
            type(c_ptr), intent(inout) :: plan
            integer(c_int) :: answer
        end function weft_plan_create

        subroutine weft_plan_destroy(plan) bind(c, name='weft_plan_destroy')
            import :: c_ptr
            type(c_ptr), intent(inout) :: plan
        end subroutine weft_plan_destroy

        function weft_plan_box(plan, space, rank, box) bind(c, name='weft_plan_box') result(answer)
            import :: c_int, c_ptr, weft_box
            type(c_ptr), value, intent(in) :: plan
            integer(c_int), value, intent(in) :: space
            integer(c_int), value, intent(in) :: rank
            type(weft_box), intent(inout) :: box
            integer(c_int) :: answer
        end function weft_plan_box

        function weft_plan_bytes(plan, space, bytes) bind(c, name='weft_plan_bytes') result(answer)
            import :: c_int, c_ptr, c_size_t
            type(c_ptr), value, intent(in) :: plan
            integer(c_int), value, intent(in) :: space
            integer(c_size_t), intent(out) :: bytes
            integer(c_int) :: answer
        end function weft_plan_bytes

        function weft_plan_memory(plan, memory) bind(c, name='weft_plan_memory') result(answer)
            import :: c_int, c_ptr, weft_memory
            type(c_ptr), value, intent(in) :: plan
            type(weft_memory), intent(inout) :: memory
            integer(c_int) :: answer
        end function weft_plan_memory

        function weft_plan_options(plan, options) bind(c, name='weft_plan_options') result(answer)
            import :: c_int, c_ptr, weft_options
            type(c_ptr), value, intent(in) :: plan
            type(weft_options), intent(inout) :: options
            integer(c_int) :: answer
        end function weft_plan_options

        function weft_execute(plan, dir, in, out) bind(c, name='weft_execute') result(answer)
            import :: c_int, c_ptr
            type(c_ptr), value, intent(in) :: plan
            integer(c_int), value, intent(in) :: dir
            type(c_ptr), value, intent(in) :: in
            type(c_ptr), value, intent(in) :: out
            integer(c_int) :: answer
        end function weft_execute

        function weft_enqueue(plan, dir, in, out, stream) bind(c, name='weft_enqueue') result(answer)
            import :: c_int, c_ptr
            type(c_ptr), value, intent(in) :: plan
            integer(c_int), value, intent(in) :: dir
            type(c_ptr), value, intent(in) :: in
            type(c_ptr), value, intent(in) :: out
            type(c_ptr), value, intent(in) :: stream
            integer(c_int) :: answer
        end function weft_enqueue

        function weft_execute_convolve(plan, in, spectrum, out) bind(c, name='weft_convolve') result(answer)
            import :: c_int, c_ptr
            type(c_ptr), value, intent(in) :: plan
            type(c_ptr), value, intent(in) :: in
            type(c_ptr), value, intent(in) :: spectrum
            type(c_ptr), value, intent(in) :: out
            integer(c_int) :: answer
        end function weft_execute_convolve

        function weft_plan_set_array(plan, number, array) bind(c, name='weft_plan_set_array') result(answer)
            import :: c_int, c_ptr
            type(c_ptr), value, intent(in) :: plan
            integer(c_int), value, intent(in) :: number
            type(c_ptr), value, intent(in) :: array
            integer(c_int) :: answer
        end function weft_plan_set_array

        function weft_plan_set_parameter(plan, number, value) bind(c, name='weft_plan_set_parameter') result(answer)
            import :: c_double, c_int, c_ptr
            type(c_ptr), value, intent(in) :: plan
            integer(c_int), value, intent(in) :: number
            real(c_double), value, intent(in) :: value
            integer(c_int) :: answer
        end function weft_plan_set_parameter

        function weft_plan_reduction(plan, number, value) bind(c, name='weft_plan_reduction') result(answer)
            import :: c_double, c_int, c_ptr
            type(c_ptr), value, intent(in) :: plan
            integer(c_int), value, intent(in) :: number
            real(c_double), intent(out) :: value(2)
            integer(c_int) :: answer
        end function weft_plan_reduction

        function weft_plan_timings(plan, timings) bind(c, name='weft_plan_timings') result(answer)
            import :: c_int, c_ptr, weft_timings
            type(c_ptr), value, intent(in) :: plan
            type(weft_timings), intent(inout) :: timings
            integer(c_int) :: answer
        end function weft_plan_timings

        function weft_plan_trace(plan, spans, count) bind(c, name='weft_plan_trace') result(answer)
            import :: c_int, c_ptr
            type(c_ptr), value, intent(in) :: plan
            type(c_ptr), intent(inout) :: spans
            integer(c_int), intent(out) :: count
            integer(c_int) :: answer
        end function weft_plan_trace

        function weft_plan_explain(plan, stream, format) bind(c, name='weft_plan_explain') result(answer)
            import :: c_int, c_ptr
            type(c_ptr), value, intent(in) :: plan
            type(c_ptr), value, intent(in) :: stream
            integer(c_int), value, intent(in) :: format
            integer(c_int) :: answer
        end function weft_plan_explain

        function weft_buffer_create(plan, bytes, buffer) bind(c, name='weft_buffer_create') result(answer)
            import :: c_int, c_ptr, c_size_t
            type(c_ptr), value, intent(in) :: plan
            integer(c_size_t), value, intent(in) :: bytes
            type(c_ptr), intent(inout) :: buffer
            integer(c_int) :: answer
        end function weft_buffer_create

        subroutine weft_buffer_destroy(plan, buffer) bind(c, name='weft_buffer_destroy')
            import :: c_ptr
            type(c_ptr), value, intent(in) :: plan
            type(c_ptr), intent(inout) :: buffer
        end subroutine weft_buffer_destroy

        function weft_host_buffer_create(plan, bytes, buffer) bind(c, name='weft_host_buffer_create') result(answer)
            import :: c_int, c_ptr, c_size_t
            type(c_ptr), value, intent(in) :: plan
            integer(c_size_t), value, intent(in) :: bytes
            type(c_ptr), intent(inout) :: buffer
            integer(c_int) :: answer
        end function weft_host_buffer_create

        subroutine weft_host_buffer_destroy(plan, buffer) bind(c, name='weft_host_buffer_destroy')
            import :: c_ptr
            type(c_ptr), value, intent(in) :: plan
            type(c_ptr), intent(inout) :: buffer
        end subroutine weft_host_buffer_destroy

        function weft_buffer_upload(plan, buffer, host, bytes) bind(c, name='weft_buffer_upload') result(answer)
            import :: c_int, c_ptr, c_size_t
            type(c_ptr), value, intent(in) :: plan
            type(c_ptr), value, intent(in) :: buffer
            type(c_ptr), value, intent(in) :: host
            integer(c_size_t), value, intent(in) :: bytes
            integer(c_int) :: answer
        end function weft_buffer_upload

        function weft_buffer_download(plan, host, buffer, bytes) bind(c, name='weft_buffer_download') result(answer)
            import :: c_int, c_ptr, c_size_t
            type(c_ptr), value, intent(in) :: plan
            type(c_ptr), value, intent(in) :: host
            type(c_ptr), value, intent(in) :: buffer
            integer(c_size_t), value, intent(in) :: bytes
            integer(c_int) :: answer
        end function weft_buffer_download

        function weft_composition_create(ctx, problem, opt, composition) bind(c, name='weft_composition_create') &
            result(answer)
            import :: c_int, c_ptr, weft_composition_problem, weft_options
            type(c_ptr), value, intent(in) :: ctx
            type(weft_composition_problem), intent(in) :: problem
            type(weft_options), intent(in) :: opt
            type(c_ptr), intent(inout) :: composition
            integer(c_int) :: answer
        end function weft_composition_create

        function weft_composition_box(composition, stage, rank, box) bind(c, name='weft_composition_box') &
            result(answer)
            import :: c_int, c_ptr, weft_box
            type(c_ptr), value, intent(in) :: composition
            integer(c_int), value, intent(in) :: stage
            integer(c_int), value, intent(in) :: rank
            type(weft_box), intent(inout) :: box
            integer(c_int) :: answer
        end function weft_composition_box

        function weft_composition_bytes(composition, number, bytes) bind(c, name='weft_composition_bytes') &
            result(answer)
            import :: c_int, c_ptr, c_size_t
            type(c_ptr), value, intent(in) :: composition
            integer(c_int), value, intent(in) :: number
            integer(c_size_t), intent(out) :: bytes
            integer(c_int) :: answer
        end function weft_composition_bytes

        function weft_composition_execute(composition, in, out) bind(c, name='weft_composition_execute') &
            result(answer)
            import :: c_int, c_ptr
            type(c_ptr), value, intent(in) :: composition
            type(c_ptr), value, intent(in) :: in
            type(c_ptr), intent(in) :: out(*)
            integer(c_int) :: answer
        end function weft_composition_execute

        subroutine weft_composition_destroy(composition) bind(c, name='weft_composition_destroy')
            import :: c_ptr
            type(c_ptr), intent(inout) :: composition
        end subroutine weft_composition_destroy

        function weft_kernel_fields(kind, rank, made) bind(c, name='weft_kernel_fields') result(answer)
            import :: c_int
            integer(c_int), value, intent(in) :: kind
            integer(c_int), value, intent(in) :: rank
            integer(c_int), value, intent(in) :: made
            integer(c_int) :: answer
        end function weft_kernel_fields

        function weft_convolution_create(ctx, problem, opt, convolution) bind(c, name='weft_convolution_create') &
            result(answer)
            import :: c_int, c_ptr, weft_convolution_problem, weft_options
            type(c_ptr), value, intent(in) :: ctx
            type(weft_convolution_problem), intent(in) :: problem
            type(weft_options), intent(in) :: opt
            type(c_ptr), intent(inout) :: convolution
            integer(c_int) :: answer
        end function weft_convolution_create

        function weft_convolution_set_kernel(convolution, array) bind(c, name='weft_convolution_set_kernel') &
            result(answer)
            import :: c_int, c_ptr
            type(c_ptr), value, intent(in) :: convolution
            type(c_ptr), value, intent(in) :: array
            integer(c_int) :: answer
        end function weft_convolution_set_kernel

        function weft_convolution_execute(convolution, in, out) bind(c, name='weft_convolution_execute') &
            result(answer)
            import :: c_int, c_ptr
            type(c_ptr), value, intent(in) :: convolution
            type(c_ptr), value, intent(in) :: in
            type(c_ptr), value, intent(in) :: out
            integer(c_int) :: answer
        end function weft_convolution_execute

        function weft_convolution_cells(convolution, rank, subdomain, cells, count) bind(c, &
            name='weft_convolution_cells') result(answer)
            import :: c_int, c_int64_t, c_ptr
            type(c_ptr), value, intent(in) :: convolution
            integer(c_int), value, intent(in) :: rank
            integer(c_int64_t), value, intent(in) :: subdomain
            type(c_ptr), intent(inout) :: cells
            integer(c_int64_t), intent(out) :: count
            integer(c_int) :: answer
        end function weft_convolution_cells

        subroutine weft_convolution_destroy(convolution) bind(c, name='weft_convolution_destroy')
            import :: c_ptr
            type(c_ptr), intent(inout) :: convolution
        end subroutine weft_convolution_destroy

        function weft_last_error(ctx) bind(c, name='weft_last_error') result(answer)
            import :: c_ptr
            type(c_ptr), value, intent(in) :: ctx
            type(c_ptr) :: answer
        end function weft_last_error

        function weft_status_name(status) bind(c, name='weft_status_name') result(answer)
            import :: c_int, c_ptr
            integer(c_int), value, intent(in) :: status
            type(c_ptr) :: answer
        end function weft_status_name

        function weft_kind_name(kind) bind(c, name='weft_kind_name') result(answer)
            import :: c_int, c_ptr
            integer(c_int), value, intent(in) :: kind
            type(c_ptr) :: answer
        end function weft_kind_name

        function weft_axis_name(axis) bind(c, name='weft_axis_name') result(answer)
            import :: c_int, c_ptr
            integer(c_int), value, intent(in) :: axis
            type(c_ptr) :: answer
        end function weft_axis_name

        function weft_precision_name(precision) bind(c, name='weft_precision_name') result(answer)
            import :: c_int, c_ptr
            integer(c_int), value, intent(in) :: precision
            type(c_ptr) :: answer
        end function weft_precision_name

        function weft_decomposition_name(decomposition) bind(c, name='weft_decomposition_name') result(answer)
            import :: c_int, c_ptr
            integer(c_int), value, intent(in) :: decomposition
            type(c_ptr) :: answer
        end function weft_decomposition_name

        function weft_variant_name(variant) bind(c, name='weft_variant_name') result(answer)
            import :: c_int, c_ptr
            integer(c_int), value, intent(in) :: variant
            type(c_ptr) :: answer
        end function weft_variant_name

        function weft_exchange_name(exchange) bind(c, name='weft_exchange_name') result(answer)
            import :: c_int, c_ptr
            integer(c_int), value, intent(in) :: exchange
            type(c_ptr) :: answer
        end function weft_exchange_name

        function weft_engine_name(engine) bind(c, name='weft_engine_name') result(answer)
            import :: c_int, c_ptr
            integer(c_int), value, intent(in) :: engine
            type(c_ptr) :: answer
        end function weft_engine_name

        function weft_device_name(device) bind(c, name='weft_device_name') result(answer)
            import :: c_int, c_ptr
            integer(c_int), value, intent(in) :: device
            type(c_ptr) :: answer
        end function weft_device_name

        function weft_effort_name(effort) bind(c, name='weft_effort_name') result(answer)
            import :: c_int, c_ptr
            integer(c_int), value, intent(in) :: effort
            type(c_ptr) :: answer
        end function weft_effort_name

        function weft_phase_name(phase) bind(c, name='weft_phase_name') result(answer)
            import :: c_int, c_ptr
            integer(c_int), value, intent(in) :: phase
            type(c_ptr) :: answer
        end function weft_phase_name

        function weft_operator_kind_name(kind) bind(c, name='weft_operator_kind_name') result(answer)
            import :: c_int, c_ptr
            integer(c_int), value, intent(in) :: kind
            type(c_ptr) :: answer
        end function weft_operator_kind_name

        function weft_reduction_name(reduction) bind(c, name='weft_reduction_name') result(answer)
            import :: c_int, c_ptr
            integer(c_int), value, intent(in) :: reduction
            type(c_ptr) :: answer
        end function weft_reduction_name

        function weft_window_kind_name(kind) bind(c, name='weft_window_kind_name') result(answer)
            import :: c_int, c_ptr
            integer(c_int), value, intent(in) :: kind
            type(c_ptr) :: answer
        end function weft_window_kind_name

        function weft_storage_name(storage) bind(c, name='weft_storage_name') result(answer)
            import :: c_int, c_ptr
            integer(c_int), value, intent(in) :: storage
            type(c_ptr) :: answer
        end function weft_storage_name

        function weft_boundary_name(boundary) bind(c, name='weft_boundary_name') result(answer)
            import :: c_int, c_ptr
            integer(c_int), value, intent(in) :: boundary
            type(c_ptr) :: answer
        end function weft_boundary_name

        function weft_convolution_mode_name(mode) bind(c, name='weft_convolution_mode_name') result(answer)
            import :: c_int, c_ptr
            integer(c_int), value, intent(in) :: mode
            type(c_ptr) :: answer
        end function weft_convolution_mode_name

        function weft_convolution_method_name(method) bind(c, name='weft_convolution_method_name') result(answer)
            import :: c_int, c_ptr
            integer(c_int), value, intent(in) :: method
            type(c_ptr) :: answer
        end function weft_convolution_method_name

        function weft_kernel_kind_name(kind) bind(c, name='weft_kernel_kind_name') result(answer)
            import :: c_int, c_ptr
            integer(c_int), value, intent(in) :: kind
            type(c_ptr) :: answer
        end function weft_kernel_kind_name

        function weft_stage_kind_name(kind) bind(c, name='weft_stage_kind_name') result(answer)
            import :: c_int, c_ptr
            integer(c_int), value, intent(in) :: kind
            type(c_ptr) :: answer
        end function weft_stage_kind_name

        function weft_window_values(window, n, values) bind(c, name='weft_window_values') result(answer)
            import :: c_double, c_int, c_int64_t, weft_window
            type(weft_window), intent(in) :: window
            integer(c_int64_t), value, intent(in) :: n
            real(c_double), intent(out) :: values(*)
            integer(c_int) :: answer
        end function weft_window_values

        function weft_engine_probe(engine, description) bind(c, name='weft_engine_probe') result(answer)
            import :: c_int, c_ptr
            integer(c_int), value, intent(in) :: engine
            type(c_ptr), intent(inout) :: description
            integer(c_int) :: answer
        end function weft_engine_probe

        function weft_device_probe(device, description) bind(c, name='weft_device_probe') result(answer)
            import :: c_int, c_ptr
            integer(c_int), value, intent(in) :: device
            type(c_ptr), intent(inout) :: description
            integer(c_int) :: answer
        end function weft_device_probe

        function weft_exchange_probe(exchange, description) bind(c, name='weft_exchange_probe') result(answer)
            import :: c_int, c_ptr
            integer(c_int), value, intent(in) :: exchange
            type(c_ptr), intent(inout) :: description
            integer(c_int) :: answer
        end function weft_exchange_probe

        function weft_version() bind(c, name='weft_version') result(answer)
            import :: c_ptr
            type(c_ptr) :: answer
        end function weft_version

        function weft_mpi_context_create_f(comm, opt, ctx) bind(c, name='weft_mpi_context_create_f') result(answer)
            import :: c_int, c_ptr, weft_context_options
            integer(c_int), value, intent(in) :: comm
            type(weft_context_options), intent(in) :: opt
            type(c_ptr), intent(inout) :: ctx
            integer(c_int) :: answer
        end function weft_mpi_context_create_f

        function weft_string_length(address) bind(c, name='strlen') result(length)
            import :: c_ptr, c_size_t
            type(c_ptr), value, intent(in) :: address
            integer(c_size_t) :: length
        end function weft_string_length
    end interface

contains

    ! weft_last_error: a sentence about the last failure in ctx, or, of c_null_ptr, of the calling thread.
    function weft_error_text(ctx) result(text)
        type(c_ptr), value, intent(in) :: ctx
        character(len=:), allocatable :: text
        text = weft_string(weft_last_error(ctx))
    end function weft_error_text

    ! A C string as a Fortran one; empty for c_null_ptr.
    function weft_string(address) result(text)
        type(c_ptr), value, intent(in) :: address
        character(len=:), allocatable :: text
        character(kind=c_char), pointer :: letters(:)
        integer :: i
        if (.not. c_associated(address)) then
            text = ''
            return
        end if
        call c_f_pointer(address, letters, [weft_string_length(address)])
        allocate (character(len=size(letters)) :: text)
        do i = 1, size(letters)
            text(i:i) = letters(i)
        end do
    end function weft_string
end module weft
