// SPDX-License-Identifier: Apache-2.0
//
// The metadata of a file of rings compared with the file's size. Every offset that a cursor uses
// later follows from what is accepted here. OCaml computes the size in 32 bits, so that files whose
// metadata claims more than there is do occur (OCAMLRUNPARAM e=24 and above). Used by cursor.cpp.
#include "ring/file_layout.h"

#include <bit>
#include <cstring>

#include <fmt/format.h>

namespace tracer::ring {
namespace {

constexpr uint64_t kNamesBytes = uint64_t{TR_RING_NAMES} * TR_RING_NAME_BYTES;
// 2^32 words, 32 GiB: a product with the number of rings stays within 64 bits.
constexpr uint64_t kRingWordsMax = uint64_t{1} << 32;

tl::unexpected<Error> refuse(std::string what) {
    return fail(ErrorCode::bad_input, "not a file of rings: " + std::move(what));
}

// count items of item_bytes at `offset` end within the file.
bool fits(uint64_t offset, uint64_t count, uint64_t item_bytes, uint64_t file_bytes) {
    return offset <= file_bytes && count <= (file_bytes - offset) / item_bytes;
}

// Our own producers store the version last.
bool is_being_written(const tr_ring_metadata& fields) {
    return fields.version == 0 && fields.ring_count <= TR_RING_COUNT_MAX &&
           (fields.ring_header_bytes == 0 || fields.ring_header_bytes == sizeof(tr_ring_header)) &&
           (fields.headers_offset == 0 || fields.headers_offset == sizeof(tr_ring_metadata));
}

}  // namespace

Result<std::optional<FileLayout>> check_layout(const MetadataWords& metadata, uint64_t file_bytes) {
    if (metadata == MetadataWords{}) return std::nullopt;
    const tr_ring_metadata fields = std::bit_cast<tr_ring_metadata>(metadata);
    if (is_being_written(fields)) return std::nullopt;
    if (fields.version != TR_RING_VERSION) {
        return refuse(fmt::format("its version is {:#x}, not 1", fields.version));
    }
    if (fields.ring_count == 0 || fields.ring_count > TR_RING_COUNT_MAX) {
        return refuse(fmt::format("{} rings", fields.ring_count));
    }
    if (!std::has_single_bit(fields.ring_words) || fields.ring_words > kRingWordsMax ||
        fields.ring_bytes != fields.ring_words * 8) {
        return refuse(
            fmt::format("rings of {} bytes and {} words", fields.ring_bytes, fields.ring_words));
    }
    if (fields.headers_offset != sizeof(tr_ring_metadata) ||
        fields.ring_header_bytes != sizeof(tr_ring_header)) {
        return refuse(fmt::format("ring headers of {} bytes at {}", fields.ring_header_bytes,
                                  fields.headers_offset));
    }
    const uint64_t headers_end =
        sizeof(tr_ring_metadata) + fields.ring_count * sizeof(tr_ring_header);
    if (fields.data_offset < headers_end || fields.data_offset % 8 != 0 ||
        !fits(fields.data_offset, fields.ring_count, fields.ring_bytes, file_bytes)) {
        return refuse(fmt::format("{} rings of {} bytes at {} in a file of {}", fields.ring_count,
                                  fields.ring_bytes, fields.data_offset, file_bytes));
    }
    FileLayout layout{.ring_count = static_cast<uint32_t>(fields.ring_count),
                      .ring_words = fields.ring_words,
                      .data_offset = fields.data_offset,
                      .names_offset = fields.names_offset};
    if (fields.names_offset == 0) return layout;
    const uint64_t data_end = fields.data_offset + fields.ring_count * fields.ring_bytes;
    if (fields.names_offset < data_end || fields.names_offset % 8 != 0 ||
        !fits(fields.names_offset, 1, kNamesBytes, file_bytes)) {
        return refuse(fmt::format("names at {} in a file of {}", fields.names_offset, file_bytes));
    }
    const uint64_t names_end = fields.names_offset + kNamesBytes;
    if (fits(names_end, 1, sizeof(tr_ring_trailer), file_bytes)) layout.trailer_offset = names_end;
    return layout;
}

std::optional<tr_ring_trailer> read_trailer(const RingSource& source, const FileLayout& layout) {
    std::array<uint64_t, sizeof(tr_ring_trailer) / sizeof(uint64_t)> words{};
    if (layout.trailer_offset == 0 || !source.read(layout.trailer_offset, words)) {
        return std::nullopt;
    }
    const auto trailer = std::bit_cast<tr_ring_trailer>(words);
    if (trailer.magic != TR_RING_TRAILER_MAGIC || trailer.major != TR_RING_TRAILER_MAJOR) {
        return std::nullopt;
    }
    return trailer;
}

}  // namespace tracer::ring
