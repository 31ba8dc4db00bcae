// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as an ELF file: everything that is read before a probe is attached.
#include "symbol/foreign_operand.h"
#include "symbol/frame_table.h"
#include "symbol/got_slots.h"
#include "symbol/symbol_table.h"
#include "symbol/usdt_notes.h"
#include "symbol/usdt_operand.h"

#include <cstring>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    std::vector<std::byte> bytes(size);
    if (size != 0) std::memcpy(bytes.data(), data, size);
    auto file = tracer::ElfFile::from_bytes(
        tracer::FileBytes::from_memory(std::move(bytes), "fuzz"), tracer::ElfScope::any);
    if (!file) return 0;
    (void)file->build_id();
    (void)file->dynamic();
    for (const auto& section : file->sections()) {
        (void)tracer::frame_range_at(*file, section.vaddr + section.bytes / 2);
    }
    auto symbols = tracer::SymbolTable::load(*file);
    auto slots = tracer::GotSlots::load(*file);
    auto notes = tracer::read_usdt_notes(*file);
    if (!notes) return 0;
    for (const auto& note : notes->notes) {
        if (!file->is_native()) {
            (void)tracer::describe_foreign_operands(note.arguments, *file);
            continue;
        }
        tracer::OperandContext context;
        context.location_vaddr = note.location_vaddr;
        context.address_of = [&](std::string_view name) {
            return symbols ? symbols->address_of(name) : std::nullopt;
        };
        context.got_slot_of = [&](std::string_view name) {
            return slots ? slots->slot_of(name) : std::nullopt;
        };
        (void)tracer::compile_usdt_operands(note.arguments, context);
    }
    return 0;
}
