// SPDX-License-Identifier: Apache-2.0
//
// Files for the tests of the Fuchsia trace reader, from words written out by hand or spelled.
#pragma once

#include "support/fxt_reader.h"
#include "support/fxt_speller.h"

#include <string>
#include <vector>

namespace tracer::test {

inline constexpr uint64_t kMagicWord = 0x0016547846040010;

inline FxtFile parse_words(const std::vector<uint64_t>& words, size_t cut_bytes = 0) {
    const auto bytes = std::as_bytes(std::span(words));
    return parse_fxt(bytes.first(bytes.size() - cut_bytes));
}

// A good file: one process with a thread, in the tables and as objects, then `more`.
inline std::vector<uint64_t> file_with(const std::vector<uint64_t>& more) {
    std::vector<uint64_t> words{kMagicWord,         0x0060000000110020,
                                0x0000726563617274,  // provider 1
                                0x0000000000000021,
                                0x000000003b9aca00,  // 1e9 ticks
                                0x0000000700010022,
                                0x00737365636f7270,  // string 1 "process"
                                0x0000000300020022,
                                0x0000000000636867,  // string 2 "ghc"
                                0x0000000800030022,
                                0x726f6a616d2e6367,  // string 3 "gc.major"
                                0x0000000300060022,
                                0x00000000006e6567,  // string 6 "gen"
                                0x0000000f00070032, 0x676e696d6f636e69,
                                0x007468676965775f,  // string 7 "incoming_weight"
                                0x0000000f00080032, 0x676e696f6774756f,
                                0x007468676965775f,  // string 8 "outgoing_weight"
                                0x0000000000010033, 0x0000000000000064,
                                0x0000000000000065,  // thread 1 = 100/101
                                0x0000010003020047, 0x0000000000000065,
                                0x0000000000010028, 0x0000000000000064};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

// The beginning of every spelled file: process 100 with threads 101 and 102.
inline FxtSpeller spell_threads() {
    FxtSpeller speller;
    speller.add(FxtMagic{}).add(FxtProvider{1, "tracer"}).add(FxtInitialization{1'000'000'000, {}});
    for (const uint64_t tid : {101, 102}) {
        speller.add(FxtKernelObject{kFxtObjectThread, tid, "worker", {}},
                    std::vector{FxtArgument{"process", FxtKoid{100}}});
    }
    return speller;
}

}  // namespace tracer::test
