// SPDX-License-Identifier: Apache-2.0
#include "unit/ring/producer_fixture.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace tracer::test {
namespace {

using ring::EventKind;
using ring::Flow;

long encode_text(void* buffer, size_t buffer_bytes, const void* value) {
    const auto& text = *static_cast<const std::string*>(value);
    if (text == "refuse") return -EDOM;
    if (text.size() <= buffer_bytes) std::memcpy(buffer, text.data(), text.size());
    return static_cast<long>(text.size());
}

bool decode_text(const void* bytes, size_t byte_count, void* value) {
    static_cast<std::string*>(value)->assign(static_cast<const char*>(bytes), byte_count);
    return true;
}

std::string_view kind_word(EventKind kind) {
    switch (kind) {
        case EventKind::begin:
        case EventKind::user_begin:
            return "begin ";
        case EventKind::end:
        case EventKind::user_end:
            return "end ";
        case EventKind::lifecycle:
        case EventKind::counter:
        case EventKind::alloc:
        case EventKind::user_unit:
        case EventKind::user_int:
        case EventKind::user_custom:
        case EventKind::unknown:
            break;
    }
    return "";
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
    std::string path = (std::filesystem::temp_directory_path() / "tracer_ring_XXXXXX").string();
    if (mkdtemp(path.data()) != nullptr) path_ = path;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::file_of(pid_t pid) const {
    return fmt::format("{}/{}.events", path_, pid);
}

std::vector<std::string> TemporaryFolder::names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
        names.push_back(entry.path().filename().string());
    }
    return names;
}

Flow RingReading::on_event(const ring::Event& event) {
    events[event.ring] += 1;
    uint64_t& last = last_sequence[event.ring];
    out_of_order += event.sequence <= last;
    last = event.sequence;
    if (event.kind == EventKind::user_int && on_int) on_int(event);
    if (!keeps_texts) return Flow::go_on;
    std::string text = fmt::format("{}{}", kind_word(event.kind), cursor_.name_of(event));
    if (event.has_value && event.kind != EventKind::lifecycle) {
        text += fmt::format(" {}", event.value);
    }
    if (event.kind == EventKind::alloc) text += fmt::format(" {}", event.words.back());
    if (event.kind == EventKind::user_custom) {
        text += fmt::format(
            " \"{}\"",
            std::string(reinterpret_cast<const char*>(event.bytes.data()), event.bytes.size()));
    }
    texts.push_back(std::move(text));
    return Flow::go_on;
}

Flow RingReading::on_lost(const ring::Lost& loss) {
    lost[loss.ring] += loss.events;
    malformed += loss.is_malformed;
    inexact += !loss.is_exact;
    if (keeps_texts) texts.push_back(fmt::format("lost {}", loss.events));
    return Flow::go_on;
}

std::vector<std::string> read_ring_texts(const std::string& path) {
    auto cursor = ring::Cursor::open_file(path);
    if (!cursor) {
        ADD_FAILURE() << path << ": " << cursor.error().what;
        return {};
    }
    RingReading reading(*cursor);
    EXPECT_TRUE(cursor->poll(reading));
    cursor->finish(reading);
    EXPECT_EQ(reading.malformed, 0u);
    EXPECT_EQ(reading.inexact, 0u);
    return reading.texts;
}

int run_in_child(const std::function<int()>& work) {
    const pid_t pid = fork();
    if (pid == 0) _exit(work());
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::vector<std::thread> start_threads(int count, const std::function<void(int)>& work) {
    std::vector<std::thread> threads;
    threads.reserve(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) threads.emplace_back(work, i);
    return threads;
}

void join_all(std::vector<std::thread>& threads) {
    for (std::thread& thread : threads) thread.join();
}

bool wait_for(const std::function<bool()>& condition, int seconds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

void RingProducer::SetUp() {
    ASSERT_FALSE(folder.path().empty());
    options.directory = folder.path().c_str();
}

int RingProducer::start(unsigned words_log2, unsigned ring_count) {
    options.ring_words_log2 = words_log2;
    options.ring_count = ring_count;
    return tracer_ring_start(&options);
}

namespace {

const tracer_ring_event* make_event(const char* name, tracer_ring_event_type type) {
    const tracer_ring_event* event = nullptr;
    EXPECT_EQ(tracer_ring_register(name, type, 0, &event), 0);
    return event;
}

}  // namespace

const tracer_ring_event* unit_event() {
    static const tracer_ring_event* const event = make_event("unit", TRACER_RING_UNIT);
    return event;
}

const tracer_ring_event* int_event() {
    static const tracer_ring_event* const event = make_event("int", TRACER_RING_INT);
    return event;
}

const tracer_ring_event* span_event() {
    static const tracer_ring_event* const event = make_event("span", TRACER_RING_SPAN);
    return event;
}

const tracer_ring_event* text_event() {
    static const tracer_ring_codec codec{encode_text, decode_text};
    static const tracer_ring_event* const event = [] {
        const tracer_ring_event* made = nullptr;
        EXPECT_EQ(tracer_ring_register_custom("text", &codec, 42, &made), 0);
        return made;
    }();
    return event;
}

}  // namespace tracer::test
