// SPDX-License-Identifier: Apache-2.0
//
// trim_capture IN.traw OUT.traw [HITS]: see trim_capture.h. Run by authors of packs, for
// tests/golden/packs.
#include "support/trim_capture.h"
#include "symbol/file_bytes.h"

#include <charconv>
#include <cstdio>
#include <fstream>
#include <string_view>

namespace {

int run(const char* in, const char* out, uint64_t hits_max) {
    auto file = tracer::FileBytes::open(in);
    auto bytes = file ? file->read(0, file->size()) : tl::unexpected(file.error());
    auto trimmed =
        bytes ? tracer::test::trim_capture(*bytes, hits_max) : tl::unexpected(bytes.error());
    if (!trimmed) {
        std::fprintf(stderr, "trim_capture: %s: %s\n", in, trimmed.error().what.c_str());
        return 1;
    }
    std::ofstream stream(out, std::ios::binary);
    for (const std::byte byte : *trimmed) stream.put(static_cast<char>(byte));
    if (!stream.flush()) {
        std::fprintf(stderr, "trim_capture: cannot write %s\n", out);
        return 1;
    }
    std::printf("%s: %zu bytes\n", out, trimmed->size());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    uint64_t hits_max = UINT64_MAX;
    bool is_right = argc == 3 || argc == 4;
    if (argc == 4) {
        const std::string_view text = argv[3];
        const auto [rest, error] =
            std::from_chars(text.data(), text.data() + text.size(), hits_max);
        is_right = error == std::errc{} && rest == text.data() + text.size();
    }
    if (!is_right) {
        std::fprintf(stderr, "usage: trim_capture IN.traw OUT.traw [HITS]\n");
        return 2;
    }
    return run(argv[1], argv[2], hits_max);
}
