// SPDX-License-Identifier: Apache-2.0
//
// Keeps libbpf's messages for the error that will carry them. Used by whoever loads programs.
#include "probe/libbpf_log.h"

#include <cstdarg>
#include <cstdio>
#include <string_view>

#include <bpf/libbpf.h>

namespace tracer {
namespace {

thread_local std::string* current_text = nullptr;

constexpr size_t kTextBytesMax = 1 << 20;
constexpr size_t kTailLines = 8;

int keep_message(libbpf_print_level level, const char* format, va_list arguments) {
    if (level == LIBBPF_DEBUG || current_text == nullptr) return 0;
    char line[4096];
    const int length = std::vsnprintf(line, sizeof(line), format, arguments);
    if (length > 0 && current_text->size() < kTextBytesMax) current_text->append(line);
    return length;
}

}  // namespace

LibbpfLog::LibbpfLog() {
    current_text = &text_;
    libbpf_set_print(keep_message);
}

LibbpfLog::~LibbpfLog() {
    current_text = nullptr;
}

std::string LibbpfLog::tail() const {
    std::string_view text = text_;
    while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
    size_t begin = text.size();
    for (size_t lines = 0; lines < kTailLines && begin != 0; ++lines) {
        const size_t newline = text.rfind('\n', begin - 1);
        begin = newline == std::string_view::npos ? 0 : newline;
    }
    if (begin != 0) ++begin;
    return std::string(text.substr(begin));
}

}  // namespace tracer
