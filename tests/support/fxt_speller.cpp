// SPDX-License-Identifier: Apache-2.0
//
// One function a record: its header's fields at their bits, then the body, in the order of the
// format's document. Used by the tests and fuzzers of fxt_reader.
#include "support/fxt_speller.h"

#include "tracer/base/result.h"

#include <bit>
#include <cstring>

namespace tracer::test {

// One record as it grows: the header's fields without the size, and the words behind it.
struct FxtSpelling {
    FxtSpeller& speller;
    uint64_t header = 0;
    std::vector<uint64_t> body{};

    FxtSpeller::Tables& tables() { return speller.tables_[speller.provider_]; }

    void field(unsigned low, uint64_t value) { header |= value << low; }

    void text(std::string_view text) {
        std::vector<uint64_t> padded((text.size() + 7) / 8);
        if (!text.empty()) std::memcpy(padded.data(), text.data(), text.size());
        body.insert(body.end(), padded.begin(), padded.end());
    }

    // A reference to a text, which the record carries where this is not an index.
    uint64_t ref(std::string_view text) {
        if (text.empty()) return 0;
        for (const auto& [index, known] : tables().strings) {
            if (known == text) return index;
        }
        return 0x8000 | text.size();
    }
    void inline_text(uint64_t ref, std::string_view value) {
        if ((ref & 0x8000) != 0) text(value);
    }

    uint64_t thread_ref(uint64_t pid, uint64_t tid) {
        for (const auto& [index, known] : tables().threads) {
            if (known == std::pair(pid, tid)) return index;
        }
        return 0;
    }
    void inline_thread(uint64_t ref, uint64_t pid, uint64_t tid) {
        if (ref == 0) body.insert(body.end(), {pid, tid});
    }

    void argument(const FxtArgument& argument);
    void arguments() {
        for (const FxtArgument& one : list) argument(one);
    }

    void operator()(const FxtMagic&);
    void operator()(const FxtProvider& record);
    void operator()(const FxtProviderSection& record);
    void operator()(const FxtProviderEvent& record);
    void operator()(const FxtInitialization& record);
    void operator()(const FxtString& record);
    void operator()(const FxtThread& record);
    void operator()(const FxtEvent& record);
    void operator()(const FxtBlobRecord& record);
    void operator()(const FxtUserspaceObject& record);
    void operator()(const FxtKernelObject& record);
    void operator()(const FxtSwitch& record);
    void operator()(const FxtWakeup& record);
    void operator()(const FxtLegacySwitch& record);
    void operator()(const FxtLog& record);
    void operator()(const FxtLargeBlob& record);
    void operator()(const FxtSkipped& record);

    std::span<const FxtArgument> list;
};

void FxtSpelling::argument(const FxtArgument& argument) {
    const size_t at = body.size();
    const uint64_t name = ref(argument.name);
    uint64_t word = (name << 16) | argument.value.index();
    body.push_back(0);
    inline_text(name, argument.name);
    std::visit(
        [&](const auto& value) {
            using T = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<T, int32_t> || std::is_same_v<T, uint32_t>) {
                word |= uint64_t{static_cast<uint32_t>(value)} << 32;
            } else if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, uint64_t>) {
                body.push_back(static_cast<uint64_t>(value));
            } else if constexpr (std::is_same_v<T, double>) {
                body.push_back(std::bit_cast<uint64_t>(value));
            } else if constexpr (std::is_same_v<T, std::string_view>) {
                const uint64_t value_ref = ref(value);
                word |= value_ref << 32;
                inline_text(value_ref, value);
            } else if constexpr (std::is_same_v<T, FxtPointer>) {
                body.push_back(value.address);
            } else if constexpr (std::is_same_v<T, FxtKoid>) {
                body.push_back(value.id);
            } else if constexpr (std::is_same_v<T, bool>) {
                word |= uint64_t{value} << 32;
            } else if constexpr (std::is_same_v<T, FxtBlob>) {
                word |= uint64_t{value.data.size()} << 32;
                text(value.data);
            }
        },
        argument.value);
    body[at] = word | uint64_t{body.size() - at} << 4;
}

void FxtSpelling::operator()(const FxtMagic&) {
    header = 0x0016547846040000;
}

void FxtSpelling::operator()(const FxtProvider& record) {
    field(16, 1);
    field(20, record.id);
    field(52, record.name.size());
    text(record.name);
    speller.provider_ = record.id;
    tables() = {};
}

void FxtSpelling::operator()(const FxtProviderSection& record) {
    field(16, 2);
    field(20, record.id);
    speller.provider_ = record.id;
}

void FxtSpelling::operator()(const FxtProviderEvent& record) {
    field(16, 3);
    field(20, record.id);
    field(52, record.event);
}

void FxtSpelling::operator()(const FxtInitialization& record) {
    field(0, 1);
    body.push_back(record.ticks_per_second);
    if (!record.base) return;
    body.push_back(record.base->tick);
    body.push_back(static_cast<uint64_t>(record.base->unix_ns));
}

void FxtSpelling::operator()(const FxtString& record) {
    field(0, 2);
    field(16, record.index);
    field(32, record.text.size());
    text(record.text);
    tables().strings[record.index] = record.text;
}

void FxtSpelling::operator()(const FxtThread& record) {
    field(0, 3);
    field(16, record.index);
    body.insert(body.end(), {record.pid, record.tid});
    tables().threads[record.index] = {record.pid, record.tid};
}

void FxtSpelling::operator()(const FxtEvent& record) {
    const uint64_t thread = thread_ref(record.pid, record.tid);
    const uint64_t category = ref(record.category);
    const uint64_t name = ref(record.name);
    field(0, 4);
    field(16, static_cast<uint64_t>(record.type));
    field(20, list.size());
    field(24, thread);
    field(32, category);
    field(48, name);
    body.push_back(record.time);
    inline_thread(thread, record.pid, record.tid);
    inline_text(category, record.category);
    inline_text(name, record.name);
    arguments();
    switch (record.type) {
        case FxtEventType::instant:
        case FxtEventType::duration_begin:
        case FxtEventType::duration_end:
            break;
        default:
            body.push_back(record.last_word);
    }
}

void FxtSpelling::operator()(const FxtBlobRecord& record) {
    const uint64_t name = ref(record.name);
    field(0, 5);
    field(16, name);
    field(32, record.data.size());
    field(48, record.type);
    inline_text(name, record.name);
    text(record.data);
}

void FxtSpelling::operator()(const FxtUserspaceObject& record) {
    uint64_t process = 0;
    for (const auto& [index, known] : tables().threads) {
        if (known.first == record.pid) process = index;
    }
    const uint64_t name = ref(record.name);
    field(0, 6);
    field(16, process);
    field(24, name);
    field(40, list.size());
    body.push_back(record.pointer);
    if (process == 0) body.push_back(record.pid);
    inline_text(name, record.name);
    arguments();
}

void FxtSpelling::operator()(const FxtKernelObject& record) {
    const uint64_t name = ref(record.name);
    field(0, 7);
    field(16, record.type);
    field(24, name);
    field(40, list.size());
    body.push_back(record.koid);
    inline_text(name, record.name);
    arguments();
}

void FxtSpelling::operator()(const FxtSwitch& record) {
    field(0, 8);
    field(16, list.size());
    field(20, record.cpu);
    field(36, record.out_state);
    field(60, 1);
    body.insert(body.end(), {record.time, record.out_tid, record.in_tid});
    arguments();
}

void FxtSpelling::operator()(const FxtWakeup& record) {
    field(0, 8);
    field(16, list.size());
    field(20, record.cpu);
    field(60, 2);
    body.insert(body.end(), {record.time, record.tid});
    arguments();
}

void FxtSpelling::operator()(const FxtLegacySwitch& record) {
    const uint64_t out = thread_ref(record.out_pid, record.out_tid);
    const uint64_t in = thread_ref(record.in_pid, record.in_tid);
    field(0, 8);
    field(16, record.cpu);
    field(24, record.out_state);
    field(28, out);
    field(36, in);
    field(44, record.out_priority);
    field(52, record.in_priority);
    body.push_back(record.time);
    inline_thread(out, record.out_pid, record.out_tid);
    inline_thread(in, record.in_pid, record.in_tid);
}

void FxtSpelling::operator()(const FxtLog& record) {
    const uint64_t thread = thread_ref(record.pid, record.tid);
    field(0, 9);
    field(16, record.message.size());
    field(32, thread);
    body.push_back(record.time);
    inline_thread(thread, record.pid, record.tid);
    text(record.message);
}

void FxtSpelling::operator()(const FxtLargeBlob& record) {
    const uint64_t category = ref(record.category);
    const uint64_t name = ref(record.name);
    field(0, 15);
    field(40, record.event ? 0 : 1);
    uint64_t second = category | name << 16;
    body.push_back(0);
    inline_text(category, record.category);
    inline_text(name, record.name);
    if (record.event) {
        const uint64_t thread = thread_ref(record.event->pid, record.event->tid);
        second |= uint64_t{list.size()} << 32 | thread << 36;
        body.push_back(record.event->time);
        inline_thread(thread, record.event->pid, record.event->tid);
        arguments();
    }
    body.front() = second;
    body.push_back(record.data.size());
    text(record.data);
}

// A record that the reader passes over: two words of its type.
void FxtSpelling::operator()(const FxtSkipped& record) {
    field(0, record.record_type);
    body.push_back(0);
}

FxtSpeller& FxtSpeller::add(const FxtPayload& payload, std::span<const FxtArgument> arguments) {
    FxtSpelling spelling{.speller = *this, .list = arguments};
    std::visit(spelling, payload);
    const uint64_t words = 1 + spelling.body.size();
    TR_CHECK(words <= 4095 || std::holds_alternative<FxtLargeBlob>(payload));
    words_.push_back(spelling.header | words << 4);
    words_.insert(words_.end(), spelling.body.begin(), spelling.body.end());
    return *this;
}

FxtSpeller& FxtSpeller::add_words(std::span<const uint64_t> words) {
    words_.insert(words_.end(), words.begin(), words.end());
    return *this;
}

}  // namespace tracer::test
