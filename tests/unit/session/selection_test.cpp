// SPDX-License-Identifier: Apache-2.0
//
// Patterns of names as the kernel side runs them, the folders of containers, and a system made of
// files.
#include "session/selection.h"

#include "unit/symbol/elf_builder.h"

#include <filesystem>
#include <fstream>
#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

bool fits(const std::string& pattern, std::string_view comm) {
    const auto words = compile_comm_patterns({pattern});
    EXPECT_TRUE(words) << pattern;
    return words && comm_fits(*words, comm);
}

TEST(CommPattern, ANameFitsItselfAlone) {
    EXPECT_TRUE(fits("nginx", "nginx"));
    EXPECT_FALSE(fits("nginx", "nginx2"));
    EXPECT_FALSE(fits("nginx", "ngin"));
    EXPECT_FALSE(fits("nginx", ""));
    EXPECT_FALSE(fits("nginx", "xnginx"));
}

TEST(CommPattern, StarsAndMarksFitWhatTheyMean) {
    EXPECT_TRUE(fits("*", ""));
    EXPECT_TRUE(fits("*", "anything"));
    EXPECT_TRUE(fits("pg*", "pg"));
    EXPECT_TRUE(fits("pg*", "pg_ctl"));
    EXPECT_FALSE(fits("pg*", "xpg"));
    EXPECT_TRUE(fits("*d", "sshd"));
    EXPECT_TRUE(fits("*d", "dad"));
    EXPECT_FALSE(fits("*d", "dada"));
    EXPECT_TRUE(fits("a*b*c", "aXbXbXc"));
    EXPECT_FALSE(fits("a*b*c", "acb"));
    EXPECT_TRUE(fits("k?orker*", "kworker/0:1"));
    EXPECT_FALSE(fits("k?orker", "korker"));
    EXPECT_TRUE(fits("a**b", "ab"));
    EXPECT_TRUE(fits("\xc3\xa9*", "\xc3\xa9t\xc3\xa9"));
}

TEST(CommPattern, ALongNameMeansWhatTheKernelKeepsOfIt) {
    EXPECT_TRUE(fits("a-very-long-program", "a-very-long-pro"));
    EXPECT_TRUE(fits("a-very-long-pro*", "a-very-long-pro"));
    const auto never = compile_comm_patterns({"*a-very-long-progr*"});
    ASSERT_FALSE(never);
    EXPECT_EQ(never.error().code, ErrorCode::usage);
    EXPECT_FALSE(compile_comm_patterns({""}));
}

TEST(CommPattern, ManyFitBesideEachOther) {
    std::vector<std::string> patterns;
    for (char c = 'a'; c < 'a' + 16; ++c) patterns.push_back(std::string(15, c));
    const auto words = compile_comm_patterns(patterns);
    ASSERT_TRUE(words);
    EXPECT_EQ(words->size(), size_t{TR_COMM_WORDS});
    for (const std::string& pattern : patterns) {
        EXPECT_TRUE(comm_fits(*words, pattern));
        EXPECT_FALSE(comm_fits(*words, pattern.substr(1)));
    }
    EXPECT_FALSE(comm_fits(*words, "aaaaaaabbbbbbbb"));
    patterns.push_back("one-more");
    const auto refused = compile_comm_patterns(patterns);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::limit);
}

const std::string kId = "0123456789abcdef" + std::string(48, 'a');

TEST(ContainerFolder, KnowsEachRuntimesForm) {
    for (const std::string& folder :
         {"docker-" + kId + ".scope", "libpod-" + kId + ".scope",
          "cri-containerd-" + kId + ".scope", "crio-" + kId + ".scope", kId}) {
        const auto label = container_of_folder(folder);
        ASSERT_TRUE(label) << folder;
        EXPECT_EQ(label->id, kId);
        EXPECT_TRUE(label->name.empty());
    }
    EXPECT_EQ(container_of_folder("machine-my\\x2dbox.scope")->name, "my-box");
    EXPECT_EQ(container_of_folder("systemd-nspawn@box.service")->name, "box");
    EXPECT_EQ(container_of_folder("lxc.payload.web")->name, "web");
}

TEST(ContainerFolder, OthersAreNone) {
    for (const char* folder : {"", "docker-abc.scope", "docker.service", "user.slice",
                               "machine-.scope", "session-3.scope", "lxc.payload."}) {
        EXPECT_FALSE(container_of_folder(folder)) << folder;
    }
    EXPECT_FALSE(container_of_folder(kId.substr(1)));
    EXPECT_FALSE(container_of_folder(kId + "0"));
    EXPECT_FALSE(container_of_folder(std::string(64, 'g')));
}

TEST(CgroupRoot, IsTheMountPointOfCgroup2) {
    EXPECT_EQ(
        find_cgroup_root("24 1 0:20 / /sys rw - sysfs sysfs rw\n"
                         "33 24 0:28 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"),
        "/sys/fs/cgroup/unified");
    EXPECT_EQ(find_cgroup_root("24 1 0:20 / /sys rw - sysfs sysfs rw\n"), "");
    EXPECT_EQ(find_cgroup_root(" - cgroup2 "), "");
    EXPECT_EQ(find_cgroup_root(""), "");
}

class SelectionTest : public testing::Test {
protected:
    SelectionTest() {
        system_.proc_root = folder_.path() + "/proc";
        system_.cgroup_root = folder_.path() + "/cgroup";
        system_.docker_root = folder_.path() + "/docker";
        system_.podman_file = folder_.path() + "/containers.json";
        for (const std::string& path :
             {system_.cgroup_root + "/web.service/sub", system_.cgroup_root + "/docker/" + kId}) {
            fs::create_directories(path);
        }
        add_process(10, "nginx", "/web.service/sub");
        add_process(11, "python3", "/docker/" + kId);
        add_process(12, "bash", "/");
    }

    void add_process(uint32_t pid, const std::string& comm, const std::string& cgroup) {
        const std::string path = system_.proc_root + "/" + std::to_string(pid);
        fs::create_directories(path);
        std::ofstream(path + "/comm") << comm << "\n";
        std::ofstream(path + "/cgroup") << "4:memory:/other\n0::" << cgroup << "\n";
    }

    [[nodiscard]] uint64_t inode(const std::string& path) const {
        struct stat status {};
        EXPECT_EQ(::stat((system_.cgroup_root + path).c_str(), &status), 0);
        return status.st_ino;
    }

    [[nodiscard]] Selection select(const SelectionRequest& request) const {
        auto selection = Selection::make(request, system_);
        EXPECT_TRUE(selection) << selection.error().what;
        return selection ? std::move(*selection) : Selection();
    }

    test::TemporaryFolder folder_;
    SelectionSystem system_;
};

TEST_F(SelectionTest, FindsProcessesByName) {
    const Selection selection = select({.comms = {"ng*", "bash"}});
    EXPECT_THAT(selection.find_processes(), UnorderedElementsAre(10, 12));
    EXPECT_FALSE(selection.rules().watches_cgroups);
    EXPECT_FALSE(selection.rules().is_empty());
}

TEST_F(SelectionTest, FindsProcessesBelowACgroupHoweverItIsNamed) {
    for (const std::string& name :
         {std::string("/web.service"), system_.cgroup_root + "/web.service",
          std::string("/web.service/"), std::string("web.service"),
          std::to_string(inode("/web.service"))}) {
        const Selection selection = select({.cgroups = {name}});
        EXPECT_THAT(selection.find_processes(), UnorderedElementsAre(10)) << name;
        EXPECT_THAT(selection.rules().cgroup_ids, UnorderedElementsAre(inode("/web.service")));
    }
}

TEST_F(SelectionTest, FindsAContainerByTheBeginningOfItsId) {
    const Selection selection = select({.containers = {kId.substr(0, 12)}});
    EXPECT_THAT(selection.find_processes(), UnorderedElementsAre(11));
    EXPECT_THAT(selection.find_cgroups(), UnorderedElementsAre(inode("/docker/" + kId)));
    EXPECT_TRUE(select({.containers = {"012"}}).find_processes().empty());
    EXPECT_TRUE(select({.containers = {"1234"}}).find_processes().empty());
}

TEST_F(SelectionTest, FindsAContainerByItsRuntimesName) {
    fs::create_directories(system_.docker_root + "/" + kId);
    std::ofstream(system_.docker_root + "/" + kId + "/config.v2.json") << R"({"Name":"/web"})";
    EXPECT_THAT(select({.containers = {"web"}}).find_processes(), UnorderedElementsAre(11));
    EXPECT_TRUE(select({.containers = {"we"}}).find_processes().empty());
    fs::remove_all(system_.docker_root);
    std::ofstream(system_.podman_file) << R"([{"id":")" << kId << R"(","names":["db"]}, 3, {}])";
    EXPECT_THAT(select({.containers = {"db"}}).find_processes(), UnorderedElementsAre(11));
    std::ofstream(system_.podman_file) << "[{\"id\":";
    EXPECT_TRUE(select({.containers = {"db"}}).find_processes().empty());
}

TEST_F(SelectionTest, ACgroupMadeLaterIsWantedByItsPathAndNumber) {
    const Selection selection = select({.cgroups = {"/new.service"}, .containers = {"box"}});
    fs::create_directories(system_.cgroup_root + "/new.service");
    fs::create_directories(system_.cgroup_root + "/machine-box.scope");
    EXPECT_TRUE(selection.wants_cgroup("/new.service", inode("/new.service")));
    EXPECT_TRUE(selection.wants_cgroup("/machine-box.scope", inode("/machine-box.scope")));
    // The same path in another hierarchy has another number.
    EXPECT_FALSE(selection.wants_cgroup("/new.service", inode("/new.service") + 1));
    EXPECT_FALSE(selection.wants_cgroup("/web.service", inode("/web.service")));
}

TEST_F(SelectionTest, TellsWhichPatternsFitNobodyYet) {
    const Selection selection = select(
        {.comms = {"ng*", "later*"}, .cgroups = {"/new.service"}, .containers = {kId, "box"}});
    EXPECT_THAT(selection.waiting_lines(),
                ElementsAre("waiting for a process called later*: there is none now",
                            "waiting for a process in the cgroup /new.service: there is none now",
                            "waiting for a process of the container box: there is none now"));
    EXPECT_TRUE(select({.comms = {"ng*"}}).waiting_lines().empty());
}

TEST_F(SelectionTest, RefusesWhatCannotBe) {
    EXPECT_EQ(Selection::make({.cgroups = {""}}, system_).error().code, ErrorCode::usage);
    EXPECT_EQ(Selection::make({.containers = {""}}, system_).error().code, ErrorCode::usage);
    system_.cgroup_root.clear();
    EXPECT_EQ(Selection::make({.cgroups = {"/x"}}, system_).error().code,
              ErrorCode::missing_feature);
    EXPECT_TRUE(Selection::make({.comms = {"x"}}, system_));
}

}  // namespace
}  // namespace tracer
