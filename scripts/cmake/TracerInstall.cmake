# SPDX-License-Identifier: Apache-2.0
#
# What `cmake --install` puts where: the program, the libraries that need neither BPF nor root with
# their public headers and a package config (find_package(tracer)), and the documents.
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tracer)
install(TARGETS tracer RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS tracer_abi tracer_base tracer_model tracer_write tracer_sink tracer_c tracer_ring_cursor
        tracer_ring tracer_ring_shared
    EXPORT tracerTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
# The library in C is for programs that are built without CMake too.
file(RELATIVE_PATH TRACER_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${CMAKE_CURRENT_LIST_DIR}/tracer_ring.pc.in ${PROJECT_BINARY_DIR}/tracer_ring.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tracer_ring.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tracer
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/LICENSE
    DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/bpf/LICENSES DESTINATION ${CMAKE_INSTALL_DOCDIR})
# The summary's JSON is an interface too.
install(FILES ${PROJECT_SOURCE_DIR}/userspace/session/README.md
    DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME summary.md)

install(EXPORT tracerTargets NAMESPACE tracer:: DESTINATION ${package_folder})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/tracerConfig.cmake.in
    ${PROJECT_BINARY_DIR}/tracerConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tracerConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tracerConfig.cmake ${PROJECT_BINARY_DIR}/tracerConfigVersion.cmake
    DESTINATION ${package_folder})
