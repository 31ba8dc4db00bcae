// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ring/ring_source.h"
#include "tracer/abi/ring_layout.h"
#include "tracer/base/result.h"

#include <array>
#include <cstdint>
#include <optional>

namespace tracer::ring {

inline constexpr size_t kMetadataWords = sizeof(tr_ring_metadata) / sizeof(uint64_t);
using MetadataWords = std::array<uint64_t, kMetadataWords>;

// Where everything is; all of it lies within the file.
struct FileLayout {
    uint32_t ring_count = 0;
    uint64_t ring_words = 0;
    uint64_t data_offset = 0;
    uint64_t names_offset = 0;    // 0: none
    uint64_t trailer_offset = 0;  // 0: none

    [[nodiscard]] uint64_t header_offset(uint32_t ring) const {
        return sizeof(tr_ring_metadata) + uint64_t{ring} * sizeof(tr_ring_header);
    }
    // Of the word that `position` counts to.
    [[nodiscard]] uint64_t word_offset(uint32_t ring, uint64_t position) const {
        return data_offset + (ring * ring_words + (position & (ring_words - 1))) * 8;
    }
};

// nullopt: nothing is written yet. bad_input says what is wrong with it.
[[nodiscard]] Result<std::optional<FileLayout>> check_layout(const MetadataWords& metadata,
                                                             uint64_t file_bytes);

// nullopt: not of our producer, or of one that this reader does not know.
[[nodiscard]] std::optional<tr_ring_trailer> read_trailer(const RingSource& source,
                                                          const FileLayout& layout);

}  // namespace tracer::ring
