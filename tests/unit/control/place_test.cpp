// SPDX-License-Identifier: Apache-2.0
#include "control/place.h"

#include "support/fixtures/temp_folder.h"

#include <csignal>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace tracer {
namespace {

constexpr int kTimeoutMs = 2000;

class ControlPlace : public testing::Test {
protected:
    test::TempFolder temp_ = std::move(*test::TempFolder::make());
    const std::string folder_ = temp_.file("tracer");
};

mode_t mode_of(const std::string& path) {
    struct stat info {};
    EXPECT_EQ(lstat(path.c_str(), &info), 0) << path;
    return info.st_mode & 07777;
}

TEST_F(ControlPlace, IsOfThisUserAlone) {
    const mode_t before = umask(0);
    const auto socket = ControlSocket::make(folder_, 77);
    umask(before);
    ASSERT_TRUE(socket) << socket.error().what;
    EXPECT_EQ(mode_of(folder_), 0700u);
    EXPECT_EQ(mode_of(folder_ + "/77.sock"), 0600u);
    EXPECT_TRUE(connect_to_recording(folder_, 77, kTimeoutMs));
    const auto missing = connect_to_recording(folder_, 78, kTimeoutMs);
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, ErrorCode::not_found);
}

TEST_F(ControlPlace, GoesWithItsOwner) {
    {
        const auto socket = ControlSocket::make(folder_, 77);
        ASSERT_TRUE(socket);
        EXPECT_EQ(*list_recordings(folder_), std::vector<uint32_t>{77});
    }
    EXPECT_NE(access((folder_ + "/77.sock").c_str(), F_OK), 0);
    EXPECT_TRUE(list_recordings(folder_)->empty());
}

TEST_F(ControlPlace, RefusesAFolderThatOthersMayEnter) {
    ASSERT_EQ(mkdir(folder_.c_str(), 0700), 0);
    ASSERT_EQ(chmod(folder_.c_str(), 0755), 0);
    const auto socket = ControlSocket::make(folder_, 77);
    ASSERT_FALSE(socket);
    EXPECT_EQ(socket.error().code, ErrorCode::permission);
}

TEST_F(ControlPlace, FollowsNoLink) {
    const std::string other = temp_.file("other");
    ASSERT_EQ(mkdir(other.c_str(), 0700), 0);
    ASSERT_EQ(symlink(other.c_str(), folder_.c_str()), 0);
    EXPECT_FALSE(ControlSocket::make(folder_, 77));
    EXPECT_NE(access((other + "/77.sock").c_str(), F_OK), 0);
}

TEST_F(ControlPlace, DoesNotReplaceWhatIsNoSocketOfADeadRecording) {
    ASSERT_EQ(mkdir(folder_.c_str(), 0700), 0);
    const std::string victim = temp_.file("victim");
    ASSERT_TRUE(test::write_file(victim, "text"));
    ASSERT_EQ(symlink(victim.c_str(), (folder_ + "/77.sock").c_str()), 0);
    // ECONNREFUSED, as of any file: the link goes, what it leads to stays.
    const auto socket = ControlSocket::make(folder_, 77);
    EXPECT_EQ(*test::read_file(victim), "text");
    const auto live = ControlSocket::make(folder_, 78);
    ASSERT_TRUE(live);
    EXPECT_FALSE(ControlSocket::make(folder_, 78)) << "one that listens was replaced";
}

TEST_F(ControlPlace, ListingRemovesWhatAKilledRecordingLeft) {
    const pid_t child = fork();
    if (child == 0) {
        const auto socket = ControlSocket::make(folder_, 99);
        _exit(socket ? 0 : 1);  // without removing it
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
    ASSERT_EQ(access((folder_ + "/99.sock").c_str(), F_OK), 0);
    EXPECT_TRUE(list_recordings(folder_)->empty());
    EXPECT_NE(access((folder_ + "/99.sock").c_str(), F_OK), 0);
}

TEST(ControlFolder, IsChosenByUser) {
    EXPECT_EQ(*control_folder(0, nullptr), "/run/tracer");
    EXPECT_EQ(*control_folder(1000, "/run/user/1000"), "/run/user/1000/tracer");
    EXPECT_FALSE(control_folder(1000, nullptr));
    EXPECT_FALSE(control_folder(1000, "relative"));
}

}  // namespace
}  // namespace tracer
