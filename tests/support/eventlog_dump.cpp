// SPDX-License-Identifier: Apache-2.0
//
// eventlog_dump FILE: the events of a GHC eventlog, one a line with all their fields, then what is
// wrong with it. Status 1 if anything is.
#include "support/eventlog_text.h"

#include <cstdio>

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: eventlog_dump FILE.eventlog\n", stderr);
        return 2;
    }
    const auto file = tracer::test::load_eventlog(argv[1]);
    if (!file) {
        std::fprintf(stderr, "eventlog_dump: %s\n", file.error().what.c_str());
        return tracer::exit_status(file.error().code);
    }
    for (const auto& event : file->events) {
        const std::string capability = event.capability ? std::to_string(*event.capability) : "-";
        std::printf("%#llx %llu cap=%s %s\n", static_cast<unsigned long long>(event.offset),
                    static_cast<unsigned long long>(event.time_ns), capability.c_str(),
                    fields_text(event).c_str());
    }
    const std::string problems = problems_text(*file);
    std::fputs(problems.c_str(), stdout);
    return problems.empty() ? 0 : 1;
}
