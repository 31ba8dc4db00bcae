// SPDX-License-Identifier: Apache-2.0
//
// Files of rings, word by word, as a producer writes them: for what no sample has.
#pragma once

#include "tracer/abi/ring_layout.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

namespace tracer::test {

class RingBuilder {
public:
    // `is_ours`: with sequences and a trailer.
    RingBuilder(uint32_t ring_count, uint64_t ring_words, bool is_ours);

    // Writes a record as a producer does, over the oldest ones where there is no room.
    RingBuilder& write(uint32_t ring,
                       uint64_t time_ns,
                       bool is_user,
                       uint32_t type,
                       uint32_t id,
                       std::initializer_list<uint64_t> payload = {});
    RingBuilder& begin(uint32_t ring, uint64_t time_ns, uint32_t phase) {
        return write(ring, time_ns, false, TR_RING_BEGIN, phase);
    }
    RingBuilder& end(uint32_t ring, uint64_t time_ns, uint32_t phase) {
        return write(ring, time_ns, false, TR_RING_END, phase);
    }
    RingBuilder& counter(uint32_t ring, uint64_t time_ns, uint32_t id, uint64_t value) {
        return write(ring, time_ns, false, TR_RING_COUNTER, id, {value});
    }
    RingBuilder& name(uint32_t id, std::string_view text);
    // enum tr_ring_registered. Ours alone.
    RingBuilder& registered(uint32_t id, uint8_t type);
    // Head, tail and all else as at the start: what exec leaves.
    RingBuilder& begin_anew();

    // Any word, for damage.
    [[nodiscard]] uint64_t& word(uint64_t offset) { return words_[offset / 8]; }
    [[nodiscard]] uint64_t& head(uint32_t ring) { return header_word(ring, 0); }
    [[nodiscard]] uint64_t& tail(uint32_t ring) { return header_word(ring, 1); }
    [[nodiscard]] uint64_t& data(uint32_t ring, uint64_t position);

    // Changes under a cursor's feet, as a producer's file does.
    [[nodiscard]] std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(words_)); }

private:
    [[nodiscard]] uint64_t& header_word(uint32_t ring, size_t word) {
        return words_[8 + ring * sizeof(tr_ring_header) / 8 + word];
    }

    uint64_t ring_words_;
    uint64_t data_offset_;
    uint64_t names_offset_;
    bool is_ours_;
    std::vector<uint64_t> words_;
    std::vector<uint64_t> sequences_;
};

}  // namespace tracer::test
