// SPDX-License-Identifier: Apache-2.0
//
// `tracer pack check` and `tracer pack template`, for those who write packs.
#include "cli/commands.h"
#include "cli/print.h"
#include "packs/pack_file.h"
#include "session/human.h"

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tracer {
namespace {

Result<std::string> read_pack(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return fail_errno(ErrorCode::not_found, errno, fmt::format("open {}", path));
    std::string text(kPackFileBytesMax + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (file.bad()) return fail_errno(ErrorCode::io, errno, fmt::format("read {}", path));
    text.resize(static_cast<size_t>(file.gcount()));
    return text;
}

void print_problem(const PackProblem& problem, const std::string& path, bool json) {
    if (json) {
        using Json = nlohmann::ordered_json;
        const Json row = {{"file", path},
                          {"line", problem.line},
                          {"column", problem.column},
                          {"warning", problem.is_warning},
                          {"what", problem.error.what},
                          {"hint", problem.error.hint}};
        put_text(stdout, row.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
        return;
    }
    put_text(stdout,
             fmt::format("{}{}\n", problem.is_warning ? "warning: " : "", problem.error.what));
    if (!problem.error.hint.empty()) {
        put_text(stdout, fmt::format("hint: {}\n", problem.error.hint));
    }
}

}  // namespace

Result<int> run_pack_check(const PackCheckCommand& command) {
    size_t wrong = 0;
    for (const std::string& path : command.files) {
        TR_ASSIGN(const std::string text, read_pack(path));
        const PackCheck check = check_pack(text, path);
        for (const PackProblem& problem : check.problems) {
            print_problem(problem, path, command.json);
        }
        if (!check.pack) ++wrong;
        if (check.pack && !command.json) {
            const size_t probes = check.pack->probes.size();
            put_text(stdout, fmt::format("{}: pack {} is right, {} probe{}\n", path,
                                         check.pack->name, probes, probes == 1 ? "" : "s"));
        }
    }
    TR_TRY(finish_standard_output());
    if (wrong == 0) return 0;
    return fail(ErrorCode::bad_input, fmt::format("{} of {} pack files {} wrong", wrong,
                                                  command.files.size(), wrong == 1 ? "is" : "are"));
}

Result<int> run_pack_template(const PackTemplateCommand& command) {
    put_text(stdout, pack_template(command.name));
    TR_TRY(finish_standard_output());
    return 0;
}

}  // namespace tracer
