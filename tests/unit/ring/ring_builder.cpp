// SPDX-License-Identifier: Apache-2.0
#include "unit/ring/ring_builder.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tracer::test {

RingBuilder::RingBuilder(uint32_t ring_count, uint64_t ring_words, bool is_ours)
    : ring_words_(ring_words),
      data_offset_(sizeof(tr_ring_metadata) + ring_count * sizeof(tr_ring_header)),
      names_offset_(data_offset_ + ring_count * ring_words * 8),
      is_ours_(is_ours),
      sequences_(ring_count) {
    const uint64_t trailer_offset = names_offset_ + TR_RING_NAMES * TR_RING_NAME_BYTES;
    words_.resize((trailer_offset + (is_ours ? sizeof(tr_ring_trailer) + TR_RING_TYPES_BYTES : 0)) /
                  8);
    const tr_ring_metadata metadata{TR_RING_VERSION, ring_count,   sizeof(tr_ring_header),
                                    ring_words * 8,  ring_words,   sizeof(tr_ring_metadata),
                                    data_offset_,    names_offset_};
    std::memcpy(words_.data(), &metadata, sizeof(metadata));
    if (!is_ours) return;
    tr_ring_trailer trailer{};
    trailer.magic = TR_RING_TRAILER_MAGIC;
    trailer.major = TR_RING_TRAILER_MAJOR;
    trailer.bytes = sizeof(trailer);
    trailer.state = TR_RING_RUNNING;
    trailer.pid = 7;
    std::strcpy(trailer.runtime, "builder 1");
    std::memcpy(&words_[trailer_offset / 8], &trailer, sizeof(trailer));
}

uint64_t& RingBuilder::data(uint32_t ring, uint64_t position) {
    return words_[data_offset_ / 8 + ring * ring_words_ + (position & (ring_words_ - 1))];
}

RingBuilder& RingBuilder::write(uint32_t ring,
                                uint64_t time_ns,
                                bool is_user,
                                uint32_t type,
                                uint32_t id,
                                std::initializer_list<uint64_t> payload) {
    const uint64_t length = 2 + payload.size();
    const uint64_t in_ring = tail(ring) & (ring_words_ - 1);
    const uint64_t filler = in_ring + length > ring_words_ ? ring_words_ - in_ring : 0;
    while (tail(ring) + filler + length - head(ring) >= ring_words_) {
        head(ring) += data(ring, head(ring)) >> TR_RING_LENGTH_SHIFT;
    }
    if (filler != 0) data(ring, tail(ring)) = filler << TR_RING_LENGTH_SHIFT;
    uint64_t position = tail(ring) + filler;
    sequences_[ring] += 1;
    const uint64_t sequence = is_ours_ ? sequences_[ring] & TR_RING_SEQUENCE_MASK : 0;
    data(ring, position++) =
        length << TR_RING_LENGTH_SHIFT | uint64_t{is_user} << TR_RING_USER_BIT |
        uint64_t{type} << TR_RING_TYPE_SHIFT | uint64_t{id} << TR_RING_ID_SHIFT | sequence;
    data(ring, position++) = time_ns;
    for (const uint64_t value : payload) data(ring, position++) = value;
    if (is_ours_) header_word(ring, 2) = sequences_[ring];
    tail(ring) = position;
    return *this;
}

RingBuilder& RingBuilder::name(uint32_t id, std::string_view text) {
    std::memcpy(bytes().data() + names_offset_ + uint64_t{id} * TR_RING_NAME_BYTES, text.data(),
                std::min(text.size(), size_t{TR_RING_NAME_BYTES}));
    return *this;
}

RingBuilder& RingBuilder::registered(uint32_t id, uint8_t type) {
    std::byte* const trailer = bytes().data() + names_offset_ + TR_RING_NAMES * TR_RING_NAME_BYTES;
    const uint16_t minor = 1;
    std::memcpy(trailer + offsetof(tr_ring_trailer, minor), &minor, sizeof(minor));
    trailer[sizeof(tr_ring_trailer) + id] = std::byte{type};
    return *this;
}

RingBuilder& RingBuilder::begin_anew() {
    for (uint32_t ring = 0; ring < sequences_.size(); ++ring) {
        head(ring) = tail(ring) = header_word(ring, 2) = sequences_[ring] = 0;
    }
    return *this;
}

}  // namespace tracer::test
