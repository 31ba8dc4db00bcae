# SPDX-License-Identifier: Apache-2.0
#
# What `cmake --install` puts where: the program, the libraries that need neither BPF nor root with
# their public headers and a package config (find_package(tracer)), and the documents.
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tracer)
install(TARGETS tracer RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS tracer_abi tracer_base tracer_model tracer_write tracer_sink tracer_c
    EXPORT tracerTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
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
