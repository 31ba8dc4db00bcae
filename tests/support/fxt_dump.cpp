// SPDX-License-Identifier: Apache-2.0
//
// fxt_dump FILE: the records of a Fuchsia trace, one a line, then what is wrong with it. Status 1
// if anything is.
#include "support/fxt_text.h"

#include <cstdio>

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: fxt_dump FILE.fxt\n", stderr);
        return 2;
    }
    const auto file = tracer::test::load_fxt(argv[1]);
    if (!file) {
        std::fprintf(stderr, "fxt_dump: %s\n", file.error().what.c_str());
        return tracer::exit_status(file.error().code);
    }
    std::fputs(to_text(*file).c_str(), stdout);
    return file->problem_count == 0 ? 0 : 1;
}
