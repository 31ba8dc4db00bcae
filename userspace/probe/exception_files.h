// SPDX-License-Identifier: Apache-2.0
//
// Whether exceptions, of C++ or of Rust, may pass through the functions of a file: a return probe
// of the kernel's ends the program then (return_way.h).
#pragma once

#include "probe/probe_compiler.h"
#include "probe/target_files.h"
#include "symbol/elf_file.h"

#include <optional>

namespace tracer {

class ExceptionFiles {
public:
    // Borrows the files, of both.
    ExceptionFiles(const TargetFiles& targets, const CompileOptions& options)
        : targets_(options.process_files != nullptr ? *options.process_files : targets),
          are_libraries_shared_(options.process_files == nullptr && options.are_libraries_shared) {}

    // True also where it is not known. C code is passed when it calls back: qsort, a parser's
    // handlers.
    [[nodiscard]] bool may_pass_through(const ElfFile& elf) const;

private:
    [[nodiscard]] bool has_thrower() const;

    const TargetFiles& targets_;
    bool are_libraries_shared_;
    mutable std::optional<bool> has_thrower_;  // looked for once
};

}  // namespace tracer
