// SPDX-License-Identifier: Apache-2.0
//
// Lines for people: time, process and thread, and what happened, indented by the spans around it.
// Names and texts of the target are never taken for commands by a terminal: control characters are
// written out. Used by lines_writer.cpp.
#include "write/cause_names.h"
#include "write/human_text.h"
#include "write/lines/line_spelling.h"
#include "write/text.h"
#include "write/text_width.h"
#include "write/value_text.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <iterator>

#include <fmt/format.h>

namespace tracer::lines {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
// Most fit; longer ones push what follows to the right in their own lines.
constexpr size_t kWhoColumns = 20;
// Deeper ones are indented no further.
constexpr size_t kIndentedMax = 20;

// Select Graphic Rendition (ECMA-48, 8.3.117).
constexpr std::string_view kFaint = "\x1b[2m";
constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kYellow = "\x1b[33m";
constexpr std::string_view kRed = "\x1b[1;31m";
constexpr std::string_view kPlain = "\x1b[0m";

std::string shown(std::string_view text) {
    std::string clean;
    append_as_utf8(clean, text);
    return printable(clean);
}

void append_quoted(std::string& out, std::string_view text) {
    std::string clean;
    append_as_utf8(clean, text);
    std::string escaped;
    for (const char c : clean) {
        switch (c) {
            case '"':
            case '\\':
                escaped += '\\';
                escaped += c;
                break;
            case '\n':
                escaped += "\\n";
                break;
            case '\t':
                escaped += "\\t";
                break;
            case '\r':
                escaped += "\\r";
                break;
            default:
                escaped += c;
        }
    }
    out += '"';
    out += printable(escaped);
    out += '"';
}

void append_text(std::string& out, const model::Value& value) {
    append_quoted(out, value.is_cut ? without_partial_tail(value.text) : value.text);
    if (!value.is_cut) return;
    out += "...";
    if (value.bits != 0) {
        fmt::format_to(std::back_inserter(out), "({}{} bytes)", value.is_longer ? "over " : "",
                       value.bits);
    }
}

class TextSpelling final : public LineSpelling {
public:
    explicit TextSpelling(const LineOptions& options) : options_(options) {}

    std::string thread(const model::Thread& thread) const override;
    std::string values(const std::vector<model::Argument>& arguments,
                       std::span<const model::Value> values) const override;
    void instant(std::string& out, const Spot& spot, const What& what) override;
    void counter(std::string& out, const Spot& spot, const What& what) override;
    void begin(std::string& out, const Spot& spot, const What& what, uint64_t async_id) override;
    void end(std::string& out, const Spot& spot, const What& what, const SpanLine& span) override;
    void change(std::string& out,
                const Spot& spot,
                const model::Switch& change,
                std::string_view before) override;
    void wakeup(std::string& out,
                const Spot& spot,
                const model::Wakeup& wakeup,
                std::string_view waker) override;
    void life(std::string& out,
              const Spot& spot,
              const model::Life& life,
              std::string_view child) override;
    void loss(std::string& out, const Spot& spot, const model::Loss& loss) override;

private:
    void append_time(std::string& out, const Spot& spot);
    void append_head(std::string& out, const Spot& spot);
    void append(std::string& out, std::string_view colour, std::string_view text) const;

    const LineOptions options_;
    // The second whose local time was asked for last: the question costs more than the line.
    uint64_t known_second_ = UINT64_MAX;
    std::string known_text_;
};

std::string TextSpelling::thread(const model::Thread& thread) const {
    std::string text = fmt::format("{}({})", shown(thread.process_name), thread.pid);
    if (thread.is_track) {
        text += "/" + shown(thread.thread_name);
    } else if (thread.tid != thread.pid) {
        text += thread.thread_name == thread.process_name
                    ? fmt::format("/{}", thread.tid)
                    : fmt::format("/{}({})", shown(thread.thread_name), thread.tid);
    }
    return text;
}

std::string TextSpelling::values(const std::vector<model::Argument>& arguments,
                                 std::span<const model::Value> values) const {
    std::string text;
    for (size_t i = 0; i < std::min(arguments.size(), values.size()); ++i) {
        const model::Value& value = values[i];
        text += " " + shown(arguments[i].name) + "=";
        const std::string* const name =
            model::has_names(value.type) ? arguments[i].name_of(value.bits) : nullptr;
        if (name != nullptr) {
            text += shown(*name);
        } else if (value.type == model::ValueType::string) {
            append_text(text, value);
        } else {
            append_number(text, value);
        }
    }
    return text;
}

void TextSpelling::append(std::string& out, std::string_view colour, std::string_view text) const {
    if (options_.colour) out += colour;
    out += text;
    if (options_.colour) out += kPlain;
}

void TextSpelling::append_time(std::string& out, const Spot& spot) {
    const auto micros = [](uint64_t ns) { return ns % kSecondNs / 1000; };
    if (options_.time == LineTime::wall && spot.realtime_ns) {
        const uint64_t second = *spot.realtime_ns / kSecondNs;
        if (second != known_second_) {
            const auto seconds = static_cast<time_t>(second);
            tm local{};
            localtime_r(&seconds, &local);
            known_text_ =
                fmt::format("{:02}:{:02}:{:02}", local.tm_hour, local.tm_min, local.tm_sec);
            known_second_ = second;
        }
        append(out, kFaint, fmt::format("{}.{:06}", known_text_, micros(*spot.realtime_ns)));
        return;
    }
    const uint64_t ns = options_.time == LineTime::delta ? spot.delta_ns : spot.since_ns;
    append(out, kFaint, fmt::format("{:>8}.{:06}", fmt::format("+{}", ns / kSecondNs), micros(ns)));
}

void TextSpelling::append_head(std::string& out, const Spot& spot) {
    append_time(out, spot);
    const std::string_view who = spot.who.empty() ? std::string_view("-") : spot.who;
    out += ' ';
    out += who;
    const size_t columns = display_width(who);
    out.append(columns < kWhoColumns ? kWhoColumns - columns : 0, ' ');
    out += ' ';
    out.append(2 * std::min(spot.depth, kIndentedMax), ' ');
}

void TextSpelling::instant(std::string& out, const Spot& spot, const What& what) {
    append_head(out, spot);
    append(out, kBold, shown(what.name));
    out += what.values;
}

void TextSpelling::counter(std::string& out, const Spot& spot, const What& what) {
    instant(out, spot, what);
}

void TextSpelling::begin(std::string& out,
                         const Spot& spot,
                         const What& what,
                         uint64_t /*async_id*/) {
    append_head(out, spot);
    out += "-> ";
    append(out, kBold, shown(what.name));
    out += what.values;
}

void TextSpelling::end(std::string& out, const Spot& spot, const What& what, const SpanLine& span) {
    append_head(out, spot);
    if (options_.begins) out += "<- ";
    append(out, kBold, shown(what.name));
    out += ' ';
    const uint64_t ns = spot.time_ns > span.begin_ns ? spot.time_ns - span.begin_ns : 0;
    append(out, kYellow, fmt::format("({})", human_duration(ns)));
    if (span.cause != model::SpanEndCause::returned) {
        out += ' ';
        append(out, kRed, fmt::format("[{}]", name_of(span.cause)));
    }
    if (!options_.begins) {
        out += what.values;
        if (span.lacks_values) out += " ...";
    }
    out += span.end_values;
}

void TextSpelling::change(std::string& out,
                          const Spot& spot,
                          const model::Switch& change,
                          std::string_view before) {
    append_head(out, spot);
    append(out, kFaint, fmt::format("runs on CPU {} after ", change.cpu));
    out += before.empty() ? std::string_view("idle") : before;
    if (!before.empty()) {
        append(out, kFaint, fmt::format(" ({})", name_of(change.out_state)));
    }
}

void TextSpelling::wakeup(std::string& out,
                          const Spot& spot,
                          const model::Wakeup& wakeup,
                          std::string_view waker) {
    append_head(out, spot);
    append(out, kFaint, fmt::format("woken for CPU {}", wakeup.cpu));
    if (waker.empty()) return;
    append(out, kFaint, " by ");
    out += waker;
}

void TextSpelling::life(std::string& out,
                        const Spot& spot,
                        const model::Life& life,
                        std::string_view child) {
    append_head(out, spot);
    append(out, kBold, name_of(life.kind));
    switch (life.kind) {
        case model::LifeKind::fork:
            out += ' ';
            out += child;
            return;
        case model::LifeKind::exec:
            out += ' ';
            append_quoted(out, life.path);
            return;
        case model::LifeKind::exit:
            fmt::format_to(std::back_inserter(out), " status={}", life.exit_code);
            return;
    }
}

void TextSpelling::loss(std::string& out, const Spot& spot, const model::Loss& loss) {
    append_time(out, spot);
    out += ' ';
    const uint64_t ns = spot.time_ns > loss.begin_ns ? spot.time_ns - loss.begin_ns : 0;
    append(out, kRed,
           fmt::format("lost {} events here: {}", human_count(loss.count), name_of(loss.cause)));
    // A full sink is nobody's CPU's fault.
    const bool is_of_cpu = loss.cause != model::LossCause::sink_full;
    fmt::format_to(std::back_inserter(out), " ({}within {})",
                   is_of_cpu ? fmt::format("CPU {}, ", loss.cpu) : "", human_duration(ns));
}

}  // namespace

std::unique_ptr<LineSpelling> make_text_spelling(const LineOptions& options) {
    return std::make_unique<TextSpelling>(options);
}

std::string_view name_of(model::ThreadState state) {
    constexpr std::array<std::string_view, 6> kNames{"runnable", "sleeping", "uninterruptible",
                                                     "stopped",  "dead",     "unknown"};
    return kNames[static_cast<size_t>(state)];
}

std::string_view name_of(model::LifeKind kind) {
    constexpr std::array<std::string_view, 3> kNames{"fork", "exec", "exit"};
    return kNames[static_cast<size_t>(kind)];
}

}  // namespace tracer::lines
