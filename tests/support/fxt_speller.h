// SPDX-License-Identifier: Apache-2.0
//
// Spells records of a Fuchsia trace the slow and plain way, from the values that the reader gives
// out: for the reader's tests and fuzzers. Shares nothing with userspace/write, nor with the
// reader's parsing.
#pragma once

#include "support/fxt_records.h"

#include <map>
#include <string>
#include <vector>

namespace tracer::test {

class FxtSpeller {
public:
    // Appends the record. Texts and threads that the current provider's tables hold are spelled as
    // indices, others inline, the empty text as reference 0. Values must fit their fields.
    FxtSpeller& add(const FxtPayload& payload, std::span<const FxtArgument> arguments = {});

    // Appends words as they are.
    FxtSpeller& add_words(std::span<const uint64_t> words);

    [[nodiscard]] const std::vector<uint64_t>& words() const { return words_; }
    [[nodiscard]] std::span<const std::byte> bytes() const {
        return std::as_bytes(std::span(words_));
    }

private:
    friend struct FxtSpelling;

    struct Tables {
        std::map<uint16_t, std::string> strings;
        std::map<uint8_t, std::pair<uint64_t, uint64_t>> threads;
    };

    std::vector<uint64_t> words_;
    std::map<uint32_t, Tables> tables_;  // by provider
    uint32_t provider_ = 0;
};

// A good file with every record, event and argument type, inline and by index, of two providers.
[[nodiscard]] FxtSpeller spell_every_record();

}  // namespace tracer::test
