/*
 * Ranks take the GPUs in turn, as the CUDA device does by itself, and share the cores of the NUMA
 * node that their GPU hangs on, in equal parts. Without GPUs they share the machine.
 */
#include "affinity.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/cuda/gpu.h"
#include "support/affinity.h"
#include "support/error.h"

typedef struct rank_place {
    int gpu; /* -1: none */
    char address[32];
    weft_affinity near;
    int first, cores; /* this rank's share */
} rank_place;

static weft_status find_place(int rank, int gpus, rank_place *place) {
    *place = (rank_place){.gpu = gpus > 0 ? rank % gpus : -1};
    if (gpus > 0)
        WEFT_TRY(weft_cuda_gpu_address(place->gpu, place->address, sizeof place->address));
    weft_affinity_of_pci(place->address, &place->near);
    return WEFT_SUCCESS;
}

/* Ranks on the same cores share them out in order. */
static void share_cores(rank_place *places, int ranks) {
    for (int r = 0; r < ranks; r++) {
        const weft_affinity *mine = &places[r].near;
        int sharers = 0, before = 0;
        for (int other = 0; other < ranks; other++) {
            bool same =
                places[other].near.first == mine->first && places[other].near.cores == mine->cores;
            sharers += same;
            before += same && other < r;
        }
        int from = before * mine->cores / sharers, to = (before + 1) * mine->cores / sharers;
        places[r].first = mine->first + from;
        places[r].cores = to > from ? to - from : 1; /* more ranks than cores */
    }
}

static void print_place(int rank, const rank_place *p) {
    printf("rank %d: ", rank);
    if (p->gpu >= 0) printf("GPU %d (%s), ", p->gpu, p->address);
    if (p->near.numa >= 0)
        printf("NUMA node %d, ", p->near.numa);
    else
        printf("NUMA node unknown, ");
    printf("cores %d-%d, network %s\n", p->first, p->first + p->cores - 1,
           p->near.network[0] ? p->near.network : "unknown");
}

static void print_slurm(const rank_place *places, int ranks) {
    if (places[0].gpu < 0) return;
    printf("srun --ntasks-per-node=%d --gpu-bind=map_gpu:", ranks);
    for (int r = 0; r < ranks; r++) printf("%s%d", r ? "," : "", places[r].gpu);
    printf("\n");
}

/* Open MPI counts cores as hwloc does, by their logical numbers. */
static weft_status write_rankfile(const rank_place *places, int ranks, const char *name) {
    char host[256] = "localhost";
    FILE *file = fopen(name, "w");
    gethostname(host, sizeof host - 1);
    bool good = file != NULL;
    for (int r = 0; r < ranks && good; r++)
        good = fprintf(file, "rank %d=%s slot=%d-%d\n", r, host, places[r].first,
                       places[r].first + places[r].cores - 1) > 0;
    if (file && fclose(file) != 0) good = false;
    if (good) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_SYSTEM, "cannot write %s: %s", name, strerror(errno));
}

weft_status print_affinity(int ranks, const char *rankfile) {
    int gpus = weft_cuda_driver_open() ? weft_cuda_gpus() : 0;
    if (ranks == 0) ranks = gpus > 0 ? gpus : 1;
    rank_place *places = calloc((size_t)ranks, sizeof *places);
    if (!places) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for %d ranks", ranks);
    weft_status status = WEFT_SUCCESS;
    for (int r = 0; r < ranks && status == WEFT_SUCCESS; r++)
        status = find_place(r, gpus, &places[r]);
    if (status == WEFT_SUCCESS) {
        share_cores(places, ranks);
        for (int r = 0; r < ranks; r++) print_place(r, &places[r]);
        print_slurm(places, ranks);
        if (rankfile) status = write_rankfile(places, ranks, rankfile);
    }
    free(places);
    return status;
}
