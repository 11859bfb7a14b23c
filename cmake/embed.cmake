# Turns files into C arrays that end with a zero byte, so that programs carry their kernels' sources:
#   cmake -DOUTPUT=FILE.c -DPREFIX=weft_kernels_ -DINPUTS=a.cl,b.h -P embed.cmake
# a.cl becomes `const char weft_kernels_a_cl[]`.
string(REPLACE "," ";" INPUTS "${INPUTS}")
set(text "/* Made by cmake/embed.cmake; do not edit. */\n")
foreach(input IN LISTS INPUTS)
  get_filename_component(name ${input} NAME)
  string(MAKE_C_IDENTIFIER ${name} name)
  file(READ ${input} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
  string(APPEND text "extern const char ${PREFIX}${name}[];\nconst char ${PREFIX}${name}[] = {\n${bytes}0};\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
