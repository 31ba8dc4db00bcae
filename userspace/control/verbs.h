// SPDX-License-Identifier: Apache-2.0
//
// What a running recording understands. Adding a verb: a row in verbs.cpp, which `tracer ctl`, its
// --help and the server read.
#pragma once

#include "session/live.h"
#include "tracer/base/result.h"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace tracer {

// Takes an answer: one JSON object, without the line's end. Called once, at once or later.
using Reply = std::function<void(std::string)>;

struct Verb {
    std::string_view name;
    std::string_view arguments;  // as usage shows them
    std::string_view what;       // it does, as a clause
    size_t words_min;            // behind the name
    size_t words_max;
    void (*run)(LiveRecording& live, std::span<const std::string> words, const Reply& reply);
};

[[nodiscard]] std::span<const Verb> verbs();
// By the first of the words, with as many behind it as it takes; else a usage error.
[[nodiscard]] Result<const Verb*> find_verb(std::span<const std::string> words);

// Does what the line asks for, whatever it holds.
void run_request(LiveRecording& live, std::string_view line, const Reply& reply);

[[nodiscard]] std::string error_answer(const Error& error);

}  // namespace tracer
