# Manual pages and completions of the command, written by the command itself, and where they are installed.
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  message(STATUS "weft: no manual pages and completions, since the command cannot run here; weft manual and weft completion write them")
  return()
endif()
if(WEFT_SANITIZE) # whose programs do not run everywhere
  return()
endif()
set(pages ${CMAKE_CURRENT_BINARY_DIR}/pages)
file(MAKE_DIRECTORY ${pages}/man1)
add_custom_command(OUTPUT ${pages}/written
  COMMAND weft_command manual --output ${pages}/man1
  COMMAND weft_command completion bash > ${pages}/weft.bash
  COMMAND weft_command completion zsh > ${pages}/_weft
  COMMAND weft_command completion fish > ${pages}/weft.fish
  COMMAND ${CMAKE_COMMAND} -E touch ${pages}/written
  DEPENDS weft_command VERBATIM)
add_custom_target(weft_pages ALL DEPENDS ${pages}/written)
install(DIRECTORY ${pages}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} FILES_MATCHING PATTERN "*.1")
install(FILES ${pages}/weft.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME weft)
install(FILES ${pages}/_weft DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${pages}/weft.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
