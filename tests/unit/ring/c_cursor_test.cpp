// SPDX-License-Identifier: Apache-2.0
#include "tracer/ring/tracer_cursor.h"
#include "unit/ring/ring_builder.h"

#include <array>
#include <cstdio>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

struct Told {
    std::string text;
    bool goes_on = true;
};

bool on_event(void* context, const tracer_cursor_event* event) {
    Told& told = *static_cast<Told*>(context);
    told.text += std::string(event->name) + "=" + std::to_string(event->value) + " ";
    return told.goes_on;
}

bool on_lost(void* context, const tracer_cursor_lost* lost) {
    static_cast<Told*>(context)->text += "lost " + std::to_string(lost->events) + " ";
    return true;
}

TEST(CCursor, ReadsAFileAndObeysItsCallbacks) {
    RingBuilder rings(1, 16, true);
    for (uint64_t i = 1; i <= 8; ++i) rings.write(0, i, true, TR_RING_USER_INT, 2, {i});
    rings.name(2, "app.count");
    const std::string path = testing::TempDir() + "c-cursor-" + std::to_string(getpid());
    FILE* const file = std::fopen(path.c_str(), "wb");
    ASSERT_NE(file, nullptr);
    const auto bytes = rings.bytes();
    EXPECT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), file), bytes.size());
    std::fclose(file);

    std::array<char, 100> problem{};
    tracer_cursor* const cursor =
        tracer_cursor_open_file(path.c_str(), nullptr, problem.data(), problem.size());
    unlink(path.c_str());
    ASSERT_NE(cursor, nullptr) << problem.data();
    Told told{.text = {}, .goes_on = false};
    const tracer_cursor_callbacks callbacks{on_event, on_lost, nullptr};
    EXPECT_EQ(tracer_cursor_read_poll(cursor, &callbacks, &told, 100), 1);
    EXPECT_EQ(told.text, "lost 4 app.count=5 ");
    told = {};
    EXPECT_EQ(tracer_cursor_read_poll(cursor, &callbacks, &told, 2), 2);
    EXPECT_EQ(told.text, "app.count=6 app.count=7 ");
    const tracer_cursor_callbacks none{};
    EXPECT_EQ(tracer_cursor_read_poll(cursor, &none, nullptr, 100), 1);
    tracer_cursor_close(cursor);
}

TEST(CCursor, TellsWhatIsRegistered) {
    RingBuilder rings(1, 16, true);
    rings.name(2, "app.count");
    rings.name(8191, "app.last");
    rings.registered(8191, TR_RING_REGISTERED_SPAN);
    // Of a newer producer.
    rings.name(5, "app.other");
    rings.registered(5, 77);
    const std::string path = testing::TempDir() + "c-cursor-" + std::to_string(getpid());
    FILE* const file = std::fopen(path.c_str(), "wb");
    ASSERT_NE(file, nullptr);
    const auto bytes = rings.bytes();
    EXPECT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), file), bytes.size());
    std::fclose(file);
    tracer_cursor* const cursor = tracer_cursor_open_file(path.c_str(), nullptr, nullptr, 0);
    unlink(path.c_str());
    ASSERT_NE(cursor, nullptr);
    const auto tell = [](void* context, uint32_t id, tracer_cursor_user_type type,
                         const char* name) {
        Told& told = *static_cast<Told*>(context);
        told.text += std::to_string(id) + " " + std::to_string(type) + " " + name + "; ";
        return told.goes_on;
    };
    Told told;
    EXPECT_EQ(tracer_cursor_user_events(cursor, tell, &told), 3);
    EXPECT_EQ(told.text, "2 0 app.count; 5 0 app.other; 8191 3 app.last; ");
    told = {.text = {}, .goes_on = false};
    EXPECT_EQ(tracer_cursor_user_events(cursor, tell, &told), 1);
    tracer_cursor_close(cursor);
}

TEST(CCursor, SaysInALineWhyItDoesNotOpen) {
    std::array<char, 30> problem{};
    EXPECT_EQ(tracer_cursor_open_file("/no/such/file", nullptr, problem.data(), problem.size()),
              nullptr);
    EXPECT_EQ(std::string(problem.data()).substr(0, 18), "read /no/such/file");
    const tracer_cursor_options old{.from_now = false, .ocaml_version = "4.14"};
    EXPECT_EQ(tracer_cursor_open_process(getpid(), &old, problem.data(), problem.size()), nullptr);
    EXPECT_EQ(std::string(problem.data()), "not an OCaml version with kno");
    EXPECT_EQ(tracer_cursor_open_process(getpid(), nullptr, nullptr, 0), nullptr);
    tracer_cursor_close(nullptr);
}

}  // namespace
}  // namespace tracer::test
