// SPDX-License-Identifier: Apache-2.0
//
// The pack of libvirt on Debian's libvirt 9, found without a flag: objects in a client that needs
// no daemon, calls between virsh and a libvirtd of our own as both sides see them.
#include "root/pack_script.h"
#include "root/recording.h"
#include "support/fixtures/libvirt_daemon.h"
#include "support/fixtures/requirements.h"

#include <future>

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

void expect_returned(const Recorded& recorded, std::string_view span, uint64_t count) {
    SCOPED_TRACE(span);
    const auto row = span_row(recorded.result.summary, span);
    ASSERT_TRUE(row.is_object()) << recorded.result.summary.value("durations", nlohmann::json());
    for (const auto& [cause, ended] : row.at("ends").items()) {
        EXPECT_EQ(ended, cause == "returned" ? count : 0) << cause;
    }
    EXPECT_EQ(row.at("orphan_ends"), 0);
}

// Names and processes of the asynchronous spans that have an argument called `argument`.
std::vector<const FxtEvent*> calls_with(const FxtFile& file,
                                        std::string_view argument,
                                        FxtEventType type) {
    std::vector<const FxtEvent*> found;
    for (const FxtEvent& event : file.events) {
        if (event.type == type && file.find(event.arguments, argument) != nullptr) {
            found.push_back(&event);
        }
    }
    return found;
}

TEST(PackLibvirt, ObjectsOfAClientLiveFromTheirMakingToTheirEnd) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(kVirsh);
    TR_REQUIRE_FILE(tracer_binary());
    auto recorder = Recorder::start({"--", kVirsh, "-c", "test:///default", "list"});
    ASSERT_TRUE(recorder) << recorder.error().what;
    const auto recorded = recorder->finish();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    expect_returned(*recorded, "object", 22);
    EXPECT_EQ(events_of(recorded->file, "virConnect", FxtEventType::async_begin).size(), 1U);
    EXPECT_EQ(events_of(recorded->file, "virDomainObj", FxtEventType::async_begin).size(), 1U);
}

TEST(PackLibvirt, AllHasReferencesAndTheEventLoop) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(kVirsh);
    TR_REQUIRE_FILE(tracer_binary());
    auto recorder =
        Recorder::start({"--level", "all", "--", kVirsh, "-c", "test:///default", "list"});
    ASSERT_TRUE(recorder) << recorder.error().what;
    const auto recorded = recorder->finish();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    // Each object is born with one reference, and goes with its last.
    const size_t taken = events_of(recorded->file, "object_ref").size();
    EXPECT_GT(taken, 0U);
    EXPECT_EQ(events_of(recorded->file, "object_unref").size(), taken + 22);
    EXPECT_EQ(events_of(recorded->file, "event_glib_dispatch_timeout").size(), 1U);
}

// Both begin to count at one, and call at once.
constexpr std::string_view kTwoConnections = R"(
import ctypes, sys, threading
library = ctypes.CDLL('libvirt.so.0')
library.virConnectOpen.restype = ctypes.c_void_p
connections = [ctypes.c_void_p(library.virConnectOpen(sys.argv[1].encode())) for _ in range(2)]
together = threading.Barrier(2)
def call(connection):
    version = ctypes.c_ulong()
    for _ in range(200):
        together.wait()
        assert library.virConnectGetLibVersion(connection, ctypes.byref(version)) == 0
print('{"ready": %d}' % __import__('os').getpid(), flush=True)
sys.stdin.readline()
threads = [threading.Thread(target=call, args=(connection,)) for connection in connections]
for thread in threads: thread.start()
for thread in threads: thread.join()
print('{"calls": 400}', flush=True)
sys.stdin.readline()
)";

TEST(PackLibvirt, CallsOfTwoConnectionsOfOneProcessAreKeptApart) {
    constexpr const char* kPython = "/usr/bin/python3.11";
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(kPython);
    TR_REQUIRE_FILE(kLibvirtLibrary);
    TR_REQUIRE_FILE(kLibvirtDaemon);
    TR_REQUIRE_FILE(tracer_binary());
    auto daemon = LibvirtDaemon::start();
    ASSERT_TRUE(daemon) << daemon.error().what;
    const auto script = record_running_script(
        {kPython, "-c", std::string(kTwoConnections), daemon->uri()}, {"--packs", "libvirt"});
    ASSERT_TRUE(script) << script.error().what;
    expect_sound(script->recorded);
    expect_nothing_lost(script->recorded);
    expect_returned(script->recorded, "rpc_client_msg", script->counts.at("calls"));
    EXPECT_TRUE(daemon->stop());
}

TEST(PackLibvirt, CallsAreTheSameOnBothSides) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(kVirsh);
    TR_REQUIRE_FILE(kLibvirtDaemon);
    TR_REQUIRE_FILE(tracer_binary());
    auto daemon = LibvirtDaemon::start();
    ASSERT_TRUE(daemon) << daemon.error().what;
    auto recorder = Recorder::start({"-a", "--level", "more"});
    ASSERT_TRUE(recorder) << recorder.error().what;
    std::vector<std::future<Result<std::string>>> clients;
    clients.reserve(4);
    for (int i = 0; i < 4; ++i) {
        clients.push_back(std::async(std::launch::async, [&] {
            return daemon->run_virsh("list; dominfo test; net-list; version");
        }));
    }
    for (auto& client : clients) {
        const auto printed = client.get();
        EXPECT_TRUE(printed) << printed.error().what;
    }
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);

    const FxtFile& file = recorded->file;
    uint64_t sent = 0;
    for (const FxtEvent* event : events_of(file, "send call")) {
        sent += event->pid != static_cast<uint64_t>(daemon->pid()) ? 1 : 0;
    }
    EXPECT_GT(sent, 40U);
    expect_returned(*recorded, "rpc_client_msg", sent);
    expect_returned(*recorded, "virNetServerProgramDispatch", sent);
    EXPECT_EQ(events_of(file, "receive call").size(), sent);
    EXPECT_EQ(events_of(file, "send reply").size(), sent);
    EXPECT_EQ(events_of(file, "receive reply").size(), sent);
    for (const FxtEvent* event : calls_with(file, "serial", FxtEventType::duration_begin)) {
        EXPECT_EQ(event->pid, static_cast<uint64_t>(daemon->pid()));
        EXPECT_TRUE(event->name.starts_with("serve remote ")) << event->name;
    }
    EXPECT_TRUE(daemon->stop());
}

}  // namespace
}  // namespace tracer::test
