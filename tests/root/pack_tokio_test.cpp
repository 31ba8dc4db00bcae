// SPDX-License-Identifier: Apache-2.0
//
// The pack of tokio: a release build by Debian's cargo and tokio, without network; polls and panics
// against what the program counts.
#include "root/pack_script.h"
#include "support/fixtures/requirements.h"

#include <filesystem>

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

constexpr const char* kCargo = "/usr/bin/cargo";
constexpr const char* kRegistry = "/usr/share/cargo/registry";
constexpr Milliseconds kBuildLimit{240000};

constexpr std::string_view kManifest = R"toml([package]
name = "polls"
version = "1.0.0"
edition = "2021"

[dependencies]
tokio = { version = "1", features = ["rt-multi-thread"] }
)toml";

constexpr std::string_view kCargoConfig = R"toml([source.crates-io]
replace-with = "installed"

[source.installed]
directory = "/usr/share/cargo/registry"
)toml";

constexpr std::string_view kProgram = R"rust(
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

static POLLS: AtomicU64 = AtomicU64::new(0);
const WORKERS: usize = 2;

struct Turns(u32);

impl Future for Turns {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        POLLS.fetch_add(1, Ordering::Relaxed);
        if self.0 == 0 {
            return Poll::Ready(());
        }
        self.0 -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

fn read_line() {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .build()
        .unwrap();
    println!("{{\"ready\":{}}}", std::process::id());
    read_line();
    let panics = runtime.block_on(async {
        let tasks: Vec<_> = (0..30).map(|turns| tokio::spawn(Turns(turns))).collect();
        for task in tasks {
            task.await.unwrap();
        }
        let broken = tokio::spawn(async {
            POLLS.fetch_add(1, Ordering::Relaxed);
            panic!("planned");
        });
        u32::from(broken.await.is_err())
    });
    println!(
        "{{\"polls\":{},\"panics\":{},\"workers\":{}}}",
        POLLS.load(Ordering::Relaxed),
        panics,
        WORKERS
    );
    read_line();
}
)rust";

class PackTokio : public testing::Test {
protected:
    static void SetUpTestSuite() {
        if (missing_root() || missing_file(kCargo) || missing_file(crate())) return;
        auto folder = TempFolder::make();
        ASSERT_TRUE(folder) << folder.error().what;
        const auto built = build(*folder);
        ASSERT_TRUE(built) << built.error().what;
        built_folder.emplace(std::move(*folder));
    }
    static void TearDownTestSuite() { built_folder.reset(); }

    // Of whatever version Debian has.
    static std::string crate() {
        std::error_code error;
        for (const auto& entry : std::filesystem::directory_iterator(kRegistry, error)) {
            const std::string name = entry.path().filename();
            if (name.starts_with("tokio-") && name.size() > 6 && std::isdigit(name[6]) != 0) {
                return entry.path();
            }
        }
        return std::string(kRegistry) + "/tokio (package librust-tokio-dev)";
    }

    static std::string program() { return built_folder->file("target/release/polls"); }

private:
    static Status build(const TempFolder& folder) {
        std::error_code error;
        std::filesystem::create_directories(folder.path() / "src", error);
        std::filesystem::create_directories(folder.path() / ".cargo", error);
        TR_TRY(write_file(folder.file("Cargo.toml"), kManifest));
        TR_TRY(write_file(folder.file(".cargo/config.toml"), kCargoConfig));
        TR_TRY(write_file(folder.file("src/main.rs"), kProgram));
        ChildOptions options;
        options.folder = folder.path();
        options.environment = {{"CARGO_HOME", folder.file("home")}, {"RUSTC", "/usr/bin/rustc"}};
        TR_TRY(run_program({kCargo, "build", "--release", "--offline"}, kBuildLimit, options));
        return {};
    }

    static inline std::optional<TempFolder> built_folder;
};

TEST_F(PackTokio, PollsAndPanicsAreThoseTheProgramCounts) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(kCargo);
    TR_REQUIRE_FILE(crate());
    TR_REQUIRE_FILE(tracer_binary());
    for (const auto start : {PackStart::while_running, PackStart::from_the_first_instruction}) {
        SCOPED_TRACE(static_cast<int>(start));
        const auto outcome =
            record_script(start, {program()}, {"--packs", "tokio", "--level", "more"});
        ASSERT_TRUE(outcome) << outcome.error().what;
        expect_sound(outcome->recorded);
        expect_nothing_lost(outcome->recorded);
        const auto& file = outcome->recorded.file;
        const auto polls = outcome->counts.at("polls").get<size_t>();
        const auto workers = outcome->counts.at("workers").get<size_t>();
        // A worker is the one poll of a blocking task of tokio's own.
        const bool is_whole = start == PackStart::from_the_first_instruction;
        const size_t recorded = span_count(file, "poll");
        EXPECT_GE(recorded, polls);
        EXPECT_LE(recorded, polls + (is_whole ? workers : 0));
        EXPECT_EQ(events_of(file, "panic").size(), outcome->counts.at("panics").get<size_t>());
        EXPECT_GT(span_count(file, "park"), 0u);
        EXPECT_EQ(span_count(file, "tokio worker"), is_whole ? workers : 0);
    }
}

}  // namespace
}  // namespace tracer::test
