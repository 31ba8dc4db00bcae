// SPDX-License-Identifier: Apache-2.0
//
// Conditions judged in userspace, twice over: random ones that know their own answer, made as a
// tree and spelled as text, and a model of the kernel's machine (bpf/gate.bpf.h) that runs terms.
#pragma once

#include "tracer/abi/gate.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracer::test {

// What a hit brings: the integers arg0 and arg1, and the text at arg2 (none: it cannot be read).
struct ConditionInput {
    uint64_t arg0 = 0;
    uint64_t arg1 = 0;
    std::optional<std::string> text;
};

enum class Judgement : uint8_t { is_false, is_true, is_unknown };

class RandomCondition {
public:
    // Of at most TR_TERMS_MAX comparisons, none of which is always true or always false.
    [[nodiscard]] static RandomCondition make(std::mt19937& random);

    [[nodiscard]] const std::string& text() const { return text_; }
    // As the grammar says it: from left to right, unknown at the first text that cannot be read.
    [[nodiscard]] Judgement judge(const ConditionInput& input) const;

    // Inputs near the constants that conditions are made of.
    [[nodiscard]] static ConditionInput random_input(std::mt19937& random);

private:
    struct Node;
    [[nodiscard]] static std::shared_ptr<const Node> make_node(std::mt19937& random,
                                                               size_t terms,
                                                               std::string& text);
    [[nodiscard]] static std::shared_ptr<const Node> make_term(std::mt19937& random,
                                                               std::string& text);
    [[nodiscard]] static Judgement judge_node(const Node& node, const ConditionInput& input);

    std::shared_ptr<const Node> root_;
    std::string text_;
};

// Runs terms as the kernel does. Their arguments are told apart by the one register that their ops
// begin with (System V ABI: rdi, rsi, rdx).
[[nodiscard]] Judgement run_terms(std::span<const tr_term> terms, const ConditionInput& input);

// The kernel's answer to a pattern, by another way than the kernel's: `text` is what is there in
// full, of which only TR_TERM_TEXT_BYTES are looked at.
[[nodiscard]] Judgement match_text(std::string_view pattern, bool is_glob, std::string_view text);

}  // namespace tracer::test
