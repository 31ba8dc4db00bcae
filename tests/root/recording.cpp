// SPDX-License-Identifier: Apache-2.0
//
// Runs the tracer, reads its file back with the reader of tests/support, and compares values.
// Used by every root test.
#include "root/recording.h"

#include <bit>
#include <type_traits>

#include <gtest/gtest.h>

namespace tracer::test {

Result<Recorder> Recorder::start(std::vector<std::string> arguments, const ChildOptions& options) {
    return start_file("trace.fxt", std::move(arguments), options);
}

Result<Recorder> Recorder::start_capture(std::vector<std::string> arguments) {
    return start_file("trace.traw", std::move(arguments), {});
}

Result<Recorder> Recorder::start_file(std::string name,
                                      std::vector<std::string> arguments,
                                      const ChildOptions& options) {
    TR_ASSIGN(TempFolder folder, TempFolder::make());
    arguments.insert(arguments.begin(), {"-o", folder.file(name)});
    TR_ASSIGN(TracerRun run, TracerRun::start(arguments, options));
    TR_TRY(run.wait_until_recording());
    return Recorder(std::move(folder), std::move(name), std::move(run));
}

Result<Recorded> Recorder::stop(int signal) {
    TR_ASSIGN(TracerResult result, run_.stop(signal));
    return read(std::move(result));
}

Result<Recorded> Recorder::finish() {
    TR_ASSIGN(TracerResult result, run_.finish());
    return read(std::move(result));
}

Result<Recorded> Recorder::read(TracerResult result) {
    std::string trace = path();
    if (trace.ends_with(".traw")) {
        trace = folder_.file("converted.fxt");
        TR_ASSIGN(const TracerResult converted, run_tracer({"convert", path(), "-o", trace}));
        if (converted.status != ExitStatus{}) {
            return fail(ErrorCode::bad_input, "tracer convert failed: " + converted.errors);
        }
    }
    TR_ASSIGN(FxtFile file, load_fxt(trace));
    return Recorded{std::move(result), std::move(file)};
}

void expect_sound(const Recorded& recorded) {
    EXPECT_EQ(recorded.result.status, ExitStatus{}) << recorded.result.errors;
    EXPECT_EQ(recorded.file.problem_count, 0u)
        << (recorded.file.problems.empty() ? "" : recorded.file.problems.front());
    EXPECT_EQ(recorded.file.truncated_tail_bytes, 0u);
    EXPECT_EQ(recorded.file.open_span_count, 0u);
    ASSERT_TRUE(recorded.result.summary.is_object()) << recorded.result.output;
    EXPECT_TRUE(recorded.result.summary.value("agree", false))
        << recorded.result.summary.value("disagreements", nlohmann::json()).dump();
}

void expect_nothing_lost(const Recorded& recorded) {
    ASSERT_TRUE(recorded.result.summary.contains("loss"));
    for (const auto& [cause, count] : recorded.result.summary.at("loss").items()) {
        EXPECT_EQ(count, 0) << cause;
    }
}

std::vector<const FxtEvent*> events_of(const FxtFile& file,
                                       std::string_view name,
                                       FxtEventType type) {
    std::vector<const FxtEvent*> found;
    for (const FxtEvent& event : file.events) {
        if (event.name == name && event.type == type) found.push_back(&event);
    }
    return found;
}

std::map<std::string, uint64_t> count_by_name(const FxtFile& file,
                                              std::string_view category,
                                              FxtEventType type) {
    std::map<std::string, uint64_t> counts;
    for (const FxtEvent& event : file.events) {
        if (event.category == category && event.type == type) counts[std::string(event.name)]++;
    }
    return counts;
}

namespace {

bool same_string(std::string_view value, const nlohmann::json& expected, bool is_cut) {
    if (!expected.is_string()) return false;
    const std::string whole = expected.get<std::string>();
    return is_cut ? value.size() < whole.size() && whole.starts_with(value) : value == whole;
}

bool same_float(double value, const nlohmann::json& expected) {
    if (!expected.is_number_unsigned()) return false;
    const uint64_t bits = expected.get<uint64_t>();
    return bits == std::bit_cast<uint64_t>(value) ||
           bits == std::bit_cast<uint32_t>(static_cast<float>(value));
}

}  // namespace

bool same_value(const FxtValue& value, const nlohmann::json& expected, bool is_cut) {
    return std::visit(
        [&](const auto& held) {
            using T = std::decay_t<decltype(held)>;
            if constexpr (std::is_same_v<T, std::monostate>) {
                return expected.is_null();
            } else if constexpr (std::is_same_v<T, std::string_view>) {
                return same_string(held, expected, is_cut);
            } else if constexpr (std::is_same_v<T, double>) {
                return same_float(held, expected);
            } else if constexpr (std::is_same_v<T, FxtPointer>) {
                return expected.is_number() && expected == held.address;
            } else if constexpr (std::is_same_v<T, FxtKoid>) {
                return expected.is_number() && expected == held.id;
            } else if constexpr (std::is_same_v<T, FxtBlob>) {
                return false;
            } else if constexpr (std::is_same_v<T, bool>) {
                return expected.is_number() && expected == (held ? 1 : 0);
            } else {
                return expected.is_number() && expected == held;
            }
        },
        value);
}

std::string to_text(const FxtValue& value) {
    return std::visit(
        [](const auto& held) -> std::string {
            using T = std::decay_t<decltype(held)>;
            if constexpr (std::is_same_v<T, std::monostate>) {
                return "null";
            } else if constexpr (std::is_same_v<T, std::string_view>) {
                return '"' + std::string(held) + '"';
            } else if constexpr (std::is_same_v<T, FxtPointer>) {
                return "pointer " + std::to_string(held.address);
            } else if constexpr (std::is_same_v<T, FxtKoid>) {
                return "koid " + std::to_string(held.id);
            } else if constexpr (std::is_same_v<T, FxtBlob>) {
                return "blob";
            } else {
                return std::to_string(held);
            }
        },
        value);
}

std::optional<uint64_t> integer_argument(const FxtFile& file,
                                         const FxtEvent& event,
                                         std::string_view name) {
    const FxtValue* value = file.find(event.arguments, name);
    if (value == nullptr) return std::nullopt;
    return std::visit(
        [](const auto& held) -> std::optional<uint64_t> {
            using T = std::decay_t<decltype(held)>;
            if constexpr (std::is_integral_v<T>) {
                if (held < T{}) return std::nullopt;
                return static_cast<uint64_t>(held);
            } else if constexpr (std::is_same_v<T, FxtPointer>) {
                return held.address;
            } else {
                return std::nullopt;
            }
        },
        *value);
}

nlohmann::json probe_row(const nlohmann::json& summary, std::string_view spec) {
    for (const nlohmann::json& row : summary.value("probes", nlohmann::json::array())) {
        if (row.value("spec", "") == spec) return row;
    }
    return nullptr;
}

nlohmann::json span_row(const nlohmann::json& summary, std::string_view name) {
    for (const auto& row : summary.value("durations", nlohmann::json::array())) {
        if (row.value("span", "") == name) return row;
    }
    return nullptr;
}

}  // namespace tracer::test
