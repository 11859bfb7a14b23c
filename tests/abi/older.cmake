# Writes the header as a version before the present one had it: members that came out of `reserved` are back there.
#   cmake -DHEADER=weft.h -DOLDER=FOLDER/weft/weft.h -P older.cmake
file(READ ${HEADER} text)
function(take_away member reserved before)
  string(FIND "${text}" "${member}" place)
  string(FIND "${text}" "${reserved}" room)
  if(place EQUAL -1 OR room EQUAL -1)
    message(FATAL_ERROR "weft.h has no \"${member}\" or no \"${reserved}\"; tests/abi/older.cmake takes away what is new")
  endif()
  string(REPLACE "${member}" "" changed "${text}")
  string(REPLACE "${reserved}" "${before}" changed "${changed}")
  set(text "${changed}" PARENT_SCOPE)
endfunction()
take_away("weft_stream stream;\n    int64_t direction;" "int64_t wire;      /* a weft_wire */\n    int64_t reserved[12];\n} weft_options;"
  "int64_t reserved[15];\n} weft_options;")
take_away("int64_t fields, result_fields, fields_fastest;\n" "    int64_t truncate_to[WEFT_MAX_RANK];\n    int64_t reserved[13];\n} weft_problem;"
  "    int64_t reserved[24];\n} weft_problem;")
take_away("int64_t reduction; /* REDUCE: a weft_reduction. Not together with a matrix */" "int64_t reserved[4];\n} weft_operator;"
  "int64_t reserved[5];\n} weft_operator;")
file(WRITE ${OLDER} "${text}")
