// SPDX-License-Identifier: Apache-2.0
#include "packs/pack_catalog.h"

#include "packs/pack_file.h"
#include "unit/packs/pack_texts.h"
#include "unit/symbol/elf_builder.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::string_view kMatchDemo = "[[match]]\nprovider = \"demo\"\n";

// A variable of the environment, as it was before when the object goes.
class Variable {
public:
    Variable(const char* name, const std::optional<std::string>& value) : name_(name) {
        if (const char* before = std::getenv(name)) before_ = before;
        set(value);
    }
    ~Variable() { set(before_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    void set(const std::optional<std::string>& value) const {
        if (value) {
            ::setenv(name_, value->c_str(), 1);
        } else {
            ::unsetenv(name_);
        }
    }
    const char* name_;
    std::optional<std::string> before_;
};

class Catalog : public testing::Test {
protected:
    std::string write(const std::string& name, const std::string& text, mode_t mode = 0644) {
        std::string path = folder_.path() + "/" + name;
        std::ofstream(path) << text;
        EXPECT_EQ(::chmod(path.c_str(), mode), 0);
        return path;
    }
    [[nodiscard]] PackCatalogOptions with_folder() const {
        return {.files = {}, .folder = PackFolder{folder_.path(), ::getuid()}};
    }
    static PackCatalog load(const PackCatalogOptions& options) {
        auto catalog = PackCatalog::load(options);
        EXPECT_TRUE(catalog) << catalog.error().what;
        return std::move(*catalog);
    }
    // Of a folder with one file that is not taken.
    std::string only_warning() {
        const auto catalog = load(with_folder());
        EXPECT_THAT(catalog.warnings(), SizeIs(1));
        return catalog.warnings().empty() ? "" : catalog.warnings()[0].what;
    }

    TemporaryFolder folder_;
};

TEST_F(Catalog, ReadsThePacksOfAFolder) {
    const auto path = write("mine.toml", matching(kMatchDemo, "mine"));
    write("notes.txt", "no pack");
    write(".hidden.toml", "no pack");
    const auto catalog = load(with_folder());
    EXPECT_THAT(catalog.warnings(), IsEmpty());
    EXPECT_THAT(catalog.packs(), SizeIs(built_in_packs().size() + 1));
    const auto* pack = catalog.find("mine");
    ASSERT_NE(pack, nullptr);
    EXPECT_EQ(pack->origin, path);
}

TEST_F(Catalog, KeepsPacksInTheOrderOfTheirNames) {
    write("zz-b.toml", matching(kMatchDemo, "zz-b"));
    write("zz-a.toml", matching(kMatchDemo, "zz-a"));
    const auto catalog = load(with_folder());
    ASSERT_GE(catalog.packs().size(), 2U);
    EXPECT_EQ(catalog.packs().back().name, "zz-b");
    EXPECT_EQ(catalog.packs()[catalog.packs().size() - 2].name, "zz-a");
}

TEST_F(Catalog, LetsANamedFileReplaceThatOfTheFolder) {
    write("mine.toml", matching(kMatchDemo, "mine"));
    TemporaryFolder other;
    const auto path = other.path() + "/mine.toml";
    std::ofstream(path) << matching("[[match]]\nprovider = \"other\"\n", "mine");
    auto options = with_folder();
    options.files = {path};
    const auto catalog = load(options);
    ASSERT_NE(catalog.find("mine"), nullptr);
    EXPECT_EQ(catalog.find("mine")->matches[0].provider, "other");
    EXPECT_THAT(catalog.remarks(), ElementsAre("pack mine of " + path + " replaces that of " +
                                               folder_.path() + "/mine.toml"));
}

TEST_F(Catalog, LeavesOutABrokenPackOfTheFolderWithItsPlace) {
    write("bad.toml", "[pack]\nnmae = 1\n");
    write("mine.toml", matching(kMatchDemo, "mine"));
    const auto catalog = load(with_folder());
    EXPECT_NE(catalog.find("mine"), nullptr);
    ASSERT_THAT(catalog.warnings(), SizeIs(1));
    EXPECT_THAT(catalog.warnings()[0].what,
                HasSubstr("pack left out: " + folder_.path() + "/bad.toml:1:1: "));
}

TEST_F(Catalog, FailsForABrokenPackThatWasNamed) {
    const auto path = write("bad.toml", matching("[[match]]\nprovidr = \"x\"\n", "bad"));
    const auto catalog = PackCatalog::load({.files = {path}, .folder = {}});
    ASSERT_FALSE(catalog);
    EXPECT_EQ(catalog.error().code, ErrorCode::usage);
    EXPECT_THAT(catalog.error().what, HasSubstr("bad.toml:7:1: an unknown word in [[match]]"));
}

TEST_F(Catalog, FailsForAFileThatIsNotThere) {
    const auto catalog =
        PackCatalog::load({.files = {folder_.path() + "/none.toml"}, .folder = {}});
    ASSERT_FALSE(catalog);
    EXPECT_THAT(catalog.error().what, HasSubstr("none.toml"));
}

TEST_F(Catalog, SaysNothingOfAFolderThatIsNotThere) {
    const auto catalog =
        load({.files = {}, .folder = PackFolder{folder_.path() + "/none", ::getuid()}});
    EXPECT_THAT(catalog.warnings(), IsEmpty());
}

TEST_F(Catalog, LeavesOutFilesThatOthersMayWrite) {
    const auto path = write("mine.toml", matching(kMatchDemo, "mine"), 0664);
    const auto catalog = load(with_folder());
    EXPECT_EQ(catalog.find("mine"), nullptr);
    ASSERT_THAT(catalog.warnings(), SizeIs(1));
    EXPECT_THAT(catalog.warnings()[0].what, HasSubstr(path + " may be written by others"));
    EXPECT_EQ(catalog.warnings()[0].hint, "chmod go-w '" + path + "'");
}

TEST_F(Catalog, LeavesOutFilesOfOtherUsers) {
    if (::getuid() != 0) GTEST_SKIP() << "only root may give a file away";
    const auto path = write("mine.toml", matching(kMatchDemo, "mine"));
    ASSERT_EQ(::chown(path.c_str(), 4321, 4321), 0);
    EXPECT_THAT(only_warning(), HasSubstr("belongs to user 4321, neither to root nor to you"));
    // Of the one who called sudo they are as good.
    const auto catalog = load({.files = {}, .folder = PackFolder{folder_.path(), 4321}});
    EXPECT_NE(catalog.find("mine"), nullptr);
}

TEST_F(Catalog, LeavesOutAFolderThatOthersMayWrite) {
    write("mine.toml", matching(kMatchDemo, "mine"));
    ASSERT_EQ(::chmod(folder_.path().c_str(), 0777), 0);
    EXPECT_THAT(only_warning(), HasSubstr("no packs read: " + folder_.path() + " may be written"));
}

TEST_F(Catalog, LeavesOutWhatIsNoFile) {
    ASSERT_EQ(::mkfifo((folder_.path() + "/pipe.toml").c_str(), 0600), 0);
    EXPECT_THAT(only_warning(), HasSubstr("pipe.toml"));
}

TEST_F(Catalog, LeavesOutAFileThatIsTooLong) {
    write("long.toml", std::string(kPackFileBytesMax + 1, '\n'));
    EXPECT_THAT(only_warning(), HasSubstr("longer than the 262144 allowed"));
}

TEST_F(Catalog, ReadsNoMoreFilesThanItsLimit) {
    for (int i = 0; i < 258; ++i) {
        const auto name = "p" + std::to_string(i);
        write(name + ".toml", matching(kMatchDemo, name));
    }
    EXPECT_THAT(only_warning(), HasSubstr("more than 256 packs"));
}

TEST_F(Catalog, NamesTheNearestOfAPackThatIsNotThere) {
    write("mine-own.toml", matching(kMatchDemo, "mine-own"));
    const auto catalog = load(with_folder());
    const auto found = catalog.find_named("mine-onw");
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, ErrorCode::not_found);
    EXPECT_EQ(found.error().hint, "did you mean mine-own?");
    EXPECT_TRUE(catalog.find_named("mine-own"));
    EXPECT_EQ(catalog.find_named("zzzzzzzzzzzz").error().hint, "`tracer packs` lists them");
}

TEST_F(Catalog, FindsAPackByItsOtherNamesWhereNoneIsCalledSo) {
    const auto catalog = load({});
    const auto found = catalog.find_named("pg");
    ASSERT_TRUE(found) << found.error().what;
    EXPECT_EQ((*found)->name, "postgresql");
    write("pg.toml", matching(kMatchDemo, "pg"));
    const auto own = load(with_folder());
    const auto named = own.find_named("pg");
    ASSERT_TRUE(named) << named.error().what;
    EXPECT_EQ((*named)->name, "pg");
}

TEST(FindPackFolder, FollowsTheXdgSpecification) {
    const Variable sudo("SUDO_USER", std::nullopt);
    const Variable home("HOME", "/home/u");
    {
        const Variable config("XDG_CONFIG_HOME", "/etc/u");
        ASSERT_TRUE(find_pack_folder());
        EXPECT_EQ(find_pack_folder()->path, "/etc/u/tracer/packs");
        EXPECT_EQ(find_pack_folder()->owner, ::getuid());
    }
    for (const auto& value :
         {std::optional<std::string>("relative"), std::optional<std::string>()}) {
        const Variable config("XDG_CONFIG_HOME", value);
        EXPECT_EQ(find_pack_folder()->path, "/home/u/.config/tracer/packs");
    }
}

TEST(FindPackFolder, IsThatOfWhoCalledSudo) {
    if (::geteuid() != 0) GTEST_SKIP() << "sudo makes its caller root";
    const Variable sudo("SUDO_USER", "nobody");
    const Variable home("HOME", "/root");
    const Variable config("XDG_CONFIG_HOME", std::nullopt);
    const auto folder = find_pack_folder();
    ASSERT_TRUE(folder);
    EXPECT_EQ(folder->path, "/nonexistent/.config/tracer/packs");
    EXPECT_NE(folder->owner, 0U);
}

}  // namespace
}  // namespace tracer::test
