// SPDX-License-Identifier: Apache-2.0
//
// What a running recording understands. Adding a verb: a row in verbs.cpp, which `tracer ctl`, its
// --help and the server read.
#pragma once

#include "session/live.h"
#include "tracer/base/result.h"
#include "tracer/write/chunk_memory_sink.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace tracer {

struct Answer {
    // NOLINTNEXTLINE(google-explicit-constructor,hicpp-explicit-conversions): most are a line.
    Answer(std::string json) : line(std::move(json)) {}
    Answer(std::string json, MemoryChunk chunk)
        : line(std::move(json)), payload(std::make_shared<const MemoryChunk>(std::move(chunk))) {}

    std::string line;                            // one JSON object, without the line's end
    std::shared_ptr<const MemoryChunk> payload;  // bytes behind the line; null: none
};

// Takes an answer. Called once, at once or later.
using Reply = std::function<void(Answer)>;

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
