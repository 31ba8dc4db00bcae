// SPDX-License-Identifier: Apache-2.0
//
// Rings where root is needed to show it: a full disk (a small tmpfs in a mount namespace of the
// test's own), and OCaml's library as a reader (a newer Debian release by scripts/oracle).
#include "tracer/ring/tracer_ring.h"
#include "unit/ring/producer_fixture.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <sched.h>
#include <sstream>
#include <sys/mount.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

using Texts = std::vector<std::string>;

// Nobody else sees it, and it goes with the process.
bool mount_small_disk(const std::string& folder, int kib) {
    return unshare(CLONE_NEWNS) == 0 &&
           mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           mount("tmpfs", folder.c_str(), "tmpfs", 0, fmt::format("size={}k", kib).c_str()) == 0;
}

bool fill_disk(const std::string& path) {
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    const std::vector<char> block(4096);
    while (write(fd, block.data(), block.size()) > 0) continue;
    const bool is_full = errno == ENOSPC;
    close(fd);
    return is_full;
}

class RingDisk : public RingProducer {
protected:
    // In a child, which becomes the only one to see the disk.
    int on_disk_of(int kib, const std::function<int()>& work) {
        return run_in_child([&] { return mount_small_disk(folder.path(), kib) ? work() : 100; });
    }
};

TEST_F(RingDisk, AStartWithoutRoomIsAnErrorThatLeavesNothing) {
    const auto work = [this] {
        if (start(16, 4) != -ENOSPC) return 1;
        return folder.names().empty() && !tracer_ring_is_active() ? 0 : 2;
    };
    EXPECT_EQ(on_disk_of(64, work), 0);
}

TEST_F(RingDisk, AFullDiskDropsAndCountsAndIsNoSignal) {
    const auto work = [this] {
        // Rings of 512 KiB: some of eight find room.
        if (start(16, 16) != 0) return 1;
        std::atomic<int> has_ring = 0;
        std::atomic<int> has_none = 0;
        std::atomic<bool> may_end = false;
        auto threads = start_threads(8, [&](int) {
            const int first = tracer_ring_write_int(int_event(), 1);
            // The whole ring and more.
            for (int event = 0; first == 0 && event < 50'000; ++event) {
                tracer_ring_write_int(int_event(), event);
            }
            (first == 0 ? has_ring : has_none) += first == 0 || first == -ENOSPC;
            while (!may_end) std::this_thread::yield();
        });
        const bool is_done = wait_for([&] { return has_ring + has_none == 8; });
        tracer_ring_counts counts{};
        tracer_ring_get_counts(&counts);
        may_end = true;
        join_all(threads);
        if (!is_done) return 2;
        if (has_ring == 0 || has_none == 0) return 3;
        return counts.missing == static_cast<uint64_t>(has_none) ? 0 : 4;
    };
    EXPECT_EQ(on_disk_of(2048, work), 0);
}

int write_in_a_new_thread() {
    int result = 0;
    std::thread([&] { result = tracer_ring_write_int(int_event(), 1); }).join();
    return result;
}

TEST_F(RingDisk, RoomThatComesBackIsUsed) {
    const auto work = [this] {
        // Names need room too.
        if (int_event() == nullptr || start(16, 16) != 0) return 1;
        const std::string filler = folder.path() + "/filler";
        if (!fill_disk(filler)) return 2;
        if (write_in_a_new_thread() != -ENOSPC) return 3;
        unlink(filler.c_str());
        return wait_for([] { return write_in_a_new_thread() == 0; }) ? 0 : 4;
    };
    EXPECT_EQ(on_disk_of(2048, work), 0);
}

TEST_F(RingDisk, ANameWithoutRoomIsRefused) {
    const auto work = [this] {
        if (start(8, 1) != 0 || !fill_disk(folder.path() + "/filler")) return 1;
        // The names of one page have their blocks; those of the next do not.
        for (int i = 0; i < 64; ++i) {
            const tracer_ring_event* event = nullptr;
            const int error = tracer_ring_register(fmt::format("name {}", i).c_str(),
                                                   TRACER_RING_UNIT, 0, &event);
            if (error == -ENOSPC) return event == nullptr ? 0 : 2;
        }
        return 3;
    };
    EXPECT_EQ(on_disk_of(2048, work), 0);
}

// Prints what OCaml's own library reads, in the words of read_ring_texts().
constexpr const char* kOcamlReader = R"(
module R = Runtime_events

let text_type =
  R.Type.register
    ~encode:(fun buffer text ->
      Bytes.blit_string text 0 buffer 0 (String.length text);
      String.length text)
    ~decode:(fun buffer length -> Bytes.sub_string buffer 0 length)

type R.User.tag += Text

let _ = R.User.register "text" Text text_type

let () =
  let cursor = R.create_cursor (Some (Sys.argv.(1), int_of_string Sys.argv.(2))) in
  let say format = Printf.printf (format ^^ "\n") in
  let phase word _ _ phase = say "%s %s" word (R.runtime_phase_name phase) in
  let callbacks =
    R.Callbacks.create ~runtime_begin:(phase "begin") ~runtime_end:(phase "end")
      ~runtime_counter:(fun _ _ counter value ->
        say "%s %d" (R.runtime_counter_name counter) value)
      ~alloc:(fun _ _ buckets -> say "alloc %d" buckets.(19))
      ~lifecycle:(fun _ _ kind _ -> say "%s" (R.lifecycle_name kind))
      ~lost_events:(fun _ _ -> say "lost")
      ()
    |> R.Callbacks.add_user_event R.Type.unit (fun _ _ event () -> say "%s" (R.User.name event))
    |> R.Callbacks.add_user_event R.Type.int (fun _ _ event value ->
           say "%s %d" (R.User.name event) value)
    |> R.Callbacks.add_user_event R.Type.span (fun _ _ event edge ->
           say "%s %s" (match edge with R.Type.Begin -> "begin" | End -> "end") (R.User.name event))
    |> R.Callbacks.add_user_event text_type (fun _ _ event value ->
           say "%s \"%s\"" (R.User.name event) value)
  in
  ignore (R.read_poll cursor callbacks None)
)";

class RingOracle : public RingProducer {
protected:
    void SetUp() override {
        RingProducer::SetUp();
        options.preserve = true;
        std::ofstream(folder.path() + "/reader.ml") << kOcamlReader;
    }

    // The exit status; what is printed goes to the folder's `output`.
    [[nodiscard]] int run_in(const std::string& release, const std::string& command) const {
        const int status =
            std::system(fmt::format("cd {} && {} {} sh -c 'cd /mnt && {}' >output 2>&1",
                                    folder.path(), TRACER_ORACLE, release, command)
                            .c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    [[nodiscard]] std::string output() const {
        std::stringstream text;
        text << std::ifstream(folder.path() + "/output").rdbuf();
        return text.str();
    }
    // Sorted: readers visit rings in orders of their own. Losses are words there and events here.
    [[nodiscard]] static Texts comparable(Texts texts) {
        std::erase_if(texts, [](const std::string& text) { return text.starts_with("lost"); });
        std::ranges::sort(texts);
        return texts;
    }
    void expect_same(const std::string& release) {
        const Texts ours = comparable(texts());
        ASSERT_EQ(run_in(release, fmt::format("./reader /mnt {}", getpid())), 0) << output();
        Texts theirs;
        std::istringstream lines(output());
        for (std::string line; std::getline(lines, line);) theirs.push_back(line);
        EXPECT_EQ(comparable(theirs), ours);
    }
};

void write_some_of_everything() {
    const std::string text = "hello";
    uint64_t buckets[TR_RING_ALLOC_BUCKETS] = {};
    buckets[19] = 7;
    tracer_ring_write_unit(unit_event());
    tracer_ring_write_int(int_event(), int64_t{-1} << 40);
    tracer_ring_write_begin(span_event());
    tracer_ring_write_custom(text_event(), &text);
    tracer_ring_write_end(span_event());
    tracer_ring_begin(TRACER_RING_MINOR);
    tracer_ring_end(TRACER_RING_COMPACT);
    tracer_ring_counter(TRACER_RING_MINOR_PROMOTED, 80);
    tracer_ring_alloc(buckets);
}

TEST_F(RingOracle, OcamlsLibraryReadsTheSameEvents) {
    for (const std::string release : {"trixie", "sid"}) {
        SCOPED_TRACE(release);
        const int status =
            run_in(release, "ocamlopt -I +runtime_events runtime_events.cmxa reader.ml -o reader");
        if (status == 77) GTEST_SKIP() << "Debian " << release << " cannot be laid: no archive";
        ASSERT_EQ(status, 0) << output();
        // Nothing lost, two threads; then a ring that was overwritten a hundred times, with
        // fillers.
        ASSERT_EQ(start(10, 4), 0);
        write_some_of_everything();
        std::thread(write_some_of_everything).join();
        tracer_ring_pause();
        tracer_ring_resume();
        tracer_ring_stop();
        expect_same(release);
        ASSERT_EQ(start(6, 1), 0);
        for (int i = 0; i < 500; ++i) {
            write_some_of_everything();
            tracer_ring_write_int(int_event(), i);
        }
        tracer_ring_stop();
        expect_same(release);
    }
}

}  // namespace
}  // namespace tracer::test
