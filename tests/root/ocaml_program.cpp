// SPDX-License-Identifier: Apache-2.0
//
// The folder of the program is /mnt in the release's root.
#include "root/ocaml_program.h"

#include "root/oracle.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/tracer_run.h"

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

namespace tracer::test {

void OcamlProgram::compile(std::string_view source) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    TR_REQUIRE_RELEASE(GetParam());
    auto made = TempFolder::make();
    ASSERT_TRUE(made) << made.error().what;
    folder_.emplace(std::move(*made));
    ASSERT_TRUE(write_file(file("app.ml"), source));
    const std::string compile = command("ocamlopt /mnt/app.ml -o /mnt/app");
    const int status = std::system((compile + " >" + file("said") + " 2>&1").c_str());
    ASSERT_EQ(status, 0) << read_file(file("said")).value_or("");
}

std::string OcamlProgram::command(const std::string& what) const {
    return fmt::format("cd {} && exec {} {} {}", folder_->path().string(), TRACER_ORACLE,
                       GetParam(), what);
}

std::string OcamlProgram::program(Ring ring) const {
    switch (ring) {
        case Ring::off:
            return command("/mnt/app");
        case Ring::on:
            return command(
                "env OCAML_RUNTIME_EVENTS_START=1 OCAML_RUNTIME_EVENTS_DIR=/tmp /mnt/app");
        case Ring::kept:
            return command(
                "env OCAML_RUNTIME_EVENTS_START=1 OCAML_RUNTIME_EVENTS_PRESERVE=1 "
                "OCAML_RUNTIME_EVENTS_DIR=/mnt /mnt/app");
    }
    return {};
}

Result<OcamlProgram::Run> OcamlProgram::record_running(
    Ring ring, const std::vector<std::string>& options) const {
    TR_ASSIGN(auto target, ChildProcess::start({"/bin/sh", "-c", program(ring)}));
    TR_ASSIGN(const std::string ready, target.read_line(kOcamlLimit));
    if (ready != "ready") return fail(ErrorCode::bad_input, "said " + ready);
    std::vector<std::string> arguments{"--pid", std::to_string(target.pid())};
    arguments.insert(arguments.end(), options.begin(), options.end());
    TR_ASSIGN(auto recorder, Recorder::start(std::move(arguments)));
    Run run;
    run.pid = target.pid();
    TR_ASSIGN(run.collections, collect(target));
    TR_ASSIGN(run.recorded, recorder.stop());
    expect_sound(run.recorded);
    expect_nothing_lost(run.recorded);
    TR_TRY(target.send_line("end"));
    TR_ASSIGN([[maybe_unused]] const ExitStatus status, target.wait(kOcamlLimit));
    return run;
}

Result<Collections> OcamlProgram::collect(ChildProcess& process) {
    TR_TRY(process.send_line("go"));
    TR_ASSIGN(const std::string line, process.read_line(kOcamlLimit));
    Collections collections;
    if (std::sscanf(line.c_str(), "%lu %lu", &collections.before, &collections.after) != 2) {
        return fail(ErrorCode::bad_input, "said " + line);
    }
    return collections;
}

}  // namespace tracer::test
