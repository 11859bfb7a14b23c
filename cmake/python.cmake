# WEFT_PYTHON: an interpreter that has NumPy, for `weft bench`, `weft plot` and the tests of the command; empty where
# there is none.
set(WEFT_PYTHON "" CACHE FILEPATH "Python with NumPy")
if(NOT WEFT_PYTHON)
  find_package(Python3 COMPONENTS Interpreter)
  # A version manager in front of the system's Python often lacks its packages.
  find_program(WEFT_SYSTEM_PYTHON python3 PATHS /usr/bin /usr/local/bin NO_DEFAULT_PATH)
  foreach(python IN ITEMS ${Python3_EXECUTABLE} ${WEFT_SYSTEM_PYTHON})
    execute_process(COMMAND ${python} -c "import numpy" RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(status EQUAL 0)
      set(WEFT_PYTHON ${python} CACHE FILEPATH "Python with NumPy" FORCE)
      break()
    endif()
  endforeach()
endif()
