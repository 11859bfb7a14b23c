#!/usr/bin/env bash
set -euo pipefail
cmake -S . -B build -G Ninja ${CMAKE_ARGS} -DWEFT_TESTS=OFF -DWEFT_EXAMPLES=OFF -DWEFT_FORTRAN=ON -DHDF5_ROOT="$PREFIX"
cmake --build build --parallel "${CPU_COUNT:-2}"
cmake --install build
