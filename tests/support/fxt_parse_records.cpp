// SPDX-License-Identifier: Apache-2.0
//
// The layout of each record of a Fuchsia trace behind its type, a function each, in the order of
// the types. Called by FxtParser::parse, which deals with what was too short or too long.
#include "support/fxt_parser.h"

namespace tracer::test {
namespace {

constexpr uint64_t kMagic = 0x0016547846040010;

}  // namespace

FxtPayload FxtParser::parse_metadata(uint64_t header, FxtWords& words) {
    const auto provider_id = static_cast<uint32_t>(fxt_bits(header, 20, 32));
    switch (fxt_bits(header, 16, 4)) {
        case 1:
            expect_zero(header, 60, 4);
            return FxtProvider{provider_id, words.text(fxt_bits(header, 52, 8))};
        case 2:
            expect_zero(header, 52, 12);
            return FxtProviderSection{provider_id};
        case 3:
            expect_zero(header, 56, 8);
            return FxtProviderEvent{provider_id, static_cast<uint8_t>(fxt_bits(header, 52, 4))};
        case 4:
            if (header != kMagic) return unknown(FxtFault::trace_info_type, header);
            return FxtMagic{};
        default:
            return unknown(FxtFault::metadata_type, fxt_bits(header, 16, 4));
    }
}

FxtPayload FxtParser::parse_initialization(uint64_t header, FxtWords& words) {
    expect_zero(header, 16, 48);
    const size_t values = words.words_left();
    FxtInitialization record;
    record.ticks_per_second = words.next();
    if (values == 3) {
        FxtInitialization::Base base;
        base.tick = words.next();
        base.unix_ns = static_cast<int64_t>(words.next());
        record.base = base;
    } else if (values == 2) {
        report(FxtFault::initialization_size, values + 1);
    }
    if (record.ticks_per_second == 0 && !words.overran) report(FxtFault::no_tick_rate);
    return record;
}

FxtPayload FxtParser::parse_string(uint64_t header, FxtWords& words) {
    expect_zero(header, 31, 1);
    expect_zero(header, 47, 17);
    return FxtString{static_cast<uint16_t>(fxt_bits(header, 16, 15)),
                     text_of(fxt_bits(header, 32, 15), words)};
}

FxtPayload FxtParser::parse_thread(uint64_t header, FxtWords& words) {
    expect_zero(header, 24, 40);
    FxtThread thread;
    thread.index = static_cast<uint8_t>(fxt_bits(header, 16, 8));
    thread.pid = words.next();
    thread.tid = words.next();
    return thread;
}

FxtPayload FxtParser::parse_event(uint64_t header, FxtWords& words) {
    const uint64_t type = fxt_bits(header, 16, 4);
    if (type > static_cast<uint64_t>(FxtEventType::flow_end)) {
        return unknown(FxtFault::event_type, type);
    }
    FxtEvent event;
    event.type = static_cast<FxtEventType>(type);
    event.time = words.next();
    const Thread thread = resolve_thread(fxt_bits(header, 24, 8), words);
    event.pid = thread.pid;
    event.tid = thread.tid;
    event.category = resolve_string(fxt_bits(header, 32, 16), words);
    event.name = resolve_string(fxt_bits(header, 48, 16), words);
    event.arguments = parse_arguments(fxt_bits(header, 20, 4), words);
    switch (event.type) {
        case FxtEventType::instant:
        case FxtEventType::duration_begin:
        case FxtEventType::duration_end:
            break;
        default:
            event.last_word = words.next();
    }
    return event;
}

FxtPayload FxtParser::parse_blob(uint64_t header, FxtWords& words) {
    expect_zero(header, 47, 1);
    expect_zero(header, 56, 8);
    FxtBlobRecord blob;
    blob.type = static_cast<uint8_t>(fxt_bits(header, 48, 8));
    if (blob.type < kFxtBlobRaw || blob.type > kFxtBlobPerfetto) {
        report(FxtFault::blob_type, blob.type);
    }
    blob.name = resolve_string(fxt_bits(header, 16, 16), words);
    blob.data = words.text(fxt_bits(header, 32, 15));
    return blob;
}

FxtPayload FxtParser::parse_userspace_object(uint64_t header, FxtWords& words) {
    expect_zero(header, 44, 20);
    FxtUserspaceObject object;
    object.pointer = words.next();
    // Only the process counts: inline it is one word, by index it is that thread's.
    const uint64_t ref = fxt_bits(header, 16, 8);
    object.pid = ref == 0 ? words.next() : resolve_thread(ref, words).pid;
    object.name = resolve_string(fxt_bits(header, 24, 16), words);
    object.arguments = parse_arguments(fxt_bits(header, 40, 4), words);
    return object;
}

FxtPayload FxtParser::parse_kernel_object(uint64_t header, FxtWords& words) {
    expect_zero(header, 44, 20);
    FxtKernelObject object;
    object.type = static_cast<uint8_t>(fxt_bits(header, 16, 8));
    object.koid = words.next();
    object.name = resolve_string(fxt_bits(header, 24, 16), words);
    object.arguments = parse_arguments(fxt_bits(header, 40, 4), words);
    return object;
}

FxtPayload FxtParser::parse_scheduling(uint64_t header, FxtWords& words) {
    switch (fxt_bits(header, 60, 4)) {
        case 0:
            return parse_legacy_switch(header, words);
        case 1:
            return parse_switch(header, words);
        case 2:
            return parse_wakeup(header, words);
        default:
            return unknown(FxtFault::scheduling_type, fxt_bits(header, 60, 4));
    }
}

FxtPayload FxtParser::parse_switch(uint64_t header, FxtWords& words) {
    expect_zero(header, 40, 20);
    FxtSwitch record;
    record.cpu = static_cast<uint16_t>(fxt_bits(header, 20, 16));
    record.out_state = static_cast<uint8_t>(fxt_bits(header, 36, 4));
    record.time = words.next();
    record.out_tid = words.next();
    record.in_tid = words.next();
    record.arguments = parse_arguments(fxt_bits(header, 16, 4), words);
    return record;
}

FxtPayload FxtParser::parse_wakeup(uint64_t header, FxtWords& words) {
    expect_zero(header, 36, 24);
    FxtWakeup record;
    record.cpu = static_cast<uint16_t>(fxt_bits(header, 20, 16));
    record.time = words.next();
    record.tid = words.next();
    record.arguments = parse_arguments(fxt_bits(header, 16, 4), words);
    return record;
}

FxtPayload FxtParser::parse_legacy_switch(uint64_t header, FxtWords& words) {
    FxtLegacySwitch record;
    record.cpu = static_cast<uint8_t>(fxt_bits(header, 16, 8));
    record.out_state = static_cast<uint8_t>(fxt_bits(header, 24, 4));
    record.out_priority = static_cast<uint8_t>(fxt_bits(header, 44, 8));
    record.in_priority = static_cast<uint8_t>(fxt_bits(header, 52, 8));
    record.time = words.next();
    const Thread out = resolve_thread(fxt_bits(header, 28, 8), words);
    const Thread in = resolve_thread(fxt_bits(header, 36, 8), words);
    record.out_pid = out.pid;
    record.out_tid = out.tid;
    record.in_pid = in.pid;
    record.in_tid = in.tid;
    return record;
}

FxtPayload FxtParser::parse_log(uint64_t header, FxtWords& words) {
    expect_zero(header, 31, 1);
    expect_zero(header, 40, 24);
    FxtLog log;
    log.time = words.next();
    const Thread thread = resolve_thread(fxt_bits(header, 32, 8), words);
    log.pid = thread.pid;
    log.tid = thread.tid;
    log.message = words.text(fxt_bits(header, 16, 15));
    return log;
}

FxtPayload FxtParser::parse_large(uint64_t header, FxtWords& words) {
    if (fxt_bits(header, 36, 4) != 0) {
        return unknown(FxtFault::large_type, fxt_bits(header, 36, 4));
    }
    const uint64_t format = fxt_bits(header, 40, 4);
    if (format > 1) return unknown(FxtFault::large_format, format);
    expect_zero(header, 44, 20);
    FxtLargeBlob blob;
    const uint64_t second = words.next();
    blob.category = resolve_string(fxt_bits(second, 0, 16), words);
    blob.name = resolve_string(fxt_bits(second, 16, 16), words);
    if (format == 0) {
        expect_zero(second, 44, 20);
        FxtLargeBlob::Event event;
        event.time = words.next();
        const Thread thread = resolve_thread(fxt_bits(second, 36, 8), words);
        event.pid = thread.pid;
        event.tid = thread.tid;
        blob.event = event;
        blob.arguments = parse_arguments(fxt_bits(second, 32, 4), words);
    } else {
        expect_zero(second, 32, 32);
    }
    blob.data = words.text(words.next());
    return blob;
}

}  // namespace tracer::test
