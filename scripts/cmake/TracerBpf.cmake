# SPDX-License-Identifier: Apache-2.0
#
# Builds the kernel side: clang -> one object a source -> bpftool gen object -> skeleton header.
# Without clang, bpftool or libbpf under TRACER_BPF=AUTO the rest still builds and tests.

set(TRACER_BPF_ENABLED OFF)
if(NOT TRACER_BPF STREQUAL "OFF")
    find_program(TRACER_CLANG NAMES clang clang-19 clang-17 clang-16 clang-15 clang-14)
    find_program(TRACER_BPFTOOL bpftool PATHS /usr/sbin /sbin)
    find_package(PkgConfig)
    if(PkgConfig_FOUND)
        pkg_check_modules(LIBBPF IMPORTED_TARGET libbpf)
        pkg_check_modules(LIBELF IMPORTED_TARGET libelf)
    endif()
    if(TRACER_CLANG AND TRACER_BPFTOOL AND LIBBPF_FOUND AND LIBELF_FOUND)
        set(TRACER_BPF_ENABLED ON)
    elseif(TRACER_BPF STREQUAL "ON")
        message(FATAL_ERROR "TRACER_BPF=ON needs clang, bpftool, libbpf-dev and libelf-dev")
    else()
        message(STATUS "No clang, bpftool, libbpf-dev or libelf-dev: building without the kernel side")
    endif()
endif()

# Where vmlinux.h comes from: the trimmed one in the tree, or the whole of the running kernel's BTF,
# made anew at each configuration.
if(TRACER_BPF_ENABLED)
    if(TRACER_VMLINUX STREQUAL "generate")
        set(TRACER_VMLINUX_FOLDER ${PROJECT_BINARY_DIR}/vmlinux)
        file(MAKE_DIRECTORY ${TRACER_VMLINUX_FOLDER})
        execute_process(
            COMMAND ${TRACER_BPFTOOL} btf dump file /sys/kernel/btf/vmlinux format c
            OUTPUT_FILE ${TRACER_VMLINUX_FOLDER}/vmlinux.h.tmp
            RESULT_VARIABLE failed)
        if(failed)
            message(FATAL_ERROR "bpftool cannot make vmlinux.h here; configure with -DTRACER_VMLINUX=tree")
        endif()
        file(COPY_FILE ${TRACER_VMLINUX_FOLDER}/vmlinux.h.tmp ${TRACER_VMLINUX_FOLDER}/vmlinux.h ONLY_IF_DIFFERENT)
        file(REMOVE ${TRACER_VMLINUX_FOLDER}/vmlinux.h.tmp)
    elseif(TRACER_VMLINUX STREQUAL "tree")
        set(TRACER_VMLINUX_FOLDER ${PROJECT_SOURCE_DIR}/vmlinux/${CMAKE_HOST_SYSTEM_PROCESSOR})
        if(NOT EXISTS ${TRACER_VMLINUX_FOLDER}/vmlinux.h)
            message(FATAL_ERROR "No vmlinux/${CMAKE_HOST_SYSTEM_PROCESSOR}/vmlinux.h; make it with scripts/gen_vmlinux")
        endif()
    else()
        message(FATAL_ERROR "TRACER_VMLINUX is tree or generate, not ${TRACER_VMLINUX}")
    endif()
    set(TRACER_VMLINUX_DEPENDS ${TRACER_VMLINUX_FOLDER}/vmlinux.h)
endif()

# Sets `out` to clang's own system include folders as -idirafter options: the bpf target has none.
function(tracer_bpf_system_includes out)
    execute_process(COMMAND ${TRACER_CLANG} -v -E -x c /dev/null
        ERROR_VARIABLE verbose OUTPUT_QUIET)
    string(REGEX MATCH "search starts here:\n(.*)End of search list" found "${verbose}")
    string(REGEX MATCHALL "/[^\n]+" folders "${CMAKE_MATCH_1}")
    set(options)
    foreach(folder IN LISTS folders)
        list(APPEND options -idirafter ${folder})
    endforeach()
    set(${out} ${options} PARENT_SCOPE)
endfunction()

# tracer_bpf_skeleton(NAME SOURCES a.bpf.c ...): an interface library whose users include
# "NAME.skel.h". Each output is written beside itself and renamed, so a cut build leaves no half.
function(tracer_bpf_skeleton name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES")
    tracer_bpf_system_includes(system_includes)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name})
    file(MAKE_DIRECTORY ${folder})
    set(objects)
    foreach(source IN LISTS arg_SOURCES)
        cmake_path(GET source STEM LAST_ONLY stem)
        set(object ${folder}/${stem}.o)
        add_custom_command(OUTPUT ${object}
            COMMAND ${TRACER_CLANG} -target bpf -mcpu=v3 -g -O2 -Wall -Werror
                -D__TARGET_ARCH_x86 -MD -MF ${object}.d -MT ${object}
                -I${PROJECT_SOURCE_DIR}/include -I${TRACER_VMLINUX_FOLDER} -I${CMAKE_CURRENT_SOURCE_DIR}
                ${system_includes}
                -c ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${object}.tmp
            COMMAND ${CMAKE_COMMAND} -E rename ${object}.tmp ${object}
            DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source} ${TRACER_VMLINUX_DEPENDS}
            DEPFILE ${object}.d
            COMMENT "BPF object ${source}"
            VERBATIM)
        list(APPEND objects ${object})
    endforeach()
    set(linked ${folder}/${name}.bpf.o)
    set(skeleton ${folder}/${name}.skel.h)
    add_custom_command(OUTPUT ${skeleton}
        COMMAND ${TRACER_BPFTOOL} gen object ${linked} ${objects}
        COMMAND sh -c "'${TRACER_BPFTOOL}' gen skeleton '${linked}' name ${name} > '${skeleton}.tmp'"
        COMMAND ${CMAKE_COMMAND} -E rename ${skeleton}.tmp ${skeleton}
        DEPENDS ${objects}
        BYPRODUCTS ${linked}
        COMMENT "BPF skeleton ${name}.skel.h"
        VERBATIM)
    add_custom_target(${name}_generate DEPENDS ${skeleton})
    add_library(${name} INTERFACE)
    add_dependencies(${name} ${name}_generate)
    target_include_directories(${name} SYSTEM INTERFACE ${folder})
    target_link_libraries(${name} INTERFACE PkgConfig::LIBBPF)
endfunction()
