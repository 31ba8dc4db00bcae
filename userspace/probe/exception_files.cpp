// SPDX-License-Identifier: Apache-2.0
//
// A process in which nothing has a table of landing pads (.gcc_except_table) has nobody who could
// catch: exceptions need the C++ or Rust runtime, and those have one. The C library has one too,
// for threads that are cancelled, and throws nothing.
//
// Called by the compiler of function probes.
#include "probe/exception_files.h"

#include <algorithm>

namespace tracer {

namespace {

bool is_c_library(std::string_view path) {
    const auto name = base_name(path);
    return name.starts_with("libc.so") || name.starts_with("libc-2.") ||
           name.starts_with("libpthread");
}

bool is_program(const ElfFile& elf) {
    const auto dynamic = elf.dynamic();
    return elf.is_fixed_address() || !elf.interpreter().empty() ||
           (dynamic && dynamic->is_executable_pie);
}

}  // namespace

bool ExceptionFiles::has_thrower() const {
    return std::ranges::any_of(targets_.files(), [](const TargetFile& file) {
        if (is_c_library(file.shown_path)) return false;
        const auto elf = ElfFile::open(file.open_path);
        // Of another machine, or no ELF file at all: no code that runs here.
        return elf && elf->has_cxx_exceptions();
    });
}

bool ExceptionFiles::may_pass_through(const ElfFile& elf) const {
    if (targets_.is_part_of_process()) return true;
    if (are_libraries_shared_ && !is_program(elf)) return true;
    if (!has_thrower_) has_thrower_ = has_thrower();
    return *has_thrower_;
}

}  // namespace tracer
