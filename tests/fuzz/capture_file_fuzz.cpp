// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a capture: read, decoded, and checked by the recording writer against the rules that
// the decoder owes every format. Aborts on a broken rule.
#include "capture/capture_file.h"
#include "decode/decoder.h"
#include "support/recording_writer.h"
#include "tracer/base/result.h"

#include <cstdio>
#include <memory>

namespace {

class IntoDecoder : public tracer::CaptureVisitor {
public:
    tracer::Status on_definitions(tracer::RecordingDefinitions definitions) override {
        if (decoder == nullptr) {
            decoder = tracer::Decoder::make(std::move(definitions), writer);
        } else {
            decoder->add(definitions.points, definitions.probes);
        }
        return {};
    }
    tracer::Status on_counters(const tracer::CaptureCounters&) override { return {}; }
    void on_progress(uint64_t, uint64_t) override {}
    void on_record(std::span<const std::byte> record) override { decoder->on_record(record); }

    tracer::test::RecordingWriter writer;
    std::unique_ptr<tracer::Decoder> decoder;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    IntoDecoder visitor;
    static_cast<void>(tracer::read_capture(std::as_bytes(std::span(data, size)), visitor));
    if (visitor.decoder != nullptr) {
        visitor.decoder->finish(visitor.decoder->last_ns());
        TR_CHECK(visitor.writer.open_spans() == 0);
    }
    for (const auto& fault : visitor.writer.faults()) std::fprintf(stderr, "%s\n", fault.c_str());
    TR_CHECK(visitor.writer.faults().empty());
    return 0;
}
