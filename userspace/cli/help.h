// SPDX-License-Identifier: Apache-2.0
//
// The texts around the options in --help: examples first.
#pragma once

#include <string_view>

namespace tracer {

inline constexpr std::string_view kRecordHelp =
    R"(Records what processes do, as they run, into a trace for https://ui.perfetto.dev

  sudo tracer --pid 1234                       until ^C or its end; what its runtime does too
  sudo tracer --pid 1234 -e 'usdt:postgresql:query__*'
  sudo tracer --pid 1234 --tree -d 10s -e 'span:/usr/bin/app:handle_request(arg0:str)'
  sudo tracer --pid 1234 -e 'usdt:app:req__begin(key=arg0, url=arg1:str) ~~
                             usdt:app:req__end(key=arg0, status=arg1:s32)'
  sudo tracer -a -d 10s -o system.fxt          every process on every CPU
  sudo tracer --container web --comm 'nginx*' -e 'usdt:*:*'
  sudo tracer -- python3.11 app.py             a program from its first instruction
  sudo tracer tail --pid 1234                  a line an event, in the terminal
  sudo tracer top -a --packs postgresql        rates and durations in the terminal
  sudo tracer --pid 1234 --start-after 5s -d 10s   armed now, recorded from then on
  sudo tracer --pid 1234 -e ... --start-when 'span(query) > 50ms'   the file begins with it
  sudo tracer -a --stop-when crash             ends with the first crash in the file
  sudo tracer --pid 1234 --level more          more of what its runtime does
  sudo tracer --pid 1234 -o - | ssh host 'cat > trace.fxt'
  sudo tracer -a --rotate 1G --rotate-keep 5   for days: the newest five files stay
  sudo tracer --pid 1234 --keep 30s --when 'span(query) > 50ms'
                                               the 30 s before each slow query, a file each

Other commands (each has its own --help):
  tracer tail       what happens, a line an event, as it happens
  tracer top        how often things happen, and how long they take, every second
  tracer list       what can be probed, as -e takes it
  tracer explain    what probes would attach to, and what a hit costs
  tracer packs      which runtimes and services are recognised, and what is recorded of them
  tracer pack       check and begin packs of your own
  tracer doctor     whether this machine can trace, and what mends it
  tracer convert    a raw capture (.traw), or rings of OCaml 5 (.events), to a trace
  tracer rings      which programs write events to rings that they share
  tracer gc-stats   what garbage collection cost an OCaml 5 program
  tracer ctl        asks and steers a recording that runs

Probes:
  usdt:[PATH:]provider:name     a static probe of a program or library
  u:PATH:symbol[+off]           a function's entry        ur:PATH:symbol   its return
  u:PATH:0x4011d0               an address of the file, for stripped ones
  calls:PATH:symbol             each instruction of the file that calls or jumps to the function
  span:PATH:symbol              both as one slice         t:category:name  a kernel tracepoint
  (returns of Go, C++ and Rust functions are caught on their ret instructions)
  a symbol is what the file calls it, or the source: u:app:"ns::Class::method", all overloads;
  u:app:"ns::f(int) const", one of them; also names of Rust, Haskell (GHC.Base.map) and OCaml
  BEGIN [or BEGIN ...] ~~ END [until OTHER, ...]  a span from one probe to another, matched by
  thread, or by the argument called key (in one process) or shared_key (among all), and key2 or
  shared_key2 beside it; with as many wildcards in both names a span each:
  usdt:app:*__entry ~~ usdt:app:*__return
  * and ? match in names; (arg0:str, n=arg1:u32, ret:s64) behind it names the arguments: an
  address of text, which notes call u64, shows the text as :str
  (*(arg0+8):u32/x, buf=arg1:str[arg2], arg3/map(0=read,1=write), arg:req->size) walk
  structures, count text, name values, and name a function's parameters where debug
  information knows them; *(arg1+8):str/type shows a C++ type_info's name demangled; of
  functions also *(%r13+8) a register, *(&pages):u64 a variable, arg2*8:u64 words in bytes
  Files that are run later (exec, dlopen, an update) get their probes when they are mapped; the
  trace says so, and how long it took ("probes armed").

What may follow a probe, decided in the kernel before anything is recorded:
  if CONDITION      -e 'u:app:read(fd=arg0) if fd > 2 && arg2 >= 4096 || comm ~ "pg*"'
                    == != < <= > >= & with integers (10, -1, 0x1f, 'c'), == != ~ with "texts";
                    values: arguments, fields, ret, comm, pid, tid, cgroup, container; ! && || ( )
  sample 1/N        the first of every N hits on each CPU; one_of=N in each event
  rate N/s          at most N hits a second, over all CPUs
  as "NAME"         -e 'usdt:app:query(q=arg0:str) as "query {q}"'
What a hit is, when it is no event on its thread's track:
  track "LINE"      on a line beside the thread     -e 'span:app:draw(n=arg0) track "layer {n}"'
                    of process: on one that its threads share; a pair's end names it too
  counter           its numbers, as a graph         -e 'usdt:app:pool(free=arg0, used=arg1) counter'
  state "LINE"      until the next hit              -e 'usdt:app:phase(p=arg0:str) state "phase" as "{p}"'
  names thread      (or process) a name             -e 'usdt:app:job(n=arg0:str) names thread'
And runtime WORD says what an event of a runtime with threads of its own is (run, gc, create,
wakeup, label, message, marker), for the eventlog; unless ring leaves out what a process writes to
a ring that is read; raise PROVIDER:NAME raises the semaphore of another probe of the file too,
without its events.
A pair's (frame_key=arg0) on both sides tells a thread's frames apart; those left inside are ended.
)";

inline constexpr std::string_view kRecordFooter =
    R"(
^C, SIGTERM, SIGHUP, SIGQUIT, -d, --max-size and the targets' end all leave a whole file; a second
^C ends at once. With -d or a signal that is not ^C a COMMAND is left running. Exit status: 0, 2
wrong usage, 3 this machine cannot trace, 4 no such target or malformed input, 5 the output failed,
128 and its number when a signal came before all was armed (130 for ^C): then there is no file.)";

inline constexpr std::string_view kTailHelp =
    R"(Shows what processes do, as they do it: a line an event, nothing is kept

  sudo tracer tail --pid 1234                  until ^C or its end; what its runtime does too
  sudo tracer tail --pid 1234 -e 'usdt:postgresql:query__start(query=arg0:str)'
  sudo tracer tail -a -e 't:sched:sched_process_exec(filename:str)' --no-packs
  sudo tracer tail -e 'span:app:handle_request(arg0:str)' --begins --time delta -- ./app
  sudo tracer tail --pid 1234 -e 'usdt:app:*' --json | jq 'select(.kind == "span") | .duration_ns'
  sudo tracer tail --comm 'nginx*' -e 'usdt:*:*' | head

Takes what a recording takes: the same probes, packs and filters (tracer --help).
)";
inline constexpr std::string_view kTailFooter =
    R"(
10:31:07.123456 app(1234)/worker(1240)   query (1.25 ms) q="SELECT 1" status=0
is a span that ended then: local time, process and thread, its name, how long it took, what its begin
and its end said, indented by the spans around it. A finished capture is shown by
  tracer convert recording.traw -o - --format txt
A reader that is slow (| less) costs nobody but itself: what it has no room for is not shown, and a
line says how many events that were. One that goes away (| head) ends the recording; status 0.)";

inline constexpr std::string_view kTopHelp =
    R"(Shows how often things happen and how long they take, every second; nothing is kept

  sudo tracer top --pid 1234                   until q, ^C or its end; what its runtime does too
  sudo tracer top --pid 1234 -e 'span:app:handle_request' --histogram
  sudo tracer top -a -e 'usdt:postgresql:query__start(q=arg0:str) as "{q}" ~~
                         usdt:postgresql:query__done' --by label --sort p99
  sudo tracer top -a --no-packs -e 't:syscalls:sys_enter_*' --by process
  sudo tracer top --pid 1234 --sched --no-packs --by thread
  sudo tracer top -a -e 'usdt:*:*' -i 10s -d 1m --json > top.ndjson

Takes what a recording takes: the same probes, packs and filters (tracer --help).
)";
inline constexpr std::string_view kTopFooter =
    R"(
A row: what it is, how many a second, how many since the start, and of spans the durations that half,
90 % and 99 % do not exceed and the longest, of the interval and (where there is room) since the start.
On a terminal: q ends, s sorts by the next column, b groups by the next thing, p pauses what is shown,
h shows how the durations of a row are spread, t shows the interval or all since the start, up and
down choose the row. Else a table an interval, one behind the other. Spans count where
they end; of more than 1000 rows the others are counted together.)";

inline constexpr std::string_view kListHelp =
    R"(Prints what can be probed, one line each; every line is accepted by `tracer -e`

  tracer list --pid 1234                       all that the process has mapped
  tracer list /usr/lib/postgresql/15/bin/postgres 'query*'
  tracer list 't:sched:*'                      the kernel's tracepoints

Behind '#' stands what else is known: the name in the source, with a PATTERN and debug information
the parameters as arguments take them (arg:NAME), the number of sites, a semaphore, and the
processes that run the file, by both ids where one is in a pid namespace. It may stay when a line is
pasted after -e. The PATTERN is also compared with names in the source ('ns::Class::*').

Types are those of the program's notes, which know no text: where an argument is the address of
some (char *), write arg1:str instead of arg1:u64.
)";

inline constexpr std::string_view kExplainHelp =
    R"(Prints what probes would be attached to and what each hit would cost, without attaching

  tracer explain -e 'span:/usr/bin/app:handle_request(arg0:str)'
  tracer explain --pid 1234 -e 'usdt:postgresql:query__*'
  tracer explain -e 'u:libc.so.6:malloc' -- ./app

Costs are ratios to an empty probe on a 1-byte nop, measured on one virtual machine with Linux 6.18:
compare places by them. A place that is single-stepped costs 16 times as much; often one a few bytes
further (+off) does not. Needs no root for files that you may read.
)";

inline constexpr std::string_view kPacksHelp =
    R"(Prints which runtimes and services are recognised, and what is recorded of them

  tracer packs                                 a line each
  tracer packs python                          its probes, by level, and what each level costs
  sudo tracer packs python --pid 1234          what would be armed, what not and why

Attaches nothing. When recording, packs are on: --no-packs, --packs NAME,..., --level and --pack
choose among them.
)";

inline constexpr std::string_view kPackAuthorHelp =
    R"(For authors of packs

  tracer pack template redis > redis.toml      a pack with comments to begin with
  tracer pack check redis.toml                 every fault with its place; exit status 4 if any
  sudo tracer --pid 1234 --pack redis.toml     tries it

A pack in ~/.config/tracer/packs is used without --pack.
)";

inline constexpr std::string_view kPackCheckHelp =
    R"(Checks pack files: words, texts of probes, versions, levels

  tracer pack check redis.toml

Exit status 4 if one of them is wrong; advice alone is none.
)";

inline constexpr std::string_view kPackTemplateHelp =
    R"(Prints a pack with comments to begin with

  tracer pack template redis > redis.toml
)";

inline constexpr std::string_view kDoctorHelp =
    R"(Checks whether this machine can trace; prints the one command that mends what is missing

  sudo tracer doctor

Exit status 3 if tracing is impossible.
)";

inline constexpr std::string_view kRingsHelp =
    R"(Lists the programs that write events to rings they share, as OCaml 5 and our library do

  tracer rings                    those whose mappings you may read: as root, all
  tracer rings --events           and the events of their own that they have registered
  sudo tracer --pid 1234          records a program's beside what the kernel sees of it
  tracer convert 1234.events -o gc.fxt
)";

inline constexpr std::string_view kGcStatsHelp =
    R"(Prints what garbage collection cost each domain of an OCaml 5 program; needs no root

  OCAML_RUNTIME_EVENTS_START=1 OCAML_RUNTIME_EVENTS_PRESERVE=1 ./app
  tracer gc-stats 1234.events

working and waiting are the time in the collector, at barriers for other domains or not; pauses are
whole runs of it. Time in which events were overwritten is left out, and the first line says so.
)";

inline constexpr std::string_view kCtlHelp =
    R"(Asks and steers a recording that runs

  sudo tracer ctl list                         the recordings that run
  sudo tracer ctl status                       of the only one; else: ctl PID status
  sudo tracer ctl mark 'deployed 1.4'          a text on its timeline, now
  sudo tracer ctl pause                        records nothing, until
  sudo tracer ctl resume
  sudo tracer ctl snapshot                     of --keep: a file of what is held
  sudo tracer ctl sink part2.fxt               goes on there; the file before is complete
  sudo tracer ctl sink tcp:host:9000 keep-old  to a socket for a while,
  sudo tracer ctl sink restore                 and back
  sudo tracer ctl buffers 64M/cpu              larger rings (as --buffer), nothing lost
  sudo tracer ctl chunks -o day                of --chunks: all that are whole, each a file in day/
  sudo tracer ctl 1234 stop                    ends it; returns once its file is whole
  sudo tracer ctl status --json

Commands:
)";
inline constexpr std::string_view kCtlFooter =
    R"(
sink: with a header (default) each piece reads alone; with no-header the pieces laid end to end are
one trace. close-old (default) closes the sink before, keep-old keeps it for sink restore. FILE is
replaced if it exists. A recording answers the user that runs it and root; root's are seen by root.
Exit status: 0, 2 wrong usage, 4 no such recording, 5 no answer, or the sink cannot be used.)";

inline constexpr std::string_view kConvertHelp =
    R"(Makes a trace of a raw capture, or of the rings of an OCaml 5 program; needs no root

  tracer convert recording.traw -o recording.fxt
  tracer convert 1234.events -o gc.fxt         a file that OCAML_RUNTIME_EVENTS_START=1 and
                                               OCAML_RUNTIME_EVENTS_PRESERVE=1 left
)";

}  // namespace tracer
