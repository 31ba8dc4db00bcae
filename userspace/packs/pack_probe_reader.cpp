// SPDX-License-Identifier: Apache-2.0
//
// A pack's probes: their texts are parsed as those of -e, and what is wrong in one is shown where
// it stands in the file. Called by pack_file.cpp.
#include "packs/pack_probe_reader.h"

#include "probe/caret.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace tracer {

namespace {

using Need = TableReader::Need;

constexpr size_t kEventsMax = 16;  // texts of one probe
constexpr size_t kNameBytesMax = 64;

bool is_function(ProbeKind kind) {
    return kind == ProbeKind::uprobe || kind == ProbeKind::uretprobe || kind == ProbeKind::span;
}

// A text with one space where several are, but for those in quotes.
std::string on_one_line(std::string_view text) {
    std::string line;
    bool is_quoted = false;
    for (size_t i = 0; i < text.size(); ++i) {
        const bool is_space = text[i] == ' ' || text[i] == '\t';
        if (!is_quoted && is_space) {
            if (!line.empty() && line.back() != ' ') line += ' ';
            continue;
        }
        const bool is_escaped = is_quoted && text[i] == '\\' && i + 1 < text.size();
        if (is_escaped) line += text[i++];
        if (!is_escaped && text[i] == '"') is_quoted = !is_quoted;
        line += text[i];
    }
    if (line.ends_with(' ')) line.pop_back();
    return line;
}

class EventReader {
public:
    EventReader(const TomlValue& value, PackProblems& problems)
        : value_(value), text_(value.text), problems_(problems) {
        // A text may be written over several lines; byte stands for byte, for the carets' sake.
        std::replace_if(
            text_.begin(), text_.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    }

    std::optional<EventSpec> run() {
        auto event = parse_event_spec(text_, ProbeTextOrigin::pack);
        if (!event) {
            const auto caret = find_caret(event.error(), text_);
            if (caret) {
                problems_.refuse(place_of(caret->offset, caret->length), caret->message,
                                 event.error().hint);
            } else {
                problems_.refuse(value_.place, event.error().what, event.error().hint);
            }
            return std::nullopt;
        }
        bool is_right = check(event->begin);
        if (event->end) is_right = check(*event->end) && is_right;
        for (const auto& probe : event->other_begins) is_right = check(probe) && is_right;
        for (const auto& probe : event->until) is_right = check(probe) && is_right;
        if (!is_right) return std::nullopt;
        // From here on it is shown, and places in it no longer matter.
        event->text = on_one_line(event->text);
        return std::move(*event);
    }

private:
    // Of a part of the probe's text, in the file.
    [[nodiscard]] TextPlace place_of(size_t offset, size_t length) const {
        if (!value_.text_offset) return value_.place;
        return {*value_.text_offset + offset, length};
    }

    [[nodiscard]] TextPlace place_of(const ProbeSpec& probe) const {
        const size_t at = text_.find(probe.text);
        return at == text_.npos ? value_.place : place_of(at, probe.text.size());
    }

    bool check(const ProbeSpec& probe) {
        if (probe.kind == ProbeKind::tracepoint) {
            problems_.refuse(place_of(probe), "a tracepoint belongs to no file",
                             "packs are of files: usdt:, u:, ur: or span:");
            return false;
        }
        if (!probe.is_matched_file && (is_function(probe.kind) || !probe.path.empty())) {
            problems_.refuse(
                place_of(probe), "a pack's probes are of the file that it matched",
                is_function(probe.kind)
                    ? fmt::format("write @ for PATH, as in u:@:{}", probe.name)
                    : fmt::format("leave PATH out: usdt:{}:{}", probe.provider, probe.name));
            return false;
        }
        for (const auto& arg : probe.args) {
            // Without a name of its own an argument is called by its operand.
            if (arg.is_parameter || arg.label != operand_text(arg)) continue;
            problems_.warn(place_of(probe),
                           fmt::format("the trace will call an argument {}", arg.label),
                           fmt::format("say what it is: NAME={}", argument_text(arg)));
        }
        return true;
    }

    const TomlValue& value_;
    std::string text_;
    PackProblems& problems_;
};

std::vector<std::string> read_lines(TableReader& reader,
                                    std::string_view word,
                                    PackProblems& problems) {
    std::vector<std::string> lines;
    for (const auto* value : reader.text_values(word)) {
        if (is_line(*value, problems)) lines.push_back(value->text);
    }
    return lines;
}

void read_events(TableReader& reader, PackProbe& probe, PackProblems& problems) {
    const auto values = reader.text_values("probe", Need::required);
    if (values.size() > kEventsMax) {
        problems.refuse(values[kEventsMax]->place, fmt::format("more than {} texts", kEventsMax));
        return;
    }
    for (const auto* value : values) {
        if (auto event = EventReader(*value, problems).run()) {
            probe.events.push_back(std::move(*event));
        }
    }
}

void read_requirements(TableReader& reader, PackProbe& probe, PackProblems& problems) {
    probe.requires_argument = read_lines(reader, "requires_argument", problems);
    for (const auto* value : reader.text_values("requires_environment")) {
        if (!is_line(*value, problems)) continue;
        const size_t equals = value->text.find('=');
        if (equals == 0 || equals == value->text.npos) {
            problems.refuse(value->place, "expected NAME=VALUE");
        }
        probe.requires_environment.push_back(value->text);
    }
}

}  // namespace

PackProbe read_pack_probe(const TomlValue& table, PackProblems& problems) {
    TableReader reader(table, "[[probe]]", problems);
    PackProbe probe;
    probe.name = reader.line("name", Need::required);
    // Names are listed with commas between them.
    if (probe.name.size() > kNameBytesMax || probe.name.find(',') != std::string::npos) {
        problems.refuse(reader.value("name")->place,
                        fmt::format("expected at most {} bytes without a comma", kNameBytesMax));
    }
    probe.about = reader.line("about");
    const auto level = reader.choice("level", kPackLevelNames);
    probe.level = static_cast<PackLevel>(level.value_or(0));
    const auto stability = reader.choice("stability", kPackStabilityNames, Need::required);
    probe.stability = static_cast<PackStability>(stability.value_or(0));
    read_events(reader, probe, problems);
    probe.versions = read_versions(reader, problems);
    read_requirements(reader, probe, problems);
    probe.without = reader.line("without");
    probe.unless = reader.line("unless");
    reader.refuse_others();
    if (probe.about.empty()) {
        problems.warn(table.place, "a probe without `about`",
                      "say in a line what it shows: `tracer packs NAME` prints it");
    }
    return probe;
}

VersionRange read_versions(TableReader& table, PackProblems& problems) {
    const auto* value = table.text_value("versions");
    if (value == nullptr) return {};
    auto range = parse_version_range(value->text);
    if (range) return std::move(*range);
    problems.refuse(value->place, range.error().what, range.error().hint);
    return {};
}

}  // namespace tracer
