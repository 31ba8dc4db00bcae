// SPDX-License-Identifier: Apache-2.0
//
// Records instead of bytes: the input chooses records, which are spelled, read back and compared
// with what was chosen. Then it chooses damage to the file, which must keep the reader's promises
// for any bytes. So every mutation of the input stays deep inside the format.
#include "fuzz/fxt_invariants.h"
#include "support/fxt_generator.h"
#include "support/fxt_speller.h"
#include "support/fxt_stream.h"
#include "tracer/base/byte_cursor.h"
#include "tracer/base/result.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tracer::test {
namespace {

constexpr size_t kRecordsMax = 24;
constexpr size_t kDamagesMax = 4;

// Numbers from the input; 0 when it is used up.
uint64_t choose(ByteCursor& input, uint64_t bound) {
    uint64_t value = 0;
    if (bound <= 256) {
        value = input.read<uint8_t>().value_or(0);
    } else if (bound <= 65536) {
        value = input.read<uint16_t>().value_or(0);
    } else {
        value = input.read<uint64_t>().value_or(0);
    }
    return value % bound;
}

// Compares what is read with one record, the last that was spelled.
class Comparer : public FxtVisitor {
public:
    void expect(const FxtGenerated& expected) { expected_ = &expected; }
    [[nodiscard]] bool is_done() const { return expected_ == nullptr; }

    void on_record(const FxtRecordView& record) override {
        TR_CHECK(expected_ != nullptr);
        FxtPayload payload = record.payload;
        TR_CHECK(payload == expected_->payload);
        TR_CHECK(std::ranges::equal(record.arguments, expected_->arguments));
        expected_ = nullptr;
    }
    // None, in a good file.
    void on_fault(const FxtFaultReport& report) override { TR_CHECK(describe(report).empty()); }

private:
    const FxtGenerated* expected_ = nullptr;
};

std::vector<std::byte> make_good_file(ByteCursor& input) {
    FxtGenerator generator([&](uint64_t bound) { return choose(input, bound); });
    FxtSpeller speller;
    Comparer comparer;
    FxtStream stream(comparer);
    const auto add = [&](const FxtGenerated& record) {
        const size_t before = speller.bytes().size();
        speller.add(record.payload, record.arguments);
        comparer.expect(record);
        stream.feed(speller.bytes().subspan(before));
        TR_CHECK(comparer.is_done());
    };
    add({FxtMagic{}, {}});
    const size_t count = 1 + choose(input, kRecordsMax);
    for (size_t i = 0; i < count && input.remaining() > 0; ++i) add(generator.any_record());
    stream.finish();
    TR_CHECK(stream.counts().truncated_tail_bytes == 0);
    return {speller.bytes().begin(), speller.bytes().end()};
}

void damage(std::vector<std::byte>& bytes, ByteCursor& input) {
    const auto place = [&] { return static_cast<size_t>(choose(input, bytes.size())); };
    const auto at = [&](size_t position) {
        return bytes.begin() + static_cast<ptrdiff_t>(position);
    };
    const size_t first = place();
    const size_t last = std::min(bytes.size(), first + 1 + choose(input, 256));
    switch (choose(input, 5)) {
        case 0:
            bytes[first] ^= std::byte(1U << choose(input, 8));
            break;
        case 1:
            bytes[first] = std::byte(choose(input, 256));
            break;
        case 2:
            bytes.erase(at(first), at(last));
            break;
        case 3: {
            const std::vector<std::byte> copy(at(first), at(last));
            bytes.insert(at(place()), copy.begin(), copy.end());
            break;
        }
        default:
            // A header's field: its size, a count, a reference.
            bytes[first & ~size_t{7}] ^= std::byte(choose(input, 256));
            break;
    }
}

}  // namespace
}  // namespace tracer::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tracer::test;
    tracer::ByteCursor input(std::as_bytes(std::span(data, size)));
    const size_t piece = 1 + choose(input, 256);
    const size_t damages = choose(input, kDamagesMax);
    std::vector<std::byte> bytes = make_good_file(input);
    check_fxt_invariants(bytes, piece);
    for (size_t i = 0; i < damages && !bytes.empty(); ++i) {
        damage(bytes, input);
        check_fxt_invariants(bytes, piece);
    }
    return 0;
}
