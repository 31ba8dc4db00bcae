// SPDX-License-Identifier: Apache-2.0
//
// The binary search table of .eh_frame_hdr. Every number in it is checked against the file, which
// is untrusted. Called where a probe names an address that no symbol covers.
#include "symbol/frame_table.h"

#include "tracer/base/byte_cursor.h"

#include <array>

namespace tracer {

namespace {

// DWARF exception header encodings (LSB core, 10.5.1).
constexpr uint8_t kUnsigned4 = 0x03;
constexpr uint8_t kSigned4RelativeToTable = 0x3b;

constexpr uint64_t kHeadBytes = 12;
constexpr uint64_t kRowBytes = 8;

struct Row {
    int32_t location;
    int32_t entry;
};

class FrameTable {
public:
    FrameTable(const ElfFile& file, const ElfSection& section) : file_(file), section_(section) {}

    std::optional<FunctionRange> find(uint64_t vaddr) const {
        const auto count = row_count();
        if (!count || *count == 0) return std::nullopt;
        // Invariant: rows before `low` begin at or below the address, those from `high` on above.
        uint64_t low = 0;
        uint64_t high = *count;
        while (low < high) {
            const uint64_t middle = low + (high - low) / 2;
            const auto row = read_row(middle);
            if (!row) return std::nullopt;
            if (address_of(row->location) <= vaddr) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if (low == 0) return std::nullopt;
        const auto row = read_row(low - 1);
        if (!row) return std::nullopt;
        return read_range(*row, vaddr);
    }

private:
    [[nodiscard]] uint64_t address_of(int32_t relative) const {
        return section_.vaddr + static_cast<uint64_t>(int64_t{relative});
    }

    // Version 1, and the encodings that GNU ld, gold and lld write.
    [[nodiscard]] std::optional<uint64_t> row_count() const {
        const auto head = file_.read(section_.file_offset, kHeadBytes);
        if (!head || section_.bytes < kHeadBytes) return std::nullopt;
        ByteCursor cursor(*head);
        std::array<uint8_t, 4> encodings{};
        uint32_t frame_pointer = 0;
        uint32_t count = 0;
        if (!cursor.read(encodings) || !cursor.read(frame_pointer) || !cursor.read(count)) {
            return std::nullopt;
        }
        const bool is_known = encodings[0] == 1 && encodings[2] == kUnsigned4 &&
                              encodings[3] == kSigned4RelativeToTable;
        if (!is_known || count > (section_.bytes - kHeadBytes) / kRowBytes) return std::nullopt;
        return count;
    }

    [[nodiscard]] std::optional<Row> read_row(uint64_t index) const {
        const auto bytes =
            file_.read(section_.file_offset + kHeadBytes + index * kRowBytes, kRowBytes);
        Row row{};
        if (!bytes || !ByteCursor(*bytes).read(row)) return std::nullopt;
        return row;
    }

    // The entry: its length, its common entry, where it begins relative to this field, how long.
    [[nodiscard]] std::optional<FunctionRange> read_range(const Row& row, uint64_t vaddr) const {
        constexpr uint64_t kEntryBytes = 16;
        constexpr uint64_t kBeginOffset = 8;
        const uint64_t entry = address_of(row.entry);
        const auto offset = file_.file_offset_of(entry);
        if (!offset) return std::nullopt;
        const auto bytes = file_.read(*offset, kEntryBytes);
        if (!bytes) return std::nullopt;
        ByteCursor cursor(*bytes);
        int32_t begin = 0;
        uint32_t length = 0;
        if (!cursor.skip(kBeginOffset) || !cursor.read(begin) || !cursor.read(length)) {
            return std::nullopt;
        }
        const uint64_t start = address_of(row.location);
        // Anything else is an encoding that is not read here.
        if (entry + kBeginOffset + static_cast<uint64_t>(int64_t{begin}) != start) {
            return std::nullopt;
        }
        if (vaddr - start >= length) return std::nullopt;
        return FunctionRange{start, length};
    }

    const ElfFile& file_;
    const ElfSection& section_;
};

}  // namespace

std::optional<FunctionRange> frame_range_at(const ElfFile& file, uint64_t vaddr) {
    const auto* section = file.section(".eh_frame_hdr");
    if (section == nullptr) return std::nullopt;
    return FrameTable(file, *section).find(vaddr);
}

}  // namespace tracer
