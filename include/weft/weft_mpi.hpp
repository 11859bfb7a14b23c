/*
 * weft for C++ over MPI: <weft/weft.hpp> with contexts of communicators.
 */
#ifndef WEFT_MPI_HPP
#define WEFT_MPI_HPP

#include <weft/weft.hpp>
#include <weft/weft_mpi.h>

namespace weft {

/* A context over the ranks of comm, which the caller may free. It and its plans are gone before
 * MPI_Finalize. Collective. */
inline context mpi_context(MPI_Comm comm,
                           const weft_context_options &options = weft_context_options()) {
    weft_context made = nullptr;
    check(weft_mpi_context_create(comm, &options, &made));
    return context::adopt(made);
}

} // namespace weft

#endif
