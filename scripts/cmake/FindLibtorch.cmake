# Finds libtorch without asking for a CUDA toolkit, which torch's own CMake package does.
# Looks in EGPU_LIBTORCH, then CMAKE_PREFIX_PATH, then the .deps folder that scripts/setup fills.
# Gives the target Libtorch::torch; with EGPU_CUDA and libtorch_cuda.so there, its CUDA half too.
file(GLOB _egpu_wheel_torch
  ${CMAKE_SOURCE_DIR}/.deps/venv/lib/python3.*/site-packages/torch)
set(_libtorch_hints ${EGPU_LIBTORCH})
foreach(prefix ${CMAKE_PREFIX_PATH})
  # torch.utils.cmake_prefix_path is <torch>/share/cmake
  list(APPEND _libtorch_hints ${prefix} ${prefix}/../..)
endforeach()
list(APPEND _libtorch_hints ${_egpu_wheel_torch})

find_path(LIBTORCH_ROOT NAMES include/torch/csrc/api/include/torch/torch.h
  PATHS ${_libtorch_hints} NO_DEFAULT_PATH NO_CACHE)
if(NOT LIBTORCH_ROOT)
  message(FATAL_ERROR
    "libtorch not found: looked in EGPU_LIBTORCH='${EGPU_LIBTORCH}', CMAKE_PREFIX_PATH and "
    "${CMAKE_SOURCE_DIR}/.deps. Run scripts/setup, or pass -DEGPU_LIBTORCH=/path/to/libtorch.")
endif()
get_filename_component(LIBTORCH_ROOT ${LIBTORCH_ROOT} REALPATH)
message(STATUS "libtorch: ${LIBTORCH_ROOT}")

add_library(Libtorch::torch INTERFACE IMPORTED)
target_include_directories(Libtorch::torch SYSTEM INTERFACE
  ${LIBTORCH_ROOT}/include ${LIBTORCH_ROOT}/include/torch/csrc/api/include)
# libtorch's own dependencies are found through its RPATH; the linker need not see them.
set(_libtorch_link -Wl,--allow-shlib-undefined
  ${LIBTORCH_ROOT}/lib/libtorch_cpu.so ${LIBTORCH_ROOT}/lib/libc10.so)
set(LIBTORCH_HAS_CUDA FALSE)
if(EGPU_CUDA AND EXISTS ${LIBTORCH_ROOT}/lib/libtorch_cuda.so)
  set(LIBTORCH_HAS_CUDA TRUE)
  # torch registers its CUDA kernels when the library is loaded; no symbol of ours needs it.
  list(APPEND _libtorch_link -Wl,--no-as-needed
    ${LIBTORCH_ROOT}/lib/libtorch_cuda.so ${LIBTORCH_ROOT}/lib/libc10_cuda.so -Wl,--as-needed)
endif()
target_link_libraries(Libtorch::torch INTERFACE ${_libtorch_link})
target_link_options(Libtorch::torch INTERFACE -Wl,-rpath,${LIBTORCH_ROOT}/lib)
