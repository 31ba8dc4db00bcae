// SPDX-License-Identifier: Apache-2.0
//
// Any text as an operand of other machines: it is described, never compiled, and what the parser of
// aarch64 accepts keeps its limits.
#include "symbol/aarch64_operand.h"
#include "symbol/foreign_operand.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

void check_place(std::string_view text) {
    tracer::Aarch64Place place;
    if (!tracer::parse_aarch64_place(text, place).empty()) return;
    if (place.reg.number > tracer::kAarch64Zero || place.shift > 4) std::abort();
    if (place.index && place.index->number == tracer::kAarch64StackPointer) std::abort();
    if (place.index && place.kind != tracer::Aarch64PlaceKind::memory) std::abort();
}

void check_operand(std::string_view text, tracer::ElfMachine machine) {
    const auto operand = tracer::describe_foreign_operand(text, machine, "there");
    if (operand.is_readable() || operand.reason.empty()) std::abort();
    if (operand.arg.op_count != 0 || operand.text != text) std::abort();
    const auto bytes = operand.bytes;
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string text(data, data + size);
    std::string_view rest(text);
    // Each turn takes an operand of at least one character.
    while (true) {
        const auto operand = tracer::take_operand(rest);
        if (operand.empty()) break;
        check_place(operand.substr(operand.find('@') + 1));
        for (auto machine :
             {tracer::ElfMachine::x86_64, tracer::ElfMachine::i386, tracer::ElfMachine::aarch64}) {
            check_operand(operand, machine);
        }
    }
    return 0;
}
