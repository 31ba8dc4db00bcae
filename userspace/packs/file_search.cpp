// SPDX-License-Identifier: Apache-2.0
//
// Bytes looked for in a file, piece by piece, of which no more than kSearchBytesMax are looked at:
// code by which a runtime without symbols is recognised, texts by which its layout is. Called for
// the questions of packs.
#include "packs/file_search.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace tracer {

namespace {

constexpr uint64_t kSearchBytesMax = 512ull << 20;
constexpr uint64_t kPieceBytes = 1ull << 20;

struct Range {
    uint64_t offset = 0;
    uint64_t bytes = 0;
};

// File offsets, at most `count_max` of them.
std::vector<uint64_t> search(const ElfFile& file,
                             std::span<const Range> ranges,
                             std::span<const std::byte> wanted,
                             size_t count_max) {
    std::vector<uint64_t> found;
    if (wanted.empty()) return found;
    uint64_t left = kSearchBytesMax;
    for (const Range& range : ranges) {
        for (uint64_t done = 0; done < range.bytes && left != 0; done += kPieceBytes) {
            // What begins in one piece and ends in the next is whole in the first.
            const uint64_t count =
                std::min({kPieceBytes + wanted.size() - 1, range.bytes - done, left});
            const auto piece = file.read(range.offset + done, count);
            if (!piece) break;
            size_t at = 0;
            while (found.size() < count_max) {
                const void* place =
                    ::memmem(piece->data() + at, piece->size() - at, wanted.data(), wanted.size());
                if (place == nullptr) break;
                at = static_cast<size_t>(static_cast<const std::byte*>(place) - piece->data());
                found.push_back(range.offset + done + at);
                ++at;
            }
            left -= std::min(left, kPieceBytes);
        }
    }
    return found;
}

}  // namespace

std::optional<uint64_t> find_code(const ElfFile& file, std::span<const std::byte> bytes) {
    std::vector<Range> ranges;
    for (const ElfSegment& segment : file.segments()) {
        if (segment.is_executable) ranges.push_back({segment.file_offset, segment.file_bytes});
    }
    const auto found = search(file, ranges, bytes, 2);
    return found.size() == 1 ? file.code_address_of(found.front()) : std::nullopt;
}

bool holds_text(const ElfFile& file, std::string_view text) {
    std::vector<Range> ranges;
    for (const ElfSection& section : file.sections()) {
        const bool is_constant = section.name.starts_with(".rodata");
        if (is_constant) ranges.push_back({section.file_offset, section.bytes});
    }
    if (file.sections().empty()) {
        for (const ElfSegment& segment : file.segments()) {
            ranges.push_back({segment.file_offset, segment.file_bytes});
        }
    }
    return !search(file, ranges, std::as_bytes(std::span(text)), 1).empty();
}

}  // namespace tracer
