// SPDX-License-Identifier: Apache-2.0
//
// Spans whose begin and end have a key in common: on whatever thread they end, and in whatever
// order. Each has a track of its own. A key is an integer's 64 bits or a text (as much of it as was
// recorded), and perhaps a second integer, of one point, in one life of one process or, if it is
// shared, everywhere.
//
// A begin with a key that is open ends the span that has it: its end was missed, or the program
// uses its keys before they are free.
#pragma once

#include "capture/probe_definition.h"
#include "decode/event_output.h"
#include "decode/span_ledger.h"
#include "decode/span_stacks.h"
#include "decode/task_table.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tracer {

class KeyedSpans {
public:
    // Where a key is looked for: what is begun and ended, and PairKey::process or shared.
    struct Place {
        model::PointIndex point{};
        PairKey scope = PairKey::process;
    };

    // Borrows all three.
    KeyedSpans(TaskTable& tasks, EventOutput& output, SpanLedger& ledger)
        : tasks_(tasks), output_(output), ledger_(ledger) {}

    using KeyValues = std::span<const model::Value>;

    // `key` is one value or two, none of ValueType::none.
    void begin(Task& task,
               const Place& place,
               KeyValues key,
               const When& when,
               std::span<const model::Value> values,
               std::string_view name = {});
    void end(Task& task,
             const Place& place,
             KeyValues key,
             const When& when,
             std::span<const model::Value> values);
    // Ends the span with that key, or all of the point that the thread began; there need be none.
    void until(Task& task, const Place& place, KeyValues key, const When& when);
    void until_thread(Task& task, model::PointIndex point, const When& when);

    // Ends the open spans with keys of that process, or all, in the order of their begins.
    void close_process(const Process& process, uint64_t time_ns, model::SpanEndCause cause);
    void close_all(uint64_t time_ns, model::SpanEndCause cause);

    // Hands all open spans to the output as debts of a hole.
    void owe_all(uint64_t hole_begin_ns);

    [[nodiscard]] size_t open_count() const { return open_.size(); }

private:
    // A key as it is looked up, and as it is kept.
    struct KeyView {
        model::PointIndex point{};
        uint64_t process = 0;  // its pid and life; 0: shared by all
        uint64_t number = 0;
        uint64_t second = 0;
        bool is_text = false;
        std::string_view text;
        bool operator==(const KeyView&) const = default;
    };
    struct Key {
        KeyView view;  // but for the text
        std::string text;
        [[nodiscard]] KeyView full() const {
            KeyView key = view;
            key.text = text;
            return key;
        }
    };
    static KeyView view_of(const KeyView& key) { return key; }
    static KeyView view_of(const Key& key) { return key.full(); }
    struct KeyHash {
        using is_transparent = void;
        size_t operator()(const KeyView& key) const;
        size_t operator()(const Key& key) const { return (*this)(key.full()); }
    };
    struct KeyEqual {
        using is_transparent = void;
        template <typename A, typename B>
        bool operator()(const A& a, const B& b) const {
            return view_of(a) == view_of(b);
        }
    };

    struct Open;
    using Node = std::pair<const Key, Open>;
    // A place in a list of open spans: of a thread, of a process.
    struct Link {
        Node* before = nullptr;
        Node* behind = nullptr;
    };
    struct Open {
        uint64_t id = 0;
        uint64_t begin_ns = 0;
        model::ThreadIndex thread{};  // that began it
        Link in_thread;
        Link in_process;
    };
    // The newest span of each list; lists without spans are not there.
    using Heads = std::unordered_map<uint64_t, Node*>;

    [[nodiscard]] static KeyView make_key(const Task& task, const Place& place, KeyValues key);
    [[nodiscard]] static uint64_t number_of(const Process& process) {
        return uint64_t{process.life} << 32 | process.pid;
    }
    [[nodiscard]] Node* find(const KeyView& key);
    void insert(const KeyView& key, const Open& span);
    static void link(Heads& heads, uint64_t list, Node& node, Link Open::*place);
    static void unlink(Heads& heads, uint64_t list, Node& node, Link Open::*place);
    // Takes it from the table, then writes its end.
    void end_node(Node& node,
                  model::ThreadIndex thread,
                  const When& when,
                  model::SpanEndCause cause,
                  std::span<const model::Value> values);
    void close_nodes(const std::vector<Node*>& nodes, uint64_t time_ns, model::SpanEndCause cause);
    [[nodiscard]] std::vector<Node*> all_by_begin();

    TaskTable& tasks_;
    EventOutput& output_;
    SpanLedger& ledger_;
    std::unordered_map<Key, Open, KeyHash, KeyEqual> open_;  // its nodes stay where they are
    Heads threads_;                                          // by ThreadIndex
    Heads processes_;                                        // by number_of()
    size_t text_bytes_ = 0;                                  // of the keys in open_
    uint64_t holes_ = 0;  // how often owe_all() emptied the table
};

}  // namespace tracer
