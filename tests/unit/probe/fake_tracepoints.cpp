// SPDX-License-Identifier: Apache-2.0
//
// Tracepoints for the compiler's tests, in the words of a Linux 6.18 kernel.
#include "unit/probe/fake_tracepoints.h"

namespace tracer::test {

namespace {

constexpr auto kCommon =
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

std::string format_text(const std::string& name, int id, const std::string& fields) {
    return "name: " + name + "\nID: " + std::to_string(id) + "\nformat:\n" + kCommon + fields +
           "\nprint fmt: \"x=%d\", REC->x\n";
}

}  // namespace

FakeTracepoints::FakeTracepoints() {
    formats_["sched"]["sched_switch"] =
        format_text("sched_switch", 314,
                    "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
                    "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
                    "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
                    "\tfield:unsigned long mask[2];\toffset:40;\tsize:16;\tsigned:0;\n");
    formats_["sched"]["sched_process_exec"] =
        format_text("sched_process_exec", 310,
                    "\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n"
                    "\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n");
    formats_["syscalls"]["sys_enter_openat"] =
        format_text("sys_enter_openat", 700,
                    "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
                    "\tfield:int dfd;\toffset:16;\tsize:8;\tsigned:0;\n"
                    "\tfield:const char * filename;\toffset:24;\tsize:8;\tsigned:0;\n");
}

Result<std::vector<std::string>> FakeTracepoints::categories() const {
    std::vector<std::string> names;
    for (const auto& [category, entries] : formats_) names.push_back(category);
    return names;
}

Result<std::vector<std::string>> FakeTracepoints::names(const std::string& category) const {
    std::vector<std::string> names;
    for (const auto& [name, text] : formats_.at(category)) names.push_back(name);
    return names;
}

Result<TracepointFormat> FakeTracepoints::format(const std::string& category,
                                                 const std::string& name) const {
    return parse_tracepoint_format(formats_.at(category).at(name));
}

}  // namespace tracer::test
