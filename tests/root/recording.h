// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/fixtures/temp_folder.h"
#include "support/fixtures/tracer_run.h"
#include "support/fxt_reader.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracer::test {

// A finished recording: what the tracer said and the file it left, read back.
struct Recorded {
    TracerResult result;
    FxtFile file;
};

// One recording to a file of its own in a temporary folder.
class Recorder {
public:
    // Starts `tracer ARGUMENTS -o FILE.fxt` and waits until all is attached.
    [[nodiscard]] static Result<Recorder> start(std::vector<std::string> arguments,
                                                const ChildOptions& options = {});
    // The same with a raw capture, which is converted before it is read.
    [[nodiscard]] static Result<Recorder> start_capture(std::vector<std::string> arguments);

    [[nodiscard]] ChildProcess& process() { return run_.process(); }
    [[nodiscard]] std::string path() const { return folder_.file(name_); }
    [[nodiscard]] Result<Recorded> stop(int signal = SIGINT);
    [[nodiscard]] Result<Recorded> finish();  // waits for its own end

private:
    Recorder(TempFolder folder, std::string name, TracerRun run)
        : folder_(std::move(folder)), name_(std::move(name)), run_(std::move(run)) {}

    [[nodiscard]] static Result<Recorder> start_file(std::string name,
                                                     std::vector<std::string> arguments,
                                                     const ChildOptions& options);

    [[nodiscard]] Result<Recorded> read(TracerResult result);

    TempFolder folder_;
    std::string name_;  // of the file in it
    TracerRun run_;
};

// What every recording must be: exit status 0, a file with nothing wrong in it, sums that agree,
// and, unless the test floods a small ring on purpose, no loss.
void expect_sound(const Recorded& recorded);
void expect_nothing_lost(const Recorded& recorded);

// The events of a probe in the order of the file.
[[nodiscard]] std::vector<const FxtEvent*> events_of(const FxtFile& file,
                                                     std::string_view name,
                                                     FxtEventType type = FxtEventType::instant);
[[nodiscard]] std::map<std::string, uint64_t> count_by_name(
    const FxtFile& file, std::string_view category, FxtEventType type = FxtEventType::instant);

// Whether an argument has the value a target logged (support/targets/hit_log.h): integers by value,
// floats by their bits of either width, strings up to the cut, null for what nobody can read.
[[nodiscard]] bool same_value(const FxtValue& value, const nlohmann::json& expected, bool is_cut);
[[nodiscard]] std::string to_text(const FxtValue& value);
// An argument that is a number and not negative.
[[nodiscard]] std::optional<uint64_t> integer_argument(const FxtFile& file,
                                                       const FxtEvent& event,
                                                       std::string_view name);

// The row of one probe in the summary's table, by its text as given to -e; null: none.
[[nodiscard]] nlohmann::json probe_row(const nlohmann::json& summary, std::string_view spec);
// The row of one span in the summary's durations; null: none.
[[nodiscard]] nlohmann::json span_row(const nlohmann::json& summary, std::string_view name);

}  // namespace tracer::test
