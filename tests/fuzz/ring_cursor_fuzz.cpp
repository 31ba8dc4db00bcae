// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a file of rings, in two states one after the other, as if its producer wrote between
// two polls: whatever a cursor tells is bounded by the file, and in order.
#include "tracer/abi/ring_layout.h"
#include "tracer/base/result.h"
#include "tracer/ring/cursor.h"

#include <cstring>
#include <map>
#include <vector>

namespace {

using namespace tracer::ring;

class Judge : public Visitor {
public:
    explicit Judge(size_t events_max) : events_max_(events_max) {}

    Flow on_event(const Event& event) override {
        TR_CHECK(++events_ <= events_max_);
        TR_CHECK(event.time_ns >= last_ns_[event.ring]);
        last_ns_[event.ring] = event.time_ns;
        TR_CHECK(event.words.size() <= 1021);
        if (cursor != nullptr) TR_CHECK(!cursor->name_of(event).empty());
        return Flow::go_on;
    }
    Flow on_lost(const Lost& lost) override {
        TR_CHECK(lost.words != 0 || lost.events != 0);
        return Flow::go_on;
    }
    Flow on_restart() override {
        last_ns_.clear();
        return Flow::go_on;
    }

    Cursor* cursor = nullptr;

private:
    size_t events_max_;
    size_t events_ = 0;
    std::map<uint32_t, uint64_t> last_ns_;
};

}  // namespace

// The first byte chooses how many events a poll may tell, and by its highest bit whether names and
// a trailer of ours follow, which would make inputs too large. Then 32 bytes that replace heads and
// tails before the last poll, of which the first few also say where that trailer's types are; then
// the file.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    constexpr size_t kAhead = 1 + 32;
    constexpr size_t kNamesBytes = size_t{TR_RING_NAMES} * TR_RING_NAME_BYTES;
    if (size < kAhead) return 0;
    size_t file_bytes = size - kAhead;
    std::vector<uint64_t> words((file_bytes + 7) / 8);
    if (!words.empty()) std::memcpy(words.data(), data + kAhead, file_bytes);
    if ((data[0] & 0x80) != 0 && words.size() > 8) {
        tr_ring_trailer trailer{};
        trailer.magic = TR_RING_TRAILER_MAGIC;
        trailer.major = TR_RING_TRAILER_MAJOR;
        trailer.minor = data[1] & 1;
        std::memcpy(&trailer.bytes, data + 2, sizeof(trailer.bytes));
        words[7] = words.size() * 8;
        words.resize(words.size() + (kNamesBytes + sizeof(trailer)) / 8);
        file_bytes = words.size() * 8;
        std::memcpy(&words[words.size() - sizeof(trailer) / 8], &trailer, sizeof(trailer));
    }
    auto cursor = Cursor::over(std::as_bytes(std::span(words)).first(file_bytes));
    if (!cursor) return 0;
    // Each poll reads a ring at most once through, and a restart lets it begin again.
    Judge judge(3 * words.size());
    judge.cursor = &*cursor;
    const size_t most = (data[0] & 0x7f) == 0 ? SIZE_MAX : data[0] & 0x7f;
    static_cast<void>(cursor->poll(judge, most));
    if (file_bytes >= 64 + 80) std::memcpy(&words[8], data + 1, 16);
    if (file_bytes >= 64 + 160) std::memcpy(&words[18], data + 17, 16);
    static_cast<void>(cursor->poll(judge, most));
    static_cast<void>(cursor->poll(judge));
    cursor->finish(judge);
    for (const UserEvent& event : cursor->user_events()) {
        TR_CHECK(event.id < TR_RING_NAMES && !event.name.empty());
        TR_CHECK(!to_text(event.type).empty());
    }
    for (const uint32_t ring : {0U, 1U, UINT32_MAX}) static_cast<void>(cursor->owner_of(ring));
    return 0;
}
