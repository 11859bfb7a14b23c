# What the compiler must have: the kernels for instruction sets are written with __builtin_shufflevector, which GCC has
# from 12 on, and Clang. Others compile the kernels in plain C alone, which are the same algorithms without vectors.
include(CheckCSourceCompiles)
if(NOT CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
  message(WARNING "weft: ${CMAKE_C_COMPILER_ID} is not GCC or Clang, with which weft is tested")
endif()
check_c_source_compiles("typedef double pair __attribute__((vector_size(16)));
  int main(void) { pair a = {1, 2}, b = {0, 0}; a = __builtin_shufflevector(a, b, 1, 2); return (int)a[1]; }"
  WEFT_COMPILER_SHUFFLES)
if(NOT WEFT_COMPILER_SHUFFLES)
  message(STATUS "weft: ${CMAKE_C_COMPILER} has no __builtin_shufflevector (GCC has it from 12 on, Clang has it); the native engine is plain C, without SIMD")
endif()
