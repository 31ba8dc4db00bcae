// SPDX-License-Identifier: Apache-2.0
//
// What an author begins with: every word once, explained, in a file that is a pack already. Called
// by `tracer pack template`; a test checks that it needs no correction.
#include "packs/pack_file.h"

#include <string>
#include <string_view>

namespace tracer {

namespace {

constexpr std::string_view kNamePlace = "@NAME@";

constexpr std::string_view kTemplate =
    R"tracer_pack(# A pack for tracer: which files are of the runtime, and which probes tell what it does.
# Put it into ~/.config/tracer/packs/@NAME@.toml, or name it by --pack. To check it:
#   tracer pack check @NAME@.toml
#   sudo tracer packs @NAME@ --pid PID --pack @NAME@.toml     what would attach, what not and why

[pack]
name = "@NAME@"                # the file's name
# aliases = ["ex"]             # what people may call it instead (--packs ex)
runtime = "Example"            # what people call it
version = 1                    # of this file: one more with every change
about = "requests, pool size"  # one line for `tracer packs`
versions = "2.1-"              # of the runtime that this was tried with: "2.1-", "2.1-3.4", "2.1"
# process_title = "example: *" # processes whose command line fits are called what * stands for
# process_title_ends = ["]"]   # the name ends behind the first of these
# own_log = "*.log"            # a file that processes have open when they write such a log themselves
# own_log_has = "threads too"  # what that one has besides

# How the version of the runtime is learned from a file; needed only where something depends on it.
# {} is the version, digits and dots.
[version]
path = "*example-{}"           # in the file's name
text = "Example/{}"            # in its read-only data (strings FILE | grep)
# section = ".rodata"          # in this section alone

# What each level costs, measured with the runtime's own benchmark.
[cost]
default = "not measured yet"
more = "not measured yet"
all = "not measured yet"

# Which files are of the runtime. A file must be all that one of these says; * and ? are wildcards
# in all but section and build_id.
[[match]]
provider = "example"           # it has USDT probes of this provider (tracer list FILE)

[[match]]
without_provider = "example"   # a build without them ...
soname = "libexample.so*"      # DT_SONAME (readelf -d), or else the file's name
# executable = "exampled"      # name of a file that processes are started from
# section = ".note.example"    # readelf -S
# symbol = "example_init"      # a function or variable that it defines (nm FILE, nm -D FILE)
# build_id = "ab12"            # readelf -n
# code = "example_enter"       # it holds these bytes, once, in its code; executable may be "*" then

# Code that every build has in common, by which files without symbols are known. Probes may use its
# names where the file has no such symbol.
# [[code]]
# name = "example_enter"
# bytes = "48 83 ec 30 48 89 e0 48 81 ec 00 40 00 00 48 89 18"
# inside = ["example_leave+0x7"]

# Where things lie in the memory of builds that are known: $size stands for its value in probes. A
# file has the first that fits; of others these probes are refused.
# [[layout]]
# name = "2.1"
# versions = "2.1-2.4"
# text = "example built with"  # in its read-only data
# words = { size = "48" }

# What is recorded: texts as -e takes them (tracer --help), in single quotes.
[[probe]]
name = "request"               # no two alike
about = "one request, from its arrival to the answer"
level = "default"              # default, more or all: the hotter, the higher
stability = "stable"           # stable (documented), evolving, internal (may change any day)
# Of a list the first that the file has is used. usdt: needs no PATH; for functions it is @, the
# file that was matched.
probe = [
    'usdt:example:request__start(url=arg0:str) ~~ usdt:example:request__done(status=arg1:s32)',
    'span:@:example_handle(url=arg0:str)',
]
# Said where a file has none of them.
without = "this build has no probes for requests: install example-dbg, or configure --with-usdt"

[[probe]]
name = "pool"
about = "size of the connection pool"
level = "more"
stability = "internal"
probe = 'u:@:example_pool_resize(size=arg1:u32)'
# versions = "2.1-2.9"                  # of the runtime; others are left alone
# requires_argument = ["--probes"]      # fires only in processes started with one of these
# requires_environment = ["PROBES=1"]   # the same of their environment
# unless = "request"                    # off where that probe, which says more, is armed
without = "the function is not in this file's symbol table: install example-dbgsym"

[[probe]]
name = "lookup"
about = "each look at the cache"
level = "all"
stability = "evolving"
probe = 'usdt:example:cache__get(key_text=arg0:str) sample 1/100'
)tracer_pack";

}  // namespace

std::string pack_template(std::string_view name) {
    std::string text(kTemplate);
    for (size_t at = text.find(kNamePlace); at != text.npos; at = text.find(kNamePlace, at)) {
        text.replace(at, kNamePlace.size(), name);
        at += name.size();
    }
    return text;
}

}  // namespace tracer
