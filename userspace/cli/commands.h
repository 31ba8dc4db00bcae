// SPDX-License-Identifier: Apache-2.0
//
// One function for each command: the exit status, or the error that main prints.
#pragma once

#include "cli/command_line.h"
#include "tracer/base/result.h"

namespace tracer {

[[nodiscard]] Result<int> run_record(const RecordCommand& command);
[[nodiscard]] Result<int> run_list(const ListCommand& command);
[[nodiscard]] Result<int> run_explain(const ExplainCommand& command);
[[nodiscard]] Result<int> run_packs(const PacksCommand& command);
[[nodiscard]] Result<int> run_pack_check(const PackCheckCommand& command);
[[nodiscard]] Result<int> run_pack_template(const PackTemplateCommand& command);
[[nodiscard]] Result<int> run_doctor(const DoctorCommand& command);
[[nodiscard]] Result<int> run_convert(const ConvertCommand& command);
[[nodiscard]] Result<int> run_rings(const RingsCommand& command);
[[nodiscard]] Result<int> run_ctl(const CtlCommand& command);
[[nodiscard]] Result<int> run_gc_stats(const GcStatsCommand& command);

}  // namespace tracer
