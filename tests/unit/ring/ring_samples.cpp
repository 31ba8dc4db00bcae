// SPDX-License-Identifier: Apache-2.0
#include "unit/ring/ring_samples.h"

#include "tracer/base/result.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <span>
#include <sstream>

namespace tracer::test {
namespace {

const std::filesystem::path& data_folder() {
    static const std::filesystem::path folder = TRACER_RING_SAMPLES;
    return folder;
}

std::vector<std::byte> unpack(const std::filesystem::path& path) {
    const std::string command = "gzip -dc '" + path.string() + "'";
    FILE* const pipe = popen(command.c_str(), "r");
    TR_CHECK(pipe != nullptr);
    std::vector<std::byte> bytes;
    std::array<std::byte, 65536> block{};
    size_t count = 0;
    while ((count = std::fread(block.data(), 1, block.size(), pipe)) > 0) {
        bytes.insert(bytes.end(), block.begin(), block.begin() + static_cast<ptrdiff_t>(count));
    }
    TR_CHECK(pclose(pipe) == 0);
    return bytes;
}

}  // namespace

std::vector<RingSample> ring_samples() {
    constexpr std::string_view kSuffix = ".events.gz";
    std::vector<RingSample> samples;
    for (const auto& folder : std::filesystem::directory_iterator(data_folder())) {
        if (!folder.is_directory()) continue;
        for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
            const std::string name = file.path().filename().string();
            if (!name.ends_with(kSuffix)) continue;
            samples.push_back(
                {folder.path().filename().string(), name.substr(0, name.size() - kSuffix.size())});
        }
    }
    std::ranges::sort(samples, {}, [](const auto& sample) { return sample.version + sample.name; });
    return samples;
}

std::vector<std::byte> read_sample(const RingSample& sample) {
    return unpack(data_folder() / sample.version / (sample.name + ".events.gz"));
}

std::vector<std::string> expected_lines(const RingSample& sample) {
    const auto bytes =
        unpack(data_folder() / sample.version / (sample.name + ".expected.jsonl.gz"));
    std::string text;
    for (const std::byte byte : bytes) text.push_back(static_cast<char>(byte));
    std::istringstream stream(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

}  // namespace tracer::test
