// SPDX-License-Identifier: Apache-2.0
//
// Lines for programs: an object each (NDJSON). The keys are listed in README.md and are only ever
// added. Used by lines_writer.cpp.
#include "write/cause_names.h"
#include "write/human_text.h"
#include "write/json/json_text.h"
#include "write/lines/line_spelling.h"

#include <algorithm>

#include <fmt/format.h>

namespace tracer::lines {
namespace {

using json::ObjectText;

class JsonSpelling final : public LineSpelling {
public:
    // Members of an object, without its braces.
    std::string thread(const model::Thread& thread) const override {
        std::string text;
        ObjectText object(text);
        object.text("process", thread.process_name);
        object.unsigned_number("pid", thread.pid);
        if (thread.is_track) {
            object.text("track", thread.thread_name);
        } else {
            object.text("thread", thread.thread_name);
            object.unsigned_number("tid", thread.tid);
        }
        return text.substr(1);
    }
    std::string values(const std::vector<model::Argument>& arguments,
                       std::span<const model::Value> values) const override {
        std::string text;
        ObjectText object(text);
        for (size_t i = 0; i < std::min(arguments.size(), values.size()); ++i) {
            object.value(arguments[i], values[i]);
        }
        object.end();
        return text;
    }

    void instant(std::string& out, const Spot& spot, const What& what) override {
        plain(out, "event", spot, what);
    }
    void counter(std::string& out, const Spot& spot, const What& what) override {
        plain(out, "counter", spot, what);
    }
    void begin(std::string& out, const Spot& spot, const What& what, uint64_t async_id) override {
        ObjectText object = start(out, "begin", spot);
        name(object, what);
        if (async_id != 0) object.unsigned_number("id", async_id);
        object.unsigned_number("depth", spot.depth);
        object.json("args", what.values);
        object.end();
    }
    void end(std::string& out, const Spot& spot, const What& what, const SpanLine& span) override {
        ObjectText object = start(out, "span", spot);
        name(object, what);
        if (span.async_id != 0) object.unsigned_number("id", span.async_id);
        object.unsigned_number("depth", spot.depth);
        object.unsigned_number("begin_ns", span.begin_ns);
        object.unsigned_number("duration_ns",
                               spot.time_ns > span.begin_ns ? spot.time_ns - span.begin_ns : 0);
        object.text("ended", name_of(span.cause));
        if (span.lacks_values) {
            object.json("args", "null");
        } else {
            object.json("args", what.values);
        }
        object.json("end_args", span.end_values);
        object.end();
    }
    void change(std::string& out,
                const Spot& spot,
                const model::Switch& change,
                std::string_view before) override {
        ObjectText object = start(out, "switch", spot);
        if (!before.empty()) {
            object.json("after", fmt::format("{{{}}}", before));
            object.text("after_state", lines::name_of(change.out_state));
        }
        object.end();
    }
    void wakeup(std::string& out,
                const Spot& spot,
                const model::Wakeup& wakeup,
                std::string_view waker) override {
        ObjectText object = start(out, "wakeup", spot);
        object.unsigned_number("for_cpu", wakeup.cpu);
        if (!waker.empty()) object.json("waker", fmt::format("{{{}}}", waker));
        object.end();
    }
    void life(std::string& out,
              const Spot& spot,
              const model::Life& life,
              std::string_view child) override {
        ObjectText object = start(out, lines::name_of(life.kind), spot);
        switch (life.kind) {
            case model::LifeKind::fork:
                object.json("child", fmt::format("{{{}}}", child));
                break;
            case model::LifeKind::exec:
                object.text("path", life.path);
                break;
            case model::LifeKind::exit:
                object.number("status", life.exit_code);
                break;
        }
        object.end();
    }
    void loss(std::string& out, const Spot& spot, const model::Loss& loss) override {
        ObjectText object = start(out, "loss", spot);
        object.text("cause", name_of(loss.cause));
        object.unsigned_number("count", loss.count);
        object.unsigned_number("begin_ns", loss.begin_ns);
        object.end();
    }

private:
    static ObjectText start(std::string& out, std::string_view kind, const Spot& spot) {
        ObjectText object(out);
        object.text("kind", kind);
        if (spot.realtime_ns) object.text("time", utc_text(*spot.realtime_ns));
        object.unsigned_number("ns", spot.time_ns);
        if (spot.cpu != model::kNoCpu) object.unsigned_number("cpu", spot.cpu);
        if (!spot.who.empty()) object.members(spot.who);
        return object;
    }
    static void name(ObjectText& object, const What& what) {
        object.text("category", what.point.category);
        object.text("name", what.name);
    }
    static void plain(std::string& out, std::string_view kind, const Spot& spot, const What& what) {
        ObjectText object = start(out, kind, spot);
        name(object, what);
        object.unsigned_number("depth", spot.depth);
        object.json("args", what.values);
        object.end();
    }
};

}  // namespace

std::unique_ptr<LineSpelling> make_json_spelling() {
    return std::make_unique<JsonSpelling>();
}

}  // namespace tracer::lines
