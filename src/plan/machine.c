/* The default machine; machine.h says where its numbers come from. */
#include "plan/machine.h"

const weft_machine weft_machine_default = {
    .rate = {.memory = 12e9, .bandwidth = 5e9, .latency = 3e-6, .flops = 4e9, .thread_gain = 1.6},
    .penalty = {.datatypes = 3.0, .realigned = 1.4, .strided = 1.2, .device_links = 2.0},
    .tiling =
        {.two = 32e6, .four = 128e6, .growth = 8, .most = 16, .most_consumed = 16, .copied = 0.5},
    .streaming = {.slots = 3, .least_tiles = 8, .tile = 128e6, .row = 128e3},
    .buffers = {.workspace = 10,
                .third = 100,
                .final_copy = 15,
                .shared_copy = 15,
                .elsewhere = 1,
                .waiting = 15,
                .own_packed = 15,
                .own_shifted = 1},
    .search = {.faster_by_far = 1.5,
               .hopeless = 4.0,
               .discarded = 16.0,
               .examined_grids = 4096,
               .listed_grids = 12,
               .measured = 6,
               .runs = 3},
};
