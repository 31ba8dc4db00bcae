// SPDX-License-Identifier: Apache-2.0
//
// Rings of the test's own process, in a folder that goes away, and what a cursor reads from them.
#pragma once

#include "tracer/ring/cursor.h"
#include "tracer/ring/tracer_ring.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tracer::test {

class TemporaryFolder {
public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] std::string file_of(pid_t pid) const;
    [[nodiscard]] std::vector<std::string> names() const;

private:
    std::string path_;
};

// Counts, and keeps what the rings' own events are not: "i 5", "begin s", "lost 3".
class RingReading : public ring::Visitor {
public:
    explicit RingReading(ring::Cursor& cursor) : cursor_(cursor) {}
    ring::Flow on_event(const ring::Event& event) override;
    ring::Flow on_lost(const ring::Lost& lost) override;

    std::vector<std::string> texts;
    bool keeps_texts = true;
    std::map<uint32_t, uint64_t> events;  // by ring
    std::map<uint32_t, uint64_t> lost;
    std::map<uint32_t, uint64_t> last_sequence;
    uint64_t malformed = 0;
    uint64_t inexact = 0;
    uint64_t out_of_order = 0;
    // Of each user_int event.
    std::function<void(const ring::Event&)> on_int;

private:
    ring::Cursor& cursor_;
};

// All that is in a file, as texts. Fails the test where it cannot be read.
[[nodiscard]] std::vector<std::string> read_ring_texts(const std::string& path);

// Runs `work` in a child process; its exit status is that of the last failed check, or 0.
[[nodiscard]] int run_in_child(const std::function<int()>& work);

[[nodiscard]] std::vector<std::thread> start_threads(int count,
                                                     const std::function<void(int)>& work);
void join_all(std::vector<std::thread>& threads);

// Asks every millisecond.
[[nodiscard]] bool wait_for(const std::function<bool()>& condition, int seconds = 20);

class RingProducer : public ::testing::Test {
protected:
    void SetUp() override;
    void TearDown() override { tracer_ring_stop(); }

    // In the folder. 0 or a negative errno.
    int start(unsigned words_log2 = 10, unsigned ring_count = 8);
    [[nodiscard]] std::string file() const { return folder.file_of(getpid()); }
    [[nodiscard]] std::vector<std::string> texts() const { return read_ring_texts(file()); }

    TemporaryFolder folder;
    tracer_ring_options options{};
};

// Registered at the first call, for the process.
[[nodiscard]] const tracer_ring_event* unit_event();
[[nodiscard]] const tracer_ring_event* int_event();
[[nodiscard]] const tracer_ring_event* span_event();
// Its values are std::string.
[[nodiscard]] const tracer_ring_event* text_event();

}  // namespace tracer::test
