# The device and the engine openmp: whether the compiler can do them, which flags their files want, and what stands in
# where it cannot. Only these files are compiled with OpenMP if WEFT_OPENMP is OFF.
set(WEFT_OPENMP_OFFLOAD_LINK "") # what links libweft, and what is linked to a static one, beside OpenMP's library
if(WEFT_OPENMP_DEVICE AND WEFT_SANITIZE MATCHES thread)
  message(STATUS "weft: no device openmp, since the thread sanitizer does not know OpenMP's threads")
  set(WEFT_OPENMP_DEVICE OFF)
endif()
if(WEFT_OPENMP_DEVICE)
  find_package(OpenMP QUIET COMPONENTS C)
  if(NOT OpenMP_C_FOUND OR OpenMP_C_SPEC_DATE LESS 201511) # not the version, which CMake does not know of newer ones
    message(STATUS "weft: no device openmp, since ${CMAKE_C_COMPILER} has no OpenMP 4.5")
    set(WEFT_OPENMP_DEVICE OFF)
  endif()
endif()
if(WEFT_OPENMP_DEVICE)
  include(CheckCSourceCompiles)
  set(CMAKE_REQUIRED_LIBRARIES OpenMP::OpenMP_C)
  check_c_source_compiles("#include <omp.h>
    int main(void) { return omp_target_alloc(8, omp_get_initial_device()) == 0; }" WEFT_OPENMP_HAS_MEMORY)
  # Of OpenMP 5.0: GCC 11, which says that it has 4.5.
  check_c_source_compiles("#include <omp.h>
    int main(void) {
      omp_event_handle_t event = (omp_event_handle_t)0;
      #pragma omp task detach(event)
      omp_fulfill_event(event);
      return 0; }" WEFT_OPENMP_DETACHES)
  unset(CMAKE_REQUIRED_LIBRARIES)
  set(WEFT_OPENMP_QUEUES threads) # or tasks, where these can be relied on (src/device/openmp/queue.h)
  if(CMAKE_C_COMPILER_ID STREQUAL GNU AND WEFT_OPENMP_DETACHES)
    set(WEFT_OPENMP_QUEUES tasks)
  endif()
  if(NOT WEFT_OPENMP_OFFLOAD AND CMAKE_C_COMPILER_ID STREQUAL GNU)
    # Where its package for that is installed, GCC else translates target regions for a GPU as it links.
    set(WEFT_OPENMP_OFFLOAD_LINK $<$<C_COMPILER_ID:GNU>:-foffload=disable>)
  elseif(WEFT_OPENMP_OFFLOAD)
    # GCC adds tables of what it has translated to programs that are linked with -fopenmp.
    separate_arguments(WEFT_OPENMP_OFFLOAD_LINK UNIX_COMMAND "${OpenMP_C_FLAGS} ${WEFT_OPENMP_OFFLOAD}")
    if(NOT WEFT_OPENMP_HAS_MEMORY) # Clang: a library beside that of OpenMP
      list(GET OpenMP_C_LIBRARIES 0 openmp_library)
      get_filename_component(openmp_folder ${openmp_library} DIRECTORY)
      find_library(WEFT_OMPTARGET_LIBRARY omptarget HINTS ${openmp_folder} REQUIRED)
      list(APPEND WEFT_OPENMP_OFFLOAD_LINK ${WEFT_OMPTARGET_LIBRARY})
    endif()
  endif()
endif()

# Takes the files of the device and the engine, or those that stand in, from the list, and gives them their flags.
function(weft_openmp_device_sources list)
  set(sources ${${list}})
  if(NOT WEFT_OPENMP_DEVICE)
    list(FILTER sources EXCLUDE REGEX "src/(device|engine)/openmp/|/on_openmp.c$")
    list(APPEND sources ${PROJECT_SOURCE_DIR}/src/device/openmp/absent.c ${PROJECT_SOURCE_DIR}/src/engine/openmp/absent.c)
    set(${list} ${sources} PARENT_SCOPE)
    return()
  endif()
  list(FILTER sources EXCLUDE REGEX "src/(device|engine)/openmp/(absent|queue_of_[a-z]+).c$")
  list(APPEND sources ${PROJECT_SOURCE_DIR}/src/device/openmp/queue_of_${WEFT_OPENMP_QUEUES}.c)
  set(files ${sources})
  list(FILTER files INCLUDE REGEX "src/(device|engine)/openmp/")
  separate_arguments(flags UNIX_COMMAND "${OpenMP_C_FLAGS} ${WEFT_OPENMP_OFFLOAD}")
  set_source_files_properties(${files} PROPERTIES COMPILE_OPTIONS "${flags}")
  if(NOT WEFT_OPENMP_HAS_MEMORY AND NOT WEFT_OPENMP_OFFLOAD)
    set_source_files_properties(${files} PROPERTIES COMPILE_DEFINITIONS WEFT_OPENMP_HOST_ONLY)
  elseif(WEFT_OPENMP_OFFLOAD AND CMAKE_C_COMPILER_ID STREQUAL GNU)
    set_source_files_properties(${files} PROPERTIES COMPILE_DEFINITIONS WEFT_OPENMP_LANES)
  endif()
  set(${list} ${sources} PARENT_SCOPE)
endfunction()
