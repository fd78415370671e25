# Language, warnings, compiler cache and output folders for all our targets.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(EGPU_CCACHE ccache)
if(EGPU_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache accepts precompiled headers only with these two exceptions.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${EGPU_CCACHE})
endif()

find_package(Threads REQUIRED)

add_library(egpu_flags INTERFACE)
target_compile_options(egpu_flags INTERFACE
  -Wall -Wextra -Werror -Wsign-conversion
  # The same sum on every host: no fused multiply-add behind our back.
  -ffp-contract=off
  $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
target_compile_definitions(egpu_flags INTERFACE EGPU_VERSION="${PROJECT_VERSION}")
target_link_libraries(egpu_flags INTERFACE Threads::Threads)
if(EGPU_SANITIZE)
  target_compile_options(egpu_flags INTERFACE
    -fsanitize=${EGPU_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(egpu_flags INTERFACE -fsanitize=${EGPU_SANITIZE})
endif()
