// SPDX-License-Identifier: Apache-2.0
//
// The two tables that let events name strings and threads by a number. Both can run out; neither
// ever gives a wrong name then.
#pragma once

#include "tracer/write/byte_sink.h"
#include "write/fxt/fxt_words.h"

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tracer::fxt {

// A name as records spell it: a reference, and the text itself where the reference is inline.
struct Name {
    uint16_t ref = 0;
    std::string text;  // of an inline reference, else empty
};

// Strings that stay: names of points, arguments, categories. Indices are given in order and never
// taken back; once all are used, a new name is spelt in each record that has it. Texts are UTF-8
// of at most kStringBytesMax bytes by the time they come here.
class StringTable {
public:
    // The index of `text`, new or known. A new one has to be written (write_pending) before a
    // record that uses it.
    [[nodiscard]] Name intern(std::string_view text);

    [[nodiscard]] bool has_pending() const { return written_ < texts_.size(); }
    // False: no room; what was written stays written, the rest is tried again next time.
    [[nodiscard]] bool write_pending(ByteSink& sink);
    // Nothing counts as written any more: a new file begins.
    void restart() { written_ = 0; }

private:
    std::deque<std::string> texts_;  // of index 1, 2, ...; addresses stay, the map's keys use them
    std::unordered_map<std::string_view, uint16_t> indices_;
    size_t written_ = 0;  // records are written in index order, so one number says which
};

// A thread as the format knows it: two kernel object ids.
struct ThreadIds {
    uint64_t process = 0;
    uint64_t thread = 0;
    bool operator==(const ThreadIds&) const = default;
};

// The 255 thread slots. When all are taken, the one that was used longest ago is given to the
// next thread by a new thread record, which readers take from there on.
class ThreadTable {
public:
    // The slot that `ids` has; `hint` is where the caller saw it last (0: never). 0: no room for
    // the thread record.
    [[nodiscard]] uint8_t use(ByteSink& sink, const ThreadIds& ids, uint8_t hint) {
        Slot& slot = slots_[hint];
        if (hint != 0 && slot.ids == ids) [[likely]] {
            slot.last_use = ++uses_;
            return hint;
        }
        return assign(sink, ids);
    }

    // Uses the slot `hint` if it is that of `ids` now; never writes.
    [[nodiscard]] bool use_known(const ThreadIds& ids, uint8_t hint) {
        Slot& slot = slots_[hint];
        if (hint == 0 || slot.ids != ids) return false;
        slot.last_use = ++uses_;
        return true;
    }

    void restart();

private:
    struct Slot {
        ThreadIds ids;
        uint64_t last_use = 0;  // 0: free
    };

    uint8_t assign(ByteSink& sink, const ThreadIds& ids);

    std::array<Slot, kThreadSlotMax + 1> slots_{};  // slot 0 means "inline" on the wire: unused
    uint64_t uses_ = 0;
};

}  // namespace tracer::fxt
