// SPDX-License-Identifier: Apache-2.0
//
// Two bytes (file or decisions, size of pieces) and then what these take: see
// eventlog_reader_fuzz.cpp.
#include "eventlog_seeds.h"

#include "support/eventlog_random.h"

#include <random>
#include <span>
#include <string>

namespace tracer::test {
namespace {

std::vector<std::byte> bytes_of(const std::string& text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

}  // namespace

std::vector<std::vector<std::byte>> make_eventlog_seeds() {
    std::mt19937_64 engine(1);
    EventlogBuilder builder;
    builder.declare_all().end_header();
    uint16_t capability = 0;
    for (const EventlogId id : ghc_eventlog_ids()) {
        if (capability % 16 == 0) builder.block(capability, capability, 0);
        capability += 1;
        if (id == EventlogId::block_marker) continue;
        const EventlogShape* shape = newest_eventlog_shape(static_cast<uint16_t>(id));
        builder.event(id, capability, random_eventlog_payload(*shape, [&] { return engine(); }));
    }
    std::vector<std::vector<std::byte>> seeds;
    seeds.push_back(bytes_of(std::string("\0\x40", 2) + builder.end().bytes()));
    for (const size_t size : {64U, 512U, 2048U}) {
        std::string decisions = "\1\7";
        while (decisions.size() < size) decisions.push_back(static_cast<char>(engine()));
        seeds.push_back(bytes_of(decisions));
    }
    return seeds;
}

}  // namespace tracer::test
