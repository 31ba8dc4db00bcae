// SPDX-License-Identifier: Apache-2.0
//
// Arguments from their text to their values through everything between: this program calls a
// function of its own, on memory of every kind, under a probe that reads it.
#include "decode/decoder.h"
#include "probe/kernel_recorder.h"
#include "probe/probe_compiler.h"
#include "support/recording_writer.h"
#include "symbol/dwarf_function.h"
#include "symbol/elf_file.h"
#include "symbol/tracefs.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

extern "C" {
enum ArgumentTestKind { kArgumentTestPlain, kArgumentTestOdd = 7 };
struct ArgumentTestNode {
    int32_t number;
    double real;
    char name[8];
    const ArgumentTestNode* next;
    const char* text;
    uint32_t mode : 5;
    int32_t shade : 6;
};
__attribute__((noinline)) int argument_test_visit(const ArgumentTestNode* node,
                                                  ArgumentTestKind kind) {
    asm volatile("" : : "r"(node), "r"(kind) : "memory");
    return -static_cast<int>(kind);
}
__attribute__((noinline)) void argument_test_take(const void* first, uint64_t second) {
    asm volatile("" : : "r"(first), "r"(second) : "memory");
}
}

namespace tracer {
namespace {

using ::testing::ElementsAre;

constexpr size_t kPage = 4096;

// `count` pages that can be read, and behind them one that cannot.
class Pages {
public:
    explicit Pages(size_t count) : bytes_((count + 1) * kPage) {
        start_ = static_cast<char*>(
            mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        EXPECT_NE(static_cast<void*>(start_), MAP_FAILED);
        EXPECT_EQ(mprotect(end(), kPage, PROT_NONE), 0);
    }
    ~Pages() { munmap(start_, bytes_); }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;

    [[nodiscard]] char* start() const { return start_; }
    [[nodiscard]] char* end() const { return start_ + bytes_ - kPage; }

private:
    size_t bytes_;
    char* start_ = nullptr;
};

// A new file of this content, mapped and never touched: its pages are in no page table.
class UntouchedFile {
public:
    explicit UntouchedFile(std::string_view content) : bytes_((content.size() | (kPage - 1)) + 1) {
        char name[] = "/tmp/tracer-argument-XXXXXX";
        const UniqueFd file(mkstemp(name));
        EXPECT_TRUE(file.valid());
        unlink(name);
        EXPECT_EQ(ftruncate(file.get(), static_cast<off_t>(bytes_)), 0);
        EXPECT_EQ(pwrite(file.get(), content.data(), content.size(), 0),
                  static_cast<ssize_t>(content.size()));
        start_ = mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file.get(), 0);
        EXPECT_NE(start_, MAP_FAILED);
        // Else the first fault maps its neighbours too.
        EXPECT_EQ(madvise(start_, bytes_, MADV_RANDOM), 0);
    }
    ~UntouchedFile() { munmap(start_, bytes_); }
    UntouchedFile(const UntouchedFile&) = delete;
    UntouchedFile& operator=(const UntouchedFile&) = delete;

    [[nodiscard]] const char* start() const { return static_cast<const char*>(start_); }

private:
    size_t bytes_;
    void* start_ = nullptr;
};

class ArgumentTest : public ::testing::Test {
protected:
    void SetUp() override {
        if (geteuid() != 0) GTEST_SKIP() << "needs root";
    }

    // The values of each hit of `probe` while `body` runs: "['text', 7]".
    std::vector<std::string> record(const std::string& probe, const std::function<void()>& body) {
        const auto plan = compile(probe);
        if (!plan) {
            ADD_FAILURE() << plan.error().what;
            return {};
        }
        KernelOptions options;
        options.pids = {static_cast<uint32_t>(getpid())};
        options.ring_bytes = 1 << 20;
        options.record_sched = false;
        auto recorder = KernelRecorder::open(*plan, options);
        if (!recorder) {
            ADD_FAILURE() << recorder.error().what;
            return {};
        }
        const Status attached = (*recorder)->attach([] { return false; });
        if (!attached) ADD_FAILURE() << attached.error().what;
        body();
        EXPECT_TRUE((*recorder)->detach().has_value());
        retried = (*recorder)->counters().probes.at(TR_PROBE_FIRST_USER).counters.retried;
        return decode(*plan, **recorder);
    }

    std::vector<std::string> take(const std::string& arguments,
                                  const std::vector<std::pair<const void*, uint64_t>>& calls) {
        return record("u:/proc/self/exe:argument_test_take(" + arguments + ")", [&] {
            for (const auto& [first, second] : calls) argument_test_take(first, second);
        });
    }

    uint64_t retried = 0;

private:
    static Result<AttachPlan> compile(const std::string& probe) {
        TR_ASSIGN(const auto spec, parse_probe_spec(probe));
        TR_ASSIGN(const auto tracefs, Tracefs::open());
        CompileOptions options;
        options.tracepoints = &tracefs;
        return compile_probes({&spec, 1}, TargetFiles{}, options);
    }

    static std::vector<std::string> decode(const AttachPlan& plan, KernelRecorder& recorder) {
        std::multimap<uint64_t, std::vector<std::byte>> hits;  // by time
        for (size_t ring = 0; ring < recorder.ring_count(); ++ring) {
            std::vector<RecordView> views;
            recorder.peek(ring, SIZE_MAX, views);
            for (const RecordView& view : views) {
                const auto bytes = view.bytes();
                if (view.kind == TR_KIND_hit) {
                    hits.emplace(view.time_ns, std::vector(bytes.begin(), bytes.end()));
                }
            }
            recorder.release(ring, views.size());
        }
        RecordingDefinitions definitions;
        definitions.points = plan.points;
        definitions.probes = plan.probes;
        test::RecordingWriter writer;
        const auto decoder = Decoder::make(std::move(definitions), writer);
        for (const auto& [time, bytes] : hits) decoder->on_record(bytes);
        auto lines = writer.take_lines();
        for (auto& line : lines) line.erase(0, line.find('['));
        return lines;
    }
};

std::string text_value(std::string_view text, std::string_view mark = "") {
    return "['" + std::string(text) + "'" + std::string(mark) + "]";
}

TEST_F(ArgumentTest, EndedTextIsCutToItsRoomAndTellsItsLength) {
    std::string text(100'000, 'x');
    const auto of_length = [&](size_t length) { return &text[text.size() - length]; };
    const auto x = [](size_t count) { return std::string(count, 'x'); };
    EXPECT_THAT(take("arg0:str", {{"", 0},
                                  {of_length(255), 0},
                                  {of_length(256), 0},
                                  {of_length(5000), 0},
                                  {of_length(100'000), 0}}),
                ElementsAre(text_value(""), text_value(x(255)), text_value(x(255), "...(256)"),
                            text_value(x(255), "...(5000)"), text_value(x(255), "...(65535+)")));
    EXPECT_THAT(take("arg0:str[4096+]", {{of_length(4095), 0}, {of_length(4096), 0}}),
                ElementsAre(text_value(x(4095)), text_value(x(4095), "...(4096)")));
    EXPECT_EQ(retried, 0u);
}

TEST_F(ArgumentTest, TextMayEndWhereMemoryEnds) {
    const Pages pages(2);
    std::memset(pages.start(), 'p', 2 * kPage);
    const char* open = pages.end() - 8;
    // Without a NUL there is no text before the memory ends; an array needs none.
    EXPECT_THAT(take("arg0:str", {{open, 0}}), ElementsAre("[?]"));
    EXPECT_THAT(take("arg0:str[8]", {{open, 0}, {open + 1, 0}}),
                ElementsAre(text_value("pppppppp"), "[?]"));
    EXPECT_THAT(take("arg0:str[arg1]", {{open, 8}, {open, 9}, {open, 0}}),
                ElementsAre(text_value("pppppppp"), "[?]", text_value("")));
    pages.end()[-1] = '\0';
    EXPECT_THAT(take("arg0:str", {{open, 0}}), ElementsAre(text_value("ppppppp")));
    EXPECT_THAT(take("arg0:str[8]", {{open, 0}}), ElementsAre(text_value("ppppppp")));
    const char* across = pages.start() + kPage - 3;
    EXPECT_THAT(take("arg0:str[7]", {{across, 0}}), ElementsAre(text_value("ppppppp")));
    // What is behind the room cannot be read up to its end: a lower bound.
    pages.end()[-1] = 'p';
    const auto long_one = take("arg0:str", {{pages.end() - 300, 0}});
    ASSERT_EQ(long_one.size(), 1u);
    EXPECT_EQ(long_one[0], text_value(std::string(255, 'p'), "...(255+)"));
}

TEST_F(ArgumentTest, CountedTextHoldsNulsAndTellsItsLength) {
    const std::string text(10'000, 'c');
    std::string nul("a\0b", 3);
    EXPECT_THAT(take("arg0:str[arg1]", {{nul.data(), 3},
                                        {nullptr, 0},
                                        {text.data(), 4096},
                                        {text.data(), 10'000},
                                        {text.data(), static_cast<uint64_t>(-1)}}),
                ElementsAre(text_value(nul), text_value(""), text_value(text.substr(0, 4096)),
                            text_value(text.substr(0, 4096), "...(10000)"), "[?]"));
    EXPECT_THAT(take("arg0:str[arg1:u32,10]", {{text.data(), 0xdead0000000b}, {text.data(), 10}}),
                ElementsAre(text_value("cccccccccc", "...(11)"), text_value("cccccccccc")));
}

TEST_F(ArgumentTest, SeveralTextsShareARecord) {
    const std::string a(6000, 'a');
    const std::string b(6000, 'b');
    const auto values = take("s=arg0:str, big=arg0:str[arg1], rest=arg0:str[4096+], arg1",
                             {{a.data(), 6000}, {b.data(), 2}});
    ASSERT_EQ(values.size(), 2u);
    const std::string first = "['" + std::string(255, 'a') + "'...(6000), '";
    ASSERT_EQ(values[0].substr(0, first.size()), first);
    EXPECT_EQ(std::ranges::count(values[0], 'a'), 255 + 3712 + 4095);
    EXPECT_THAT(values[0], ::testing::EndsWith("'...(6000), 6000]"));
    EXPECT_THAT(values[1], ::testing::HasSubstr("'...(6000), 'bb', 'bbb"));
}

TEST_F(ArgumentTest, PagesThatAreNotInMemoryAreFaultedIn) {
    std::string content(4 * kPage, 'f');
    content[kPage + 100] = '\0';
    {
        const UntouchedFile file(content);
        EXPECT_THAT(take("arg0:str[4096+]", {{file.start() + 200, 0}}),
                    ElementsAre(text_value(std::string(kPage - 100, 'f'))));
        EXPECT_EQ(retried, 1u);
    }
    {
        const UntouchedFile file(content);
        EXPECT_THAT(take("arg0:str[arg1]", {{file.start() + 2 * kPage + 1, kPage}}),
                    ElementsAre(text_value(std::string(kPage, 'f'))));
        EXPECT_EQ(retried, 1u);
    }
    const UntouchedFile file(content);
    EXPECT_THAT(take("*(arg0):u16/x", {{file.start() + kPage - 1, 0}}), ElementsAre("[0x6666]"))
        << "an integer across two pages";
    EXPECT_EQ(retried, 1u);
}

TEST_F(ArgumentTest, WalksFaultInPageAfterPage) {
    const UntouchedFile text("at the end of the walk");
    const char* end = text.start();
    const UntouchedFile second({reinterpret_cast<const char*>(&end), sizeof(end)});
    const char* middle = second.start();
    const UntouchedFile first({reinterpret_cast<const char*>(&middle), sizeof(middle)});
    EXPECT_THAT(take("*(*(arg0)):str", {{first.start(), 0}}),
                ElementsAre(text_value("at the end of the walk")));
    EXPECT_EQ(retried, 1u);
}

struct Inner {
    int32_t number;
    uint8_t small;
    double real;
    char name[8];
};
struct Outer {
    uint64_t unused;
    const Inner* inner;
};

TEST_F(ArgumentTest, WalksReadMembersOfTheirTypes) {
    const Inner inner{-7, 200, 2.5, {'8', 'b', 'y', 't', 'e', 's', 'i', 'n'}};
    const Outer outer{1, &inner};
    const Outer hollow{1, nullptr};
    EXPECT_THAT(take("n=*(*(arg0+8)):s32, *(*(arg0+8)+4):u8, r=*(*(arg0+8)+8):f64, "
                     "name=*(arg0+8)+16:str[8], x=*(*(arg0+8)):s32/x, arg1",
                     {{&outer, 1}, {&hollow, 2}, {nullptr, 3}}),
                ElementsAre("[-7, 200, 2.5, '8bytesin', 0xfffffff9, 1]", "[?, ?, ?, ?, ?, 2]",
                            "[?, ?, ?, ?, ?, 3]"));
    EXPECT_EQ(retried, 0u) << "behind a null pointer nothing is ever found: no second try";
}

TEST_F(ArgumentTest, NamesAndTypesComeFromDebugInformation) {
    const auto self = ElfFile::open("/proc/self/exe");
    ASSERT_TRUE(self) << self.error().what;
    if (!DwarfInfo::open(*self)) GTEST_SKIP() << "this test was built without -g";
    const ArgumentTestNode last{-7, 2.5, "last", nullptr, "at the end", 17, -20};
    const ArgumentTestNode first{1, 0.5, {'8', 'b', 'y', 't', 'e', 's', 'i', 'n'}, &last, nullptr,
                                 3, 9};
    const auto visit = [&] {
        argument_test_visit(&first, kArgumentTestOdd);
        argument_test_visit(&last, kArgumentTestPlain);
    };
    EXPECT_THAT(record("u:/proc/self/exe:argument_test_visit(arg:node->number, arg:node->name, "
                       "r=arg:node->next->real, t=arg:node->next->text, arg:kind)",
                       visit),
                ElementsAre("[1, '8bytesin', 2.5, 'at the end', 7]", "[-7, 'last', ?, ?, 0]"));
    const std::string bits =
        "u:/proc/self/exe:argument_test_visit(arg:node->mode, "
        "arg:node->shade, next=arg:node->next->shade)";
    EXPECT_THAT(record(bits, visit), ElementsAre("[3, 9, -20]", "[17, -20, ?]"));
    EXPECT_THAT(record(bits + " if arg:node->shade < 0", visit), ElementsAre("[17, -20, ?]"));
    EXPECT_THAT(record("ur:/proc/self/exe:argument_test_visit", visit), ElementsAre("[-7]", "[0]"));
}

TEST_F(ArgumentTest, TracepointsReadCountedTextOfTheCaller) {
    const auto tracefs = Tracefs::open();
    if (!tracefs || !tracefs->format("syscalls", "sys_enter_write")) {
        GTEST_SKIP() << "this kernel has no tracepoints of system calls";
    }
    const std::string text(5000, 'w');
    EXPECT_THAT(record("t:syscalls:sys_enter_write(buf:str[count,16], count:u64)",
                       [&] {
                           const UniqueFd sink(memfd_create("sink", 0));
                           EXPECT_EQ(::write(sink.get(), text.data(), 5000), 5000);
                           EXPECT_EQ(::write(sink.get(), "short", 5), 5);
                       }),
                ElementsAre("['" + text.substr(0, 16) + "'...(5000), 5000]", "['short', 5]"));
}

}  // namespace
}  // namespace tracer
