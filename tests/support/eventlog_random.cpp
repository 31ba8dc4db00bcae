// SPDX-License-Identifier: Apache-2.0
//
// Values for the fields of events: small ones, where two events should speak of the same thing, and
// the ends of each range. Used by the fuzzer and by the tests that compare our reading with the
// library's.
#include "support/eventlog_random.h"

#include <algorithm>
#include <array>

namespace tracer::test {
namespace {

constexpr std::array<std::string_view, 7> kTexts = {"",
                                                    "x",
                                                    "worker-\xCE\xBB-1",
                                                    "a\"b\\c",
                                                    "two words",
                                                    "\xF0\x9F\x90\x8E",
                                                    "tab\tand \x0EH \x7F"};
constexpr uint64_t kBreakdownMax = 8;  // later ones make 0.17 stop
constexpr uint64_t kClosureTypeMax = 64;

uint64_t random_number(size_t bytes, const RandomNumbers& random) {
    const uint64_t all = bytes == 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * bytes)) - 1;
    switch (random() % 4) {
        case 0:
            return random() & all;
        case 1:
            return all;
        default:
            return random() % 4;
    }
}

std::string_view random_text(const RandomNumbers& random) {
    return kTexts.at(random() % kTexts.size());
}

void add_stack(BigEndianBytes& out, const RandomNumbers& random) {
    const uint64_t depth = random() % 8 == 0 ? 255 : random() % 4;
    out.u8(depth);
    for (uint64_t i = 0; i < depth; ++i) out.u32(random());
}

void add_field(BigEndianBytes& out,
               EventlogId id,
               const EventlogFieldShape& field,
               const RandomNumbers& random) {
    switch (field.kind) {
        case EventlogFieldKind::u8:
            out.u8(random_number(1, random));
            break;
        case EventlogFieldKind::power_of_two:
            out.u8(random() % 16);
            break;
        case EventlogFieldKind::u16:
            out.u16(random_number(2, random));
            break;
        case EventlogFieldKind::u32:
            out.u32(field.name == "breakdown" ? 1 + random() % kBreakdownMax
                                              : random_number(4, random));
            break;
        case EventlogFieldKind::u64:
            out.u64(random_number(8, random));
            break;
        case EventlogFieldKind::text:
            out.text(random_text(random));
            break;
        case EventlogFieldKind::bytes:
            // Before 0.18 the library replaces single bytes and then finds that it is no UTF-8.
            out.text(kTexts.at(random() % 2));
            break;
        case EventlogFieldKind::strings:
            for (uint64_t count = 1 + random() % 3; count > 0; --count) {
                out.c_text(kTexts.at(1 + random() % (kTexts.size() - 1)));
            }
            break;
        case EventlogFieldKind::optional_u64:
        case EventlogFieldKind::optional_text:
            break;  // 0.17 does not know them and loses its place
        case EventlogFieldKind::c_text:
            if (id == EventlogId::ipe && field.name == "closure_type") {
                out.c_text(std::to_string(random() % kClosureTypeMax));
            } else {
                out.c_text(random_text(random));
            }
            break;
        case EventlogFieldKind::stack:
            add_stack(out, random);
            break;
    }
}

}  // namespace

BigEndianBytes random_eventlog_payload(const EventlogShape& shape, const RandomNumbers& random) {
    BigEndianBytes out;
    for (const auto& field : shape.fields) {
        if (field.name.empty()) break;
        add_field(out, shape.id, field, random);
    }
    return out;
}

}  // namespace tracer::test
