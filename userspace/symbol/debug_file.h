// SPDX-License-Identifier: Apache-2.0
//
// The separate file that holds what was stripped from a program: names and debug information.
// Places are never taken from it: offsets are always those of the executed file.
#pragma once

#include "symbol/elf_file.h"
#include "tracer/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tracer {

struct DebugFileSearch {
    std::string folder = "/usr/lib/debug";
    // Asks the servers of DEBUGINFOD_URLS through the program debuginfod-find: over the network, so
    // only when the user says so.
    bool use_debuginfod = false;
};

struct DebugFile {
    std::optional<ElfFile> file;  // none found, or none that belongs to the program
    // Files that were found and are not used, each with the reason, as sentences for the user.
    std::vector<std::string> refused;
};

// Looks in this order, as GDB does (its manual, "Debugging Information in Separate Files"):
// FOLDER/.build-id/xx/yyy.debug; the name in .gnu_debuglink next to the file, in .debug/ next to
// it, and under FOLDER; then debuginfod. For a file of another mount namespace (/proc/PID/root/...)
// that namespace's FOLDER too. A file belongs to the program when its build-id is the same, or
// without one its CRC the one that the program names, and its code is linked at the same addresses.
[[nodiscard]] DebugFile find_debug_file(const ElfFile& file, const DebugFileSearch& search);

// Names of functions that distributions leave in the program itself (.gnu_debugdata: an ELF file
// under xz). nullopt: there are none, or malformed or larger than 256 MiB.
[[nodiscard]] std::optional<ElfFile> read_mini_debug_info(const ElfFile& file);

// The CRC-32 of .gnu_debuglink, of a whole file.
[[nodiscard]] Result<uint32_t> debug_link_crc(const FileBytes& bytes);

}  // namespace tracer
