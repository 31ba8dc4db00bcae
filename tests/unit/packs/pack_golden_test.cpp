// SPDX-License-Identifier: Apache-2.0
//
// Recordings of real runs, one folder a pack in tests/golden/packs: capture.traw decodes, anywhere
// and without root, to expected.txt. With TRACER_UPDATE_GOLDENS set to a folder the actual text is
// written there instead; scripts/update_goldens does that.
#include "capture/capture_file.h"
#include "decode/decoder.h"
#include "packs/pack_catalog.h"
#include "support/recording_writer.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

constexpr uintmax_t kCaptureBytesMax = 100'000;

std::vector<std::string> golden_names() {
    std::vector<std::string> names;
    std::istringstream list(TRACER_GOLDEN_NAMES);
    for (std::string name; std::getline(list, name, ',');) names.push_back(name);
    return names;
}

std::string path_of(const std::string& name, const std::string& file) {
    return fmt::format("{}/{}/{}", TRACER_GOLDEN_FOLDER, name, file);
}

// A capture's events as lines, and what is said about them at the end.
class Rendering : public CaptureVisitor {
public:
    Status on_definitions(RecordingDefinitions definitions) override {
        // What the program trim_capture takes out.
        EXPECT_EQ(definitions.host_name, "");
        EXPECT_EQ(definitions.command_line, "");
        EXPECT_THAT(definitions.recording.arguments, testing::IsEmpty());
        if (decoder_) {
            decoder_->add(definitions.points, definitions.probes);
        } else {
            decoder_ = Decoder::make(std::move(definitions), writer_);
        }
        return {};
    }
    Status on_counters(const CaptureCounters&) override { return {}; }
    void on_progress(uint64_t, uint64_t) override {}
    void on_record(std::span<const std::byte> record) override { decoder_->on_record(record); }

    std::string finish() {
        decoder_->finish(decoder_->last_ns());
        EXPECT_THAT(writer_.faults(), testing::IsEmpty());
        std::string text;
        for (const auto& line : writer_.lines()) text += line + "\n";
        const auto& counters = decoder_->counters();
        EXPECT_EQ(counters.unknown_kinds, 0U);
        EXPECT_EQ(counters.unknown_probes, 0U);
        EXPECT_EQ(counters.malformed, 0U);
        EXPECT_EQ(counters.spans_crossed, 0U);
        return text + fmt::format("{} lost, {} ends without a begin, {} arguments missing\n",
                                  counters.lost_events, counters.spans_orphan_end,
                                  counters.arguments_missing);
    }

private:
    RecordingWriter writer_;
    std::unique_ptr<Decoder> decoder_;
};

class EachPackGolden : public testing::TestWithParam<std::string> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EachPackGolden);

TEST_P(EachPackGolden, DecodesToTheExpectedText) {
    const auto& name = GetParam();
    const auto capture = path_of(name, "capture.traw");
    EXPECT_LT(std::filesystem::file_size(capture), kCaptureBytesMax);
    Rendering rendering;
    const auto summary = read_capture(capture, rendering);
    ASSERT_TRUE(summary) << summary.error().what;
    ASSERT_TRUE(summary->has_definitions);
    EXPECT_FALSE(summary->is_cut);
    const auto actual = rendering.finish();
    if (const char* folder = std::getenv("TRACER_UPDATE_GOLDENS")) {
        std::ofstream(fmt::format("{}/packs/{}/expected.txt", folder, name)) << actual;
        GTEST_SKIP() << "golden written, not compared";
    }
    std::ifstream stream(path_of(name, "expected.txt"));
    ASSERT_TRUE(stream.good()) << "no expected.txt: scripts/update_goldens";
    const std::string expected{std::istreambuf_iterator<char>(stream), {}};
    EXPECT_EQ(actual, expected) << "if this is meant: scripts/update_goldens";
}

INSTANTIATE_TEST_SUITE_P(Packs,
                         EachPackGolden,
                         testing::ValuesIn(golden_names()),
                         [](const auto& name) {
                             std::string text = name.param;
                             for (char& c : text) c = c == '-' ? '_' : c;
                             return text;
                         });

TEST(PackGoldens, AreThereForEachPack) {
    const auto names = golden_names();
    for (const auto& pack : built_in_packs()) {
        EXPECT_THAT(names, testing::Contains(std::string(pack.name)))
            << "tests/golden/packs/README.md says how to make it";
    }
}

}  // namespace
}  // namespace tracer::test
