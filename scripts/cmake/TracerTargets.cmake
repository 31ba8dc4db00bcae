# SPDX-License-Identifier: Apache-2.0
#
# How every target of the project is made: the language level, the warnings and the include roots
# in one place.

function(tracer_target_defaults target)
    set_target_properties(${target} PROPERTIES
        CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
        C_STANDARD 11 C_STANDARD_REQUIRED ON
        POSITION_INDEPENDENT_CODE ON)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-missing-field-initializers -Wshadow -Wconversion -Wno-sign-conversion
        $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>
        $<$<BOOL:${TRACER_WERROR}>:-Werror>)
    if(TRACER_SANITIZE)
        target_compile_options(${target} PRIVATE -fsanitize=${TRACER_SANITIZE} -fno-omit-frame-pointer)
        target_link_options(${target} PRIVATE -fsanitize=${TRACER_SANITIZE})
    endif()
endfunction()

# tracer_library(NAME SOURCES ... PUBLIC_LIBS ... PRIVATE_LIBS ...): one static library of a layer.
# Others know it as tracer::NAME without the prefix. Public headers are under include/tracer/, the layer's own under userspace/.
function(tracer_library name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;PUBLIC_LIBS;PRIVATE_LIBS")
    add_library(${name} STATIC ${arg_SOURCES})
    string(REPLACE tracer_ "" short_name ${name})
    add_library(tracer::${short_name} ALIAS ${name})
    set_target_properties(${name} PROPERTIES EXPORT_NAME ${short_name})
    target_compile_features(${name} PUBLIC cxx_std_20)
    tracer_target_defaults(${name})
    target_include_directories(${name}
        PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
        PRIVATE ${PROJECT_SOURCE_DIR}/userspace)
    target_link_libraries(${name} PUBLIC ${arg_PUBLIC_LIBS} PRIVATE ${arg_PRIVATE_LIBS})
endfunction()

# tracer_test(NAME SOURCES ... LIBS ... LABELS label [TIMEOUT seconds]): one GoogleTest program, each
# case a CTest test. The label says how scripts/test runs it: unit and golden beside others; root and
# e2e alone, as root. There is exactly one: gtest_discover_tests drops the TIMEOUT after a second.
function(tracer_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;LIBS;LABELS")
    if(NOT arg_LABELS MATCHES "^(unit|golden|root|e2e)$")
        message(FATAL_ERROR "tracer_test ${name}: LABELS is one of unit, golden, root, e2e")
    endif()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 60)
    endif()
    add_executable(${name} ${arg_SOURCES})
    tracer_target_defaults(${name})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/userspace ${PROJECT_SOURCE_DIR}/tests)
    target_link_libraries(${name} PRIVATE ${arg_LIBS} GTest::gtest GTest::gmock GTest::gtest_main)
    gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 NO_PRETTY_VALUES
        PROPERTIES LABELS ${arg_LABELS} TIMEOUT ${arg_TIMEOUT})
endfunction()
