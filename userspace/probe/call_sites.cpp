// SPDX-License-Identifier: Apache-2.0
//
// Where a function is called from: distances of calls and jumps in a file's code, compared with the
// one that would lead to it (Intel SDM volume 2, CALL, JMP, Jcc: relative to the next instruction).
// Called by the compiler of calls: probes; reads the code in pieces, once for each function.
#include "probe/call_sites.h"

#include "probe/code_place.h"
#include "tracer/base/byte_cursor.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>

namespace tracer {

namespace {

constexpr uint64_t kPieceBytes = 1ull << 20;
constexpr size_t kDistanceBytes = 4;

// Bytes of the opcode at the begin of `code`; 0: it is none that has such a distance.
size_t opcode_bytes(std::span<const std::byte> code) {
    const auto first = static_cast<uint8_t>(code[0]);
    if (first == 0xe8 || first == 0xe9) return 1;
    const bool is_jcc = first == 0x0f && (static_cast<uint8_t>(code[1]) & 0xf0) == 0x80;
    return is_jcc ? 2 : 0;
}

// Bytes that spell an instruction which leads to the target.
struct Match {
    uint64_t vaddr = 0;
    uint64_t file_offset = 0;
    uint64_t end = 0;  // link-time address
};

// The instruction's first byte, which may be a prefix (67 e8, where the linker made a call through
// a pointer direct); nullopt: the bytes are a part of another instruction.
std::optional<uint64_t> instruction_of(const ElfFile& file,
                                       const SymbolTable& symbols,
                                       const Match& match) {
    const auto function = function_holding(file, symbols, match.vaddr);
    const auto check = check_boundary_at(file, function, match.vaddr);
    if (check.state != BoundaryCheck::State::inside) return match.file_offset;
    const auto& holder = check.instruction;
    if (holder.vaddr + holder.bytes != match.end) return std::nullopt;
    return match.file_offset - (match.vaddr - holder.vaddr);
}

// mov $ADDRESS, %r32, push $ADDRESS and the like, of programs at fixed addresses; lea
// DISTANCE(%rip), %r, whose opcode is at the begin of `code`.
bool uses_address(std::span<const std::byte> code, uint64_t vaddr, uint64_t target) {
    uint32_t constant = 0;
    ByteCursor cursor(code);
    if (cursor.read(constant) && constant == target) return true;
    constexpr size_t kOpcodeBytes = 2;
    const bool is_lea =
        static_cast<uint8_t>(code[0]) == 0x8d && (static_cast<uint8_t>(code[1]) & 0xc7) == 0x05;
    if (!is_lea) return false;
    ByteCursor behind(code.subspan(kOpcodeBytes));
    int32_t distance = 0;
    if (!behind.read(distance)) return false;
    const uint64_t next = vaddr + kOpcodeBytes + kDistanceBytes;
    return next + static_cast<uint64_t>(int64_t{distance}) == target;
}

void search(std::span<const std::byte> code,
            uint64_t vaddr,
            uint64_t file_offset,
            size_t count,
            uint64_t target,
            std::vector<Match>& found,
            size_t& address_uses) {
    constexpr size_t kShortest = 1 + kDistanceBytes;
    for (size_t at = 0; at < count && at + kShortest <= code.size(); ++at) {
        if (uses_address(code.subspan(at), vaddr + at, target)) ++address_uses;
        const size_t opcode = opcode_bytes(code.subspan(at));
        if (opcode == 0) continue;
        ByteCursor cursor(code.subspan(at + opcode));
        int32_t distance = 0;
        if (!cursor.read(distance)) continue;
        const uint64_t next = vaddr + at + opcode + kDistanceBytes;
        if (next + static_cast<uint64_t>(int64_t{distance}) == target) {
            found.push_back({vaddr + at, file_offset + at, next});
        }
    }
}

}  // namespace

CallSites find_call_sites(const ElfFile& file, const SymbolTable& symbols, uint64_t target) {
    constexpr uint64_t kOverlap = 2 + kDistanceBytes;
    CallSites sites;
    std::vector<Match> matches;
    for (const ElfSegment& segment : file.segments()) {
        if (!segment.is_executable) continue;
        // What begins in one piece and ends in the next is whole in the first.
        for (uint64_t done = 0; done < segment.file_bytes; done += kPieceBytes) {
            const uint64_t offset = segment.file_offset + done;
            const uint64_t left = segment.file_bytes - done;
            const auto code = file.read(offset, std::min(kPieceBytes + kOverlap, left));
            if (!code) break;
            search(*code, segment.vaddr + done, offset, kPieceBytes, target, matches,
                   sites.address_uses);
        }
    }
    std::vector<uint64_t>& found = sites.offsets;
    for (const Match& match : matches) {
        if (const auto offset = instruction_of(file, symbols, match)) found.push_back(*offset);
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return sites;
}

}  // namespace tracer
