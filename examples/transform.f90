! A distributed 3-D transform in Fortran: a wave goes into the spectrum, where it is one number, and back, on any number of
! ranks. weft's axes are counted from the slowest, so field(x, y, z) has n = [nz, ny, nx].
program transform
    use mpi
    use weft
    implicit none
    integer, parameter :: nx = 18, ny = 20, nz = 24
    real(c_double), parameter :: turn = 8 * atan(1.0_c_double)
    type(c_ptr) :: ctx = c_null_ptr, plan = c_null_ptr
    type(weft_context_options) :: context_options
    type(weft_options) :: options
    type(weft_problem) :: problem
    type(weft_box) :: mine, theirs
    integer(c_size_t) :: in_bytes, out_bytes
    real(c_double), allocatable, target :: field(:), back(:)
    complex(c_double_complex), allocatable, target :: spectrum(:)
    real(c_double) :: error, largest
    integer :: rank, code

    call MPI_Init(code)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
    problem%rank = 3
    problem%n(1:3) = [nz, ny, nx]
    problem%kind = WEFT_R2C
    problem%norm = WEFT_NORM_FORWARD
    call check(weft_mpi_context_create_f(MPI_COMM_WORLD, context_options, ctx))
    call check(weft_plan_create(ctx, problem, options, plan)) ! options are zero: weft chooses how
    call check(weft_plan_box(plan, WEFT_INPUT, rank, mine))
    call check(weft_plan_box(plan, WEFT_OUTPUT, rank, theirs))
    call check(weft_plan_bytes(plan, WEFT_INPUT, in_bytes))
    call check(weft_plan_bytes(plan, WEFT_OUTPUT, out_bytes))
    allocate (field(in_bytes / 8 + 1), back(in_bytes / 8 + 1), spectrum(out_bytes / 16 + 1))

    call fill(field)
    call check(weft_execute(plan, WEFT_FORWARD, c_loc(field), c_loc(spectrum)))
    error = largest_error(spectrum)
    call check(weft_execute(plan, WEFT_INVERSE, c_loc(spectrum), c_loc(back)))
    error = max(error, maxval(abs(back(:product(mine%n)) - field(:product(mine%n)))))
    call MPI_Allreduce(error, largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, code)
    if (rank == 0) print '(a, es8.1)', 'there and back: largest difference', largest

    call weft_plan_destroy(plan)
    call weft_context_destroy(ctx)
    call MPI_Finalize(code)
    if (largest > 1e-12_c_double) error stop 1

contains

    ! This rank's part of cos(2 pi (x / nx + 3 y / ny + 2 z / nz)).
    subroutine fill(numbers)
        real(c_double), intent(out) :: numbers(:)
        integer(c_int64_t) :: x, y, z, at
        at = 0
        do z = mine%lo(1), mine%lo(1) + mine%n(1) - 1
            do y = mine%lo(2), mine%lo(2) + mine%n(2) - 1
                do x = mine%lo(3), mine%lo(3) + mine%n(3) - 1
                    at = at + 1
                    numbers(at) = cos(turn * (real(x, c_double) / nx + 3 * real(y, c_double) / ny + &
                        2 * real(z, c_double) / nz))
                end do
            end do
        end do
    end subroutine fill

    ! The spectrum of the wave is 1/2 at the frequency (1, 3, 2), and 0 elsewhere.
    function largest_error(numbers) result(error)
        complex(c_double_complex), intent(in) :: numbers(:)
        real(c_double) :: error, wanted
        integer(c_int64_t) :: x, y, z, at
        at = 0
        error = 0
        do z = theirs%lo(1), theirs%lo(1) + theirs%n(1) - 1
            do y = theirs%lo(2), theirs%lo(2) + theirs%n(2) - 1
                do x = theirs%lo(3), theirs%lo(3) + theirs%n(3) - 1
                    at = at + 1
                    wanted = merge(0.5_c_double, 0.0_c_double, x == 1 .and. y == 3 .and. z == 2)
                    error = max(error, abs(numbers(at) - wanted))
                end do
            end do
        end do
    end function largest_error

    subroutine check(status)
        integer(c_int), intent(in) :: status
        if (status == WEFT_SUCCESS) return
        print '(a)', weft_error_text(ctx)
        call MPI_Abort(MPI_COMM_WORLD, 1, code)
    end subroutine check
end program transform
