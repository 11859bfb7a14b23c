# Does what the section "Add an exchange method" of docs/contributing.md says, to copies of the files that it names: writes
# the method's source from the section's code, and adds the enumerator, its spelling and the line of the list.
#   cmake -DSOURCE=FOLDER -DOUTPUT=FOLDER -P exchange_example.cmake
file(READ ${SOURCE}/docs/contributing.md section)
string(REGEX REPLACE "^.*\n## Add an exchange method\n" "" section "${section}")
string(REGEX REPLACE "\n## .*$" "" section "${section}")

# What the section tells to add to a file: the text in backticks behind its name.
function(read_instruction file result)
  if(NOT section MATCHES "`${file}`: `([^`]+)`")
    message(FATAL_ERROR "docs/contributing.md no longer says what to add to ${file}")
  endif()
  set(${result} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()

# Adds an item before the end of the first list behind `opening`, which ends with `closing`.
function(add_to_list file opening closing item)
  file(READ ${SOURCE}/${file} text)
  string(FIND "${text}" "${opening}" begin)
  if(begin EQUAL -1)
    message(FATAL_ERROR "${file} has no ${opening}")
  endif()
  string(SUBSTRING "${text}" 0 ${begin} before)
  string(SUBSTRING "${text}" ${begin} -1 text)
  string(FIND "${text}" "${closing}" end)
  string(SUBSTRING "${text}" 0 ${end} list)
  string(SUBSTRING "${text}" ${end} -1 after)
  file(WRITE ${OUTPUT}/${file} "${before}${list}, ${item}${after}")
endfunction()

read_instruction(include/weft/weft.h enumerator)
add_to_list(include/weft/weft.h "typedef enum weft_exchange {" "}" "${enumerator}")
read_instruction(src/support/names.c spelling)
add_to_list(src/support/names.c "*weft_exchange_name(" "};" "${spelling}")
read_instruction(src/exchange/exchanges.def line)
file(READ ${SOURCE}/src/exchange/exchanges.def lines)
file(WRITE ${OUTPUT}/src/exchange/exchanges.def "${lines}${line}\n")

string(FIND "${section}" "\n```c\n" begin)
math(EXPR begin "${begin} + 6")
string(SUBSTRING "${section}" ${begin} -1 code)
string(FIND "${code}" "```" end)
string(SUBSTRING "${code}" 0 ${end} code)
file(WRITE ${OUTPUT}/src/exchange/p2p_ring.c "${code}")
