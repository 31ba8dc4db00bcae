// SPDX-License-Identifier: Apache-2.0
//
// The two ways to spell a line. The writer knows what is open, what time it is and who is who; a
// spelling only puts it into words.
#pragma once

#include "tracer/model/event.h"
#include "write/lines/make_lines_writer.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracer::lines {

// Where and when. All that is borrowed here and below lives as long as the call.
struct Spot {
    uint64_t time_ns = 0;
    std::optional<uint64_t> realtime_ns;  // of the same moment, if a clock was read
    uint64_t since_ns = 0;                // the recording's first event
    uint64_t delta_ns = 0;                // the line before
    uint16_t cpu = model::kNoCpu;
    std::string_view who;  // as thread() spelled it; empty: nobody, the CPU's idle loop
    size_t depth = 0;      // spans of the thread that are open around it
};

// An event of a point, values as values() spelled them.
struct What {
    const model::Point& point;
    std::string_view name;
    std::string_view values;
};

struct SpanLine {
    uint64_t begin_ns = 0;
    uint64_t async_id = 0;  // 0: it nests
    model::SpanEndCause cause = model::SpanEndCause::returned;
    std::string_view end_values;
    bool lacks_values = false;  // those of the begin were too many to keep
};

class LineSpelling {
public:
    virtual ~LineSpelling() = default;

    // Parts of lines that are used more than once.
    [[nodiscard]] virtual std::string thread(const model::Thread& thread) const = 0;
    [[nodiscard]] virtual std::string values(const std::vector<model::Argument>& arguments,
                                             std::span<const model::Value> values) const = 0;

    // Whole lines but for the newline, appended.
    virtual void instant(std::string& out, const Spot& spot, const What& what) = 0;
    virtual void counter(std::string& out, const Spot& spot, const What& what) = 0;
    virtual void begin(std::string& out, const Spot& spot, const What& what, uint64_t async_id) = 0;
    virtual void end(std::string& out,
                     const Spot& spot,
                     const What& what,
                     const SpanLine& span) = 0;
    // `spot` is of who comes, `before` of who goes.
    virtual void change(std::string& out,
                        const Spot& spot,
                        const model::Switch& change,
                        std::string_view before) = 0;
    // `spot` is of who is woken.
    virtual void wakeup(std::string& out,
                        const Spot& spot,
                        const model::Wakeup& wakeup,
                        std::string_view waker) = 0;
    virtual void life(std::string& out,
                      const Spot& spot,
                      const model::Life& life,
                      std::string_view child) = 0;
    virtual void loss(std::string& out, const Spot& spot, const model::Loss& loss) = 0;
};

// `begins`: spans have a line of their own where they begin, so their ends do not repeat it.
[[nodiscard]] std::unique_ptr<LineSpelling> make_text_spelling(const LineOptions& options);
[[nodiscard]] std::unique_ptr<LineSpelling> make_json_spelling();

// The words for them.
[[nodiscard]] std::string_view name_of(model::ThreadState state);
[[nodiscard]] std::string_view name_of(model::LifeKind kind);

}  // namespace tracer::lines
