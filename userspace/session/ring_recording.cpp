// SPDX-License-Identifier: Apache-2.0
//
// A whole file of rings in memory, in the order of time: at most what the file's own size allows.
// Names are left to who uses it, because which OCaml wrote it is only certain at the end. Used by
// the conversion of rings and by their statistics.
#include "session/ring_recording.h"

#include "tracer/abi/ring_layout.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include <fmt/format.h>

namespace tracer {
namespace {

// "1:20 10-19:3": only the sizes of blocks, in words, that occurred.
std::string allocation_text(std::span<const uint64_t> buckets) {
    std::string text;
    for (size_t i = 0; i < std::min(buckets.size(), size_t{TR_RING_ALLOC_BUCKETS}); ++i) {
        if (buckets[i] == 0) continue;
        const size_t tens = (i - 9) * 10;
        const std::string size = i < 10   ? fmt::format("{}", i)
                                 : i < 19 ? fmt::format("{}-{}", tens, tens + 9)
                                          : std::string("100+");
        fmt::format_to(std::back_inserter(text), "{}{}:{}", text.empty() ? "" : " ", size,
                       buckets[i]);
    }
    return text;
}

}  // namespace

uint32_t pid_in_path(std::string_view path) {
    path.remove_prefix(path.rfind('/') + 1);
    uint32_t pid = 0;
    const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), pid);
    const bool is_pid = error == std::errc() && path.substr(end - path.data()) == ".events";
    return is_pid ? pid : 0;
}

ring::Flow RingCollector::on_event(const ring::Event& event) {
    RingItem item{.time_ns = event.time_ns,
                  .ring = event.ring,
                  .has_value = event.has_value,
                  .is_user = event.is_user,
                  .kind = event.kind,
                  .id = event.id,
                  .value = event.value};
    if (event.kind == ring::EventKind::alloc) {
        item.payload_index = keep(allocation_text(event.words));
    } else if (event.kind == ring::EventKind::user_custom) {
        std::string hex;
        for (const std::byte byte : event.bytes) {
            fmt::format_to(std::back_inserter(hex), "{:02x}", byte);
        }
        item.payload_index = keep(std::move(hex));
    } else if (event.kind == ring::EventKind::lifecycle && event.id == TR_RING_START &&
               recording_.pid == 0 && event.value > 0) {
        recording_.pid = static_cast<uint32_t>(event.value);
    }
    recording_.items.push_back(item);
    return ring::Flow::go_on;
}

ring::Flow RingCollector::on_lost(const ring::Lost& lost) {
    recording_.items.push_back({.time_ns = lost.begin_ns != 0 ? lost.begin_ns : lost.end_ns,
                                .ring = lost.ring,
                                .is_loss = true,
                                .payload_index = static_cast<uint32_t>(recording_.losses.size())});
    recording_.losses.push_back(lost);
    return ring::Flow::go_on;
}

uint32_t RingCollector::keep(std::string text) {
    recording_.texts.push_back(std::move(text));
    return static_cast<uint32_t>(recording_.texts.size() - 1);
}

Result<RingRecording> read_rings(ring::Cursor& cursor, const std::string& path) {
    RingRecording recording;
    RingCollector collector(recording);
    TR_ASSIGN(const ring::PollResult polled, cursor.poll(collector));
    if (!polled.is_ready) {
        return fail(ErrorCode::bad_input, "a file of rings that its producer has not begun yet");
    }
    cursor.finish(collector);
    recording.producer = cursor.producer();
    if (recording.pid == 0) recording.pid = recording.producer.pid;
    if (recording.pid == 0) recording.pid = pid_in_path(path);
    auto& items = recording.items;
    std::ranges::stable_sort(items, {}, &RingItem::time_ns);
    if (!items.empty()) {
        recording.first_ns = items.front().time_ns;
        recording.last_ns = items.back().time_ns;
    }
    return recording;
}

}  // namespace tracer
