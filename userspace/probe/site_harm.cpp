// SPDX-License-Identifier: Apache-2.0
//
// Why a place is refused, whatever the kind of probe: it is no code, or the kernel runs its
// instruction wrong under a probe (probed_instruction.h). Called by the compilers, and by the list,
// which says so of what -e would refuse.
#include "probe/site_harm.h"

#include "probe/probed_instruction.h"
#include "probe/site_cost.h"

#include <algorithm>

#include <fmt/format.h>

namespace tracer {
namespace {

bool is_in_code(const ElfFile& elf, uint64_t file_offset) {
    return std::ranges::any_of(elf.segments(), [&](const ElfSegment& segment) {
        return segment.is_executable && file_offset >= segment.file_offset &&
               file_offset - segment.file_offset < segment.file_bytes;
    });
}

}  // namespace

std::optional<SiteHarm> find_harm(const ProbeSpec& spec,
                                  const ProbeFile& file,
                                  uint64_t file_offset,
                                  bool allow_nop5) {
    // A probe writes its breakpoint even into constants, where the program reads it.
    if (!is_in_code(file.elf(), file_offset)) {
        return SiteHarm{ErrorCode::bad_input, "outside of the file's code", {}};
    }
    const uint64_t bytes_behind = file.elf().size() - file_offset;
    const auto code =
        file.elf().read(file_offset, std::min<uint64_t>(2 * kInstructionBytesMax, bytes_behind));
    if (!code) {
        return SiteHarm{ErrorCode::bad_input, "at an instruction that cannot be read", {}};
    }
    if (!allow_nop5 && is_nop5(*code)) {
        return SiteHarm{
            ErrorCode::missing_feature,
            "at a 5-byte nop, where a probe kills children that are forked after its first hit "
            "and overwrites the red zone (Linux 6.18 makes a call of it)",
            "--fast-sites allows it on kernels that pass a test at the start; tracer doctor says "
            "whether this one does"};
    }
    const auto instruction = harm_of_probe(*code);
    if (instruction.empty()) return std::nullopt;
    SiteHarm harm{ErrorCode::missing_feature,
                  fmt::format("at an instruction that goes wrong under a probe ({})", instruction),
                  {}};
    const auto bytes = bytes_to_harmless(*code);
    if (bytes && spec.kind == ProbeKind::uprobe) {
        harm.hint = fmt::format("the instruction behind it can have one: u:{}:{}+{:#x}", spec.path,
                                spec.name, spec.symbol_offset + *bytes);
    }
    return harm;
}

}  // namespace tracer
