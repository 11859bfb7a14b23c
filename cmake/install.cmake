# What `cmake --install` puts in place: headers, libraries, pkg-config and CMake package files, examples (tools/ adds
# the command).
# Everything is relocatable: paths are relative to the installed files.
include(CMakePackageConfigHelpers)
set(WEFT_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
set(WEFT_PKGCONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH WEFT_LIBDIR_TO_PREFIX /p/${WEFT_PKGCONFIG_DIR} /p)
string(REGEX REPLACE "/$" "" WEFT_LIBDIR_TO_PREFIX ${WEFT_LIBDIR_TO_PREFIX})

# What a static libweft needs besides the C library.
set(WEFT_STATIC_LIBRARIES "")
if(TARGET OpenMP::OpenMP_C)
  set(WEFT_STATIC_LIBRARIES ${OpenMP_C_LIBRARIES})
  list(FILTER WEFT_STATIC_LIBRARIES EXCLUDE REGEX "libpthread") # -pthread brings it
endif()
foreach(library ${JANSSON_LINK_LIBRARIES} ${HWLOC_LINK_LIBRARIES} ${WEFT_STATIC_LIBRARIES})
  target_link_libraries(weft_static INTERFACE $<INSTALL_INTERFACE:${library}>)
endforeach()
string(JOIN " " WEFT_STATIC_LIBRARIES ${WEFT_STATIC_LIBRARIES})
if(WEFT_HWLOC) # by name: its package file would ask for what a static hwloc needs
  string(JOIN " " WEFT_STATIC_LIBRARIES ${WEFT_STATIC_LIBRARIES} ${HWLOC_LDFLAGS})
endif()

# weft::weft and weft::weft_static; weft::weft_mpi and weft::weft_mpi_static in an export of their own, so that the
# package can be found on a machine that has no MPI.
function(weft_install_library name)
  set_target_properties(${name}_shared PROPERTIES EXPORT_NAME ${name} INSTALL_RPATH "$ORIGIN")
  set_target_properties(${name}_static PROPERTIES EXPORT_NAME ${name}_static)
  install(TARGETS ${name}_shared ${name}_static EXPORT ${name}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT ${name} NAMESPACE weft:: FILE ${name}-targets.cmake DESTINATION ${WEFT_PACKAGE_DIR})
endfunction()

weft_install_library(weft)
install(FILES include/weft/weft.h include/weft/weft.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft)
configure_file(cmake/weft.pc.in weft.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/weft.pc DESTINATION ${WEFT_PKGCONFIG_DIR})

if(WEFT_MPI)
  weft_install_library(weft_mpi)
  # C++ programs get by without MPI's C++ bindings, which would need a library more.
  foreach(type shared static)
    target_compile_definitions(weft_mpi_${type} INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  endforeach()
  install(FILES include/weft/weft_mpi.h include/weft/weft_mpi.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft)
  list(TRANSFORM MPI_C_INCLUDE_DIRS PREPEND -I OUTPUT_VARIABLE include_flags)
  string(JOIN " " WEFT_MPI_CFLAGS ${include_flags})
  string(JOIN " " WEFT_MPI_LIBS ${MPI_C_LINK_FLAGS} ${MPI_C_LIBRARIES})
  configure_file(cmake/weft-mpi.pc.in weft-mpi.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/weft-mpi.pc DESTINATION ${WEFT_PKGCONFIG_DIR})
endif()

if(WEFT_WITH_FORTRAN)
  install(TARGETS weft_fortran EXPORT weft_fortran ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT weft_fortran NAMESPACE weft:: FILE weft_fortran-targets.cmake DESTINATION ${WEFT_PACKAGE_DIR})
  install(FILES ${PROJECT_BINARY_DIR}/fortran/weft.mod DESTINATION ${WEFT_FORTRAN_DIR})
  configure_file(cmake/weft-fortran.pc.in weft-fortran.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/weft-fortran.pc DESTINATION ${WEFT_PKGCONFIG_DIR})
endif()
install(FILES fortran/weft.f90 DESTINATION ${CMAKE_INSTALL_DATADIR}/weft/fortran) # for other compilers

configure_package_config_file(cmake/weft-config.cmake.in weft-config.cmake INSTALL_DESTINATION ${WEFT_PACKAGE_DIR})
write_basic_package_version_file(weft-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES cmake/mpi.cmake DESTINATION ${WEFT_PACKAGE_DIR} RENAME weft-mpi-wrapper.cmake)
install(FILES ${PROJECT_BINARY_DIR}/weft-config.cmake ${PROJECT_BINARY_DIR}/weft-config-version.cmake
  DESTINATION ${WEFT_PACKAGE_DIR})

set(WEFT_MODULE_DIR ${CMAKE_INSTALL_DATADIR}/weft/modulefiles/weft)
file(RELATIVE_PATH WEFT_MODULE_TO_PREFIX /p/${WEFT_MODULE_DIR} /p)
configure_file(packaging/modules/weft.in modulefile @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/modulefile DESTINATION ${WEFT_MODULE_DIR} RENAME ${PROJECT_VERSION})

install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.[ch]" PATTERN "*.cpp" PATTERN "*.f90" PATTERN "*.cl" PATTERN "*.py")
