// SPDX-License-Identifier: Apache-2.0
//
// The program `tracer`: reads the command line, runs one command, and turns what went wrong into a
// line, a hint and an exit status. Everything else is in the layers below.
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/print.h"
#include "cli/standard_streams.h"

#include <cstdio>
#include <string>
#include <variant>
#include <vector>

namespace {

struct RunCommand {
    tracer::Result<int> operator()(const tracer::RecordCommand& command) const {
        return tracer::run_record(command);
    }
    tracer::Result<int> operator()(const tracer::ListCommand& command) const {
        return tracer::run_list(command);
    }
    tracer::Result<int> operator()(const tracer::ExplainCommand& command) const {
        return tracer::run_explain(command);
    }
    tracer::Result<int> operator()(const tracer::PacksCommand& command) const {
        return tracer::run_packs(command);
    }
    tracer::Result<int> operator()(const tracer::PackCheckCommand& command) const {
        return tracer::run_pack_check(command);
    }
    tracer::Result<int> operator()(const tracer::PackTemplateCommand& command) const {
        return tracer::run_pack_template(command);
    }
    tracer::Result<int> operator()(const tracer::DoctorCommand& command) const {
        return tracer::run_doctor(command);
    }
    tracer::Result<int> operator()(const tracer::ConvertCommand& command) const {
        return tracer::run_convert(command);
    }
    tracer::Result<int> operator()(const tracer::RingsCommand& command) const {
        return tracer::run_rings(command);
    }
    tracer::Result<int> operator()(const tracer::CtlCommand& command) const {
        return tracer::run_ctl(command);
    }
    tracer::Result<int> operator()(const tracer::GcStatsCommand& command) const {
        return tracer::run_gc_stats(command);
    }
    tracer::Result<int> operator()(const tracer::PrintCommand& command) const {
        std::fputs(command.text.c_str(), stdout);
        TR_TRY(tracer::finish_standard_output());
        return 0;
    }
};

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): only memory can run out, and then there is no report
int main(int argc, char** argv) {
    tracer::occupy_closed_standard_streams();
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    const auto command = tracer::parse_command_line(arguments);
    if (!command) return tracer::report_error(command.error());
    const auto status = std::visit(RunCommand{}, *command);
    if (!status) return tracer::report_error(status.error());
    return *status;
}
