// SPDX-License-Identifier: Apache-2.0
//
// A program of OCaml 5 in a newer Debian release.
#pragma once

#include "root/oracle_program.h"
#include "root/recording.h"
#include "support/fixtures/child_process.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace tracer::test {

inline constexpr Milliseconds kOcamlLimit{60'000};

// What a program says of itself: "BEFORE AFTER", minor collections by Gc.quick_stat.
struct Collections {
    uint64_t before = 0;
    uint64_t after = 0;
};

class OcamlProgram : public OracleProgram {
protected:
    void compile(std::string_view source) {
        compile_with("ocamlopt /mnt/app.ml -o /mnt/app", "app.ml", source);
    }

    // A shell's command for the program, which the shell becomes. With a ring, that is left in the
    // folder.
    enum class Ring : uint8_t { off, on, kept };
    [[nodiscard]] std::string program(Ring ring) const;

    struct Run {
        Recorded recorded;
        Collections collections;
        int pid = 0;
    };
    // Starts it, records it from when it is ready, by `--pid` and `options`, and tells it to go on.
    [[nodiscard]] Result<Run> record_running(Ring ring,
                                             const std::vector<std::string>& options = {}) const;

    // Tells the program to go on, and reads what it says then.
    [[nodiscard]] static Result<Collections> collect(ChildProcess& process);
};

}  // namespace tracer::test
