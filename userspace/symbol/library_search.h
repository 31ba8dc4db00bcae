// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"

#include <string>
#include <vector>

namespace tracer {

// The environment a program will be started with, as far as it decides what is loaded.
struct SearchEnvironment {
    std::string path;          // PATH
    std::string library_path;  // LD_LIBRARY_PATH
    std::string preload;       // LD_PRELOAD
    std::string loader_config = "/etc/ld.so.conf";

    [[nodiscard]] static SearchEnvironment of_this_process();
};

// The file that execvp would start for `command`. not_found with the folders that were searched.
[[nodiscard]] Result<std::string> find_program(const std::string& command,
                                               const SearchEnvironment& environment);

// The files a program will have mapped when its main function begins: the program (for a script its
// interpreter, through at most four "#!" lines), its loader, and the libraries it needs, their
// needs included. Libraries that are not found are left out: the loader will say so.
[[nodiscard]] Result<std::vector<std::string>> files_of_program(
    const std::string& program_path, const SearchEnvironment& environment);

}  // namespace tracer
