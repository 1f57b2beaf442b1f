# Two targets: porous::porous, which is shared, and porous::porous_static.
get_filename_component(_porous "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET porous::porous)
  add_library(porous::porous SHARED IMPORTED)
  set_target_properties(porous::porous PROPERTIES
    IMPORTED_LOCATION "${_porous}/lib/libporous.so.@version@"
    IMPORTED_SONAME "libporous.so.@abi@"
    INTERFACE_INCLUDE_DIRECTORIES "${_porous}/include")

  add_library(porous::porous_static STATIC IMPORTED)
  set(_needed "@needed@")
  separate_arguments(_needed)
  set_target_properties(porous::porous_static PROPERTIES
    IMPORTED_LOCATION "${_porous}/lib/libporous.a"
    INTERFACE_LINK_LIBRARIES "${_needed}"
    INTERFACE_INCLUDE_DIRECTORIES "${_porous}/include")
  unset(_needed)
endif()
unset(_porous)
