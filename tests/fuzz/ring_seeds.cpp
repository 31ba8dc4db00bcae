// SPDX-License-Identifier: Apache-2.0
//
// Two small rings with one record of each type, overwritten once, with the names left out.
#include "ring_seeds.h"

#include "unit/ring/ring_builder.h"

namespace tracer::test {
namespace {

constexpr uint32_t kRings = 2;
constexpr uint64_t kWords = 64;

void write_each_type(RingBuilder& rings, uint32_t ring) {
    for (uint32_t type = TR_RING_LIFECYCLE; type <= TR_RING_END; ++type) {
        rings.write(ring, type, false, type, 2);
    }
    rings.write(ring, 5, false, TR_RING_COUNTER, 5, {8});
    rings.write(ring, 6, false, TR_RING_ALLOC, 0, {1, 2, 3, 4, 5, 6, 7, 8, 9});
    rings.write(ring, 7, true, TR_RING_USER_UNIT, 1);
    rings.write(ring, 8, true, TR_RING_USER_INT, 2, {9});
    rings.write(ring, 9, true, TR_RING_USER_CUSTOM, 3, {uint64_t{3} << 56});
}

}  // namespace

std::vector<std::vector<std::byte>> make_ring_seeds() {
    RingBuilder rings(kRings, kWords, true);
    for (int lap = 0; lap < 3; ++lap) {
        for (uint32_t ring = 0; ring < kRings; ++ring) write_each_type(rings, ring);
    }
    constexpr uint64_t kNamesOffsetWord = 7;
    rings.word(kNamesOffsetWord * 8) = 0;
    const size_t bytes =
        sizeof(tr_ring_metadata) + kRings * (sizeof(tr_ring_header) + kWords * sizeof(uint64_t));
    std::vector<std::vector<std::byte>> seeds;
    for (const std::byte choice : {std::byte{0}, std::byte{3}, std::byte{0x80}, std::byte{0x81}}) {
        std::vector<std::byte>& seed = seeds.emplace_back(1, choice);
        // The heads and tails of later: where they are now.
        for (uint32_t ring = 0; ring < kRings; ++ring) {
            const auto header = rings.bytes().subspan(64 + ring * sizeof(tr_ring_header), 16);
            seed.insert(seed.end(), header.begin(), header.end());
        }
        const auto file = rings.bytes().first(bytes);
        seed.insert(seed.end(), file.begin(), file.end());
    }
    return seeds;
}

}  // namespace tracer::test
