// SPDX-License-Identifier: Apache-2.0
//
// The table of open keys. A span is in it from the moment its begin was written until just before
// its end is, so whatever the write does (a hole empties the table), begins and ends match. Who
// goes on after a write looks at holes_ first.
//
// Called by the decoder for hits of pairs with a key, and where spans must not go on.
#include "decode/keyed_spans.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace tracer {

size_t KeyedSpans::KeyHash::operator()(const KeyView& key) const {
    constexpr uint64_t kOdd = 0x9e37'79b9'7f4a'7c15;  // 2^64 over the golden ratio
    uint64_t hash = static_cast<uint64_t>(key.point) + key.process * kOdd;
    hash = (hash ^ (hash >> 32)) * kOdd;
    hash ^= key.is_text ? std::hash<std::string_view>()(key.text) : key.number;
    hash = (hash ^ (hash >> 32)) * kOdd;
    hash = (hash ^ key.second) * kOdd;
    return static_cast<size_t>(hash ^ (hash >> 29));
}

KeyedSpans::KeyView KeyedSpans::make_key(const Task& task, const Place& place, KeyValues key) {
    KeyView view{.point = place.point};
    if (place.scope == PairKey::process) view.process = number_of(*task.process);
    view.is_text = key[0].type == model::ValueType::string;
    if (view.is_text) {
        view.text = key[0].text;
    } else {
        view.number = key[0].bits;
    }
    if (key.size() > 1) view.second = key[1].bits;
    return view;
}

KeyedSpans::Node* KeyedSpans::find(const KeyView& key) {
    const auto found = open_.find(key);
    return found == open_.end() ? nullptr : &*found;
}

void KeyedSpans::begin(Task& task,
                       const Place& place,
                       KeyValues key,
                       const When& when,
                       std::span<const model::Value> values,
                       std::string_view name) {
    ledger_.seen(place.point, when.time_ns);
    const KeyView view = make_key(task, place, key);
    if (Node* node = find(view)) {
        // Here is another thread's CPU.
        const When repair{when.time_ns, model::kNoCpu};
        end_node(*node, node->second.thread, repair, model::SpanEndCause::key_reused, {});
    }
    if (open_.size() >= kOpenKeysMax || text_bytes_ + view.text.size() > kOpenKeyBytesMax) {
        ledger_.key_beyond_limit(place.point);
        return;
    }
    const model::ThreadIndex thread = tasks_.named(task);
    const Open span{.id = ledger_.new_id(), .begin_ns = when.time_ns, .thread = thread};
    const model::AsyncBegin begin{place.point, thread, span.id, values, name};
    if (!output_.write({when.time_ns, begin, when.cpu})) return;
    insert(view, span);
}

void KeyedSpans::insert(const KeyView& key, const Open& span) {
    Key kept{key, std::string(key.text)};
    kept.view.text = {};
    text_bytes_ += key.text.size();
    Node& node = *open_.emplace(std::move(kept), span).first;
    link(threads_, static_cast<uint64_t>(span.thread), node, &Open::in_thread);
    link(processes_, key.process, node, &Open::in_process);
}

void KeyedSpans::end(Task& task,
                     const Place& place,
                     KeyValues key,
                     const When& when,
                     std::span<const model::Value> values) {
    ledger_.seen(place.point, when.time_ns);
    Node* const node = find(make_key(task, place, key));
    if (node == nullptr) {
        const bool may_hold_older = !task.process->is_born || ledger_.came_late(place.point);
        // A key that was begun while the recording was paused may last for as long as it likes.
        const bool is_older = ledger_.has_pause() ||
                              (may_hold_older && ledger_.may_be_older(place.point, when.time_ns));
        ledger_.end_alone(place.point, is_older);
        return;
    }
    end_node(*node, tasks_.named(task), when, model::SpanEndCause::returned, values);
}

void KeyedSpans::until(Task& task, const Place& place, KeyValues key, const When& when) {
    Node* const node = find(make_key(task, place, key));
    if (node != nullptr) {
        end_node(*node, tasks_.named(task), when, model::SpanEndCause::until, {});
    }
}

void KeyedSpans::until_thread(Task& task, model::PointIndex point, const When& when) {
    const auto head = threads_.find(static_cast<uint64_t>(task.index));
    if (head == threads_.end()) return;
    std::vector<Node*> nodes;
    for (Node* node = head->second; node != nullptr; node = node->second.in_thread.behind) {
        if (node->first.view.point == point) nodes.push_back(node);
    }
    const uint64_t holes = holes_;
    std::ranges::reverse(nodes);
    for (Node* node : nodes) {
        end_node(*node, node->second.thread, when, model::SpanEndCause::until, {});
        if (holes_ != holes) return;
    }
}

void KeyedSpans::end_node(Node& node,
                          model::ThreadIndex thread,
                          const When& when,
                          model::SpanEndCause cause,
                          std::span<const model::Value> values) {
    const Open span = node.second;
    const model::PointIndex point = node.first.view.point;
    unlink(threads_, static_cast<uint64_t>(span.thread), node, &Open::in_thread);
    unlink(processes_, node.first.view.process, node, &Open::in_process);
    text_bytes_ -= node.first.text.size();
    open_.erase(open_.find(node.first));
    ledger_.ended(point, cause, span.begin_ns, when.time_ns);
    output_.write({std::max(when.time_ns, span.begin_ns),
                   model::AsyncEnd{point, thread, span.id, cause, values}, when.cpu});
}

void KeyedSpans::close_process(const Process& process,
                               uint64_t time_ns,
                               model::SpanEndCause cause) {
    const auto head = processes_.find(number_of(process));
    if (head == processes_.end()) return;
    std::vector<Node*> nodes;
    for (Node* node = head->second; node != nullptr; node = node->second.in_process.behind) {
        nodes.push_back(node);
    }
    std::ranges::reverse(nodes);
    close_nodes(nodes, time_ns, cause);
}

void KeyedSpans::close_all(uint64_t time_ns, model::SpanEndCause cause) {
    close_nodes(all_by_begin(), time_ns, cause);
}

// A hole that begins meanwhile takes the rest with it.
void KeyedSpans::close_nodes(const std::vector<Node*>& nodes,
                             uint64_t time_ns,
                             model::SpanEndCause cause) {
    const uint64_t holes = holes_;
    for (Node* node : nodes) {
        end_node(*node, node->second.thread, {time_ns, model::kNoCpu}, cause, {});
        if (holes_ != holes) return;
    }
}

std::vector<KeyedSpans::Node*> KeyedSpans::all_by_begin() {
    std::vector<Node*> nodes;
    nodes.reserve(open_.size());
    for (Node& node : open_) nodes.push_back(&node);
    std::ranges::sort(nodes, {}, [](const Node* node) { return node->second.id; });
    return nodes;
}

void KeyedSpans::owe_all(uint64_t hole_begin_ns) {
    constexpr auto kCause = model::SpanEndCause::lost_events;
    ++holes_;
    for (const Node* node : all_by_begin()) {
        const Open& span = node->second;
        const model::PointIndex point = node->first.view.point;
        ledger_.ended(point, kCause, span.begin_ns, hole_begin_ns);
        output_.owe(model::AsyncEnd{point, span.thread, span.id, kCause, {}}, span.begin_ns);
    }
    open_.clear();
    threads_.clear();
    processes_.clear();
    text_bytes_ = 0;
}

void KeyedSpans::link(Heads& heads, uint64_t list, Node& node, Link Open::*place) {
    Node*& head = heads[list];
    (node.second.*place).behind = head;
    if (head != nullptr) (head->second.*place).before = &node;
    head = &node;
}

void KeyedSpans::unlink(Heads& heads, uint64_t list, Node& node, Link Open::*place) {
    const Link link = node.second.*place;
    if (link.behind != nullptr) (link.behind->second.*place).before = link.before;
    if (link.before != nullptr) {
        (link.before->second.*place).behind = link.behind;
    } else if (link.behind != nullptr) {
        heads[list] = link.behind;
    } else {
        heads.erase(list);
    }
}

}  // namespace tracer
