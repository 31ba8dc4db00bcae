// SPDX-License-Identifier: Apache-2.0
//
// Steps that the tests of the packs of interpreters share. The scripts follow target.h: ready, a
// line, counts, a line.
#include "root/pack_script.h"

#include "support/fixtures/target_program.h"

#include <gtest/gtest.h>

namespace tracer::test {

namespace {
constexpr Milliseconds kLimit{60000};
}

Result<RecordedScript> record_running_script(const std::vector<std::string>& command,
                                             std::vector<std::string> arguments) {
    TR_ASSIGN(ChildProcess script, start_command(command));
    arguments.insert(arguments.end(), {"--pid", std::to_string(script.pid())});
    TR_ASSIGN(Recorder recorder, Recorder::start(std::move(arguments)));
    TR_ASSIGN(const std::vector<nlohmann::json> counts, run_target(script, kLimit, 1));
    TR_ASSIGN(Recorded recorded, recorder.stop());
    return RecordedScript{std::move(recorded), counts.at(0)};
}

Result<RecordedScript> record_started_script(const std::vector<std::string>& command,
                                             std::vector<std::string> arguments) {
    arguments.emplace_back("--");
    arguments.insert(arguments.end(), command.begin(), command.end());
    TR_ASSIGN(Recorder recorder, Recorder::start(std::move(arguments)));
    TR_ASSIGN([[maybe_unused]] const nlohmann::json ready, recorder.process().read_json(kLimit));
    TR_TRY(recorder.process().send_line("go"));
    TR_ASSIGN(nlohmann::json counts, recorder.process().read_json(kLimit));
    TR_TRY(recorder.process().send_line("end"));
    TR_ASSIGN(Recorded recorded, recorder.finish());
    return RecordedScript{std::move(recorded), std::move(counts)};
}

Result<RecordedScript> record_script(PackStart start,
                                     const std::vector<std::string>& command,
                                     const std::vector<std::string>& arguments) {
    if (start == PackStart::while_running) return record_running_script(command, arguments);
    return record_started_script(command, arguments);
}

size_t span_count(const FxtFile& file, std::string_view name) {
    const size_t begins = events_of(file, name, FxtEventType::duration_begin).size();
    EXPECT_EQ(begins, events_of(file, name, FxtEventType::duration_end).size()) << name;
    return begins;
}

std::map<std::string, uint64_t> counts_behind(const FxtFile& file,
                                              const nlohmann::json& pid,
                                              std::string_view prefix,
                                              FxtEventType type) {
    std::map<std::string, uint64_t> counts;
    for (const FxtEvent& event : file.events) {
        if (event.type != type || event.pid != pid || !event.name.starts_with(prefix)) continue;
        counts[std::string(event.name.substr(prefix.size()))]++;
    }
    return counts;
}

std::map<std::string, uint64_t> counts_of(const nlohmann::json& object) {
    std::map<std::string, uint64_t> counts;
    for (const auto& [name, count] : object.items()) {
        if (count.is_number_unsigned() && count != 0) counts[name] = count.get<uint64_t>();
    }
    return counts;
}

nlohmann::json packed_probe(const nlohmann::json& summary,
                            std::string_view pack,
                            std::string_view probe) {
    for (const nlohmann::json& file : summary.value("packs", nlohmann::json::array())) {
        if (file.value("pack", "") != pack) continue;
        for (const nlohmann::json& row : file.value("probes", nlohmann::json::array())) {
            if (row.value("name", "") == probe) return row;
        }
    }
    return nullptr;
}

}  // namespace tracer::test
