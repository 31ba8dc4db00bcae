// SPDX-License-Identifier: Apache-2.0
//
// RecordingDefinitions and CaptureCounters as JSON and back. Writing spreads long lists over
// blocks; reading trusts nothing: types, ranges, order of indices and agreement between points and
// probes are checked, since the decoder indexes arrays with them. nlohmann_json throws only where
// asked to (dump of non-UTF-8, access by wrong type); both are avoided here by construction.
//
// Called by the capture's writer and reader.
#include "capture/capture_json.h"

#include "tracer/abi/event.h"

#include <array>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tracer {

namespace {

using Json = nlohmann::json;

// More elements than this of one kind are no recording of ours; bounds what a hostile file costs.
constexpr size_t kElementsMax = 1U << 20;
constexpr size_t kPointArgumentsMax = 15;
constexpr size_t kValueNamesMax = 1024;
constexpr size_t kNamePiecesMax = 64;

template <typename Enum, size_t N>
using Names = std::array<std::pair<Enum, std::string_view>, N>;

constexpr Names<model::ValueType, 9> kValueTypes{{{model::ValueType::none, "none"},
                                                  {model::ValueType::s32, "s32"},
                                                  {model::ValueType::u32, "u32"},
                                                  {model::ValueType::s64, "s64"},
                                                  {model::ValueType::u64, "u64"},
                                                  {model::ValueType::f64, "f64"},
                                                  {model::ValueType::boolean, "bool"},
                                                  {model::ValueType::pointer, "pointer"},
                                                  {model::ValueType::string, "string"}}};
constexpr Names<model::PointKind, 3> kPointKinds{{{model::PointKind::instant, "instant"},
                                                  {model::PointKind::span, "span"},
                                                  {model::PointKind::counter, "counter"}}};
constexpr Names<model::PointRole, 8> kPointRoles{{{model::PointRole::none, "none"},
                                                  {model::PointRole::run, "run"},
                                                  {model::PointRole::gc, "gc"},
                                                  {model::PointRole::create, "create"},
                                                  {model::PointRole::wakeup, "wakeup"},
                                                  {model::PointRole::label, "label"},
                                                  {model::PointRole::message, "message"},
                                                  {model::PointRole::marker, "marker"}}};
constexpr Names<HitRole, 11> kHitRoles{{{HitRole::instant, "instant"},
                                        {HitRole::span_begin, "span_begin"},
                                        {HitRole::span_end, "span_end"},
                                        {HitRole::fiber_span_begin, "fiber_span_begin"},
                                        {HitRole::fiber_span_end, "fiber_span_end"},
                                        {HitRole::pair_begin, "pair_begin"},
                                        {HitRole::pair_end, "pair_end"},
                                        {HitRole::pair_until, "pair_until"},
                                        {HitRole::state, "state"},
                                        {HitRole::thread_name, "thread_name"},
                                        {HitRole::process_name, "process_name"}}};
constexpr Names<PairKey, 4> kPairKeys{{{PairKey::none, "none"},
                                       {PairKey::process, "process"},
                                       {PairKey::shared, "shared"},
                                       {PairKey::frame, "frame"}}};

template <typename Enum, size_t N>
std::string name_of(const Names<Enum, N>& names, Enum value) {
    for (const auto& [known, name] : names) {
        if (known == value) return std::string(name);
    }
    TR_CHECK(false);
}

tl::unexpected<Error> malformed(std::string_view key, std::string_view expected) {
    return fail(ErrorCode::bad_input, fmt::format("\"{}\" is not {}", key, expected));
}

// ---- writing ----

std::string dump(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Spreads the elements of lists over as few objects as their size allows.
class PartWriter {
public:
    explicit PartWriter(Json head) : part_(std::move(head)), bytes_(dump(part_).size()) {}

    [[nodiscard]] Status append(const char* list, Json element) {
        constexpr size_t kKeyRoom = 64;  // the list's key, brackets, "more"
        const size_t bytes = dump(element).size() + 1;
        if (bytes + kKeyRoom > kCaptureBlockBytesMax) {
            return fail(ErrorCode::limit,
                        fmt::format("one of the recording's {} needs {} bytes in a capture, more "
                                    "than the {} of a block",
                                    list, bytes, kCaptureBlockBytesMax));
        }
        const size_t with_key = bytes + (part_.contains(list) ? 0 : kKeyRoom);
        if (bytes_ + with_key + kKeyRoom > kCaptureBlockBytesMax) cut(true);
        bytes_ += part_.contains(list) ? bytes : bytes + kKeyRoom;
        part_[list].push_back(std::move(element));
        return {};
    }

    [[nodiscard]] std::vector<std::string> finish() && {
        cut(false);
        return std::move(texts_);
    }

private:
    void cut(bool more) {
        if (more) part_["more"] = true;
        texts_.push_back(dump(part_));
        part_ = Json::object();
        bytes_ = 2;
    }

    Json part_;
    size_t bytes_;
    std::vector<std::string> texts_;
};

Json arguments_to_json(const std::vector<model::Argument>& arguments) {
    Json list = Json::array();
    for (const model::Argument& argument : arguments) {
        Json element = Json::array({argument.name, name_of(kValueTypes, argument.type)});
        if (!argument.names.empty()) {
            Json names = Json::array();
            for (const model::ValueName& known : argument.names) {
                names.push_back(Json::array({known.bits, known.name}));
            }
            element.push_back(std::move(names));
        }
        list.push_back(std::move(element));
    }
    return list;
}

Json point_to_json(const model::Point& point) {
    Json json = {{"index", static_cast<uint32_t>(point.index)},
                 {"kind", name_of(kPointKinds, point.kind)},
                 {"category", point.category},
                 {"name", point.name},
                 {"arguments", arguments_to_json(point.arguments)},
                 {"end_arguments", arguments_to_json(point.end_arguments)}};
    if (point.role != model::PointRole::none) json["role"] = name_of(kPointRoles, point.role);
    return json;
}

// Text as it is, and the numbers of slots.
Json name_to_json(const std::vector<NamePiece>& name) {
    Json list = Json::array();
    for (const NamePiece& piece : name) {
        list.push_back(piece.slot == NamePiece::kText ? Json(piece.text) : Json(piece.slot));
    }
    return list;
}

Json probe_to_json(const ProbeDefinition& probe) {
    Json slots = Json::array();
    for (const model::ValueType type : probe.slots) slots.push_back(name_of(kValueTypes, type));
    Json json = {{"id", probe.probe_id},
                 {"role", name_of(kHitRoles, probe.role)},
                 {"point", static_cast<uint32_t>(probe.point)},
                 {"slots", std::move(slots)},
                 {"f32_slots", probe.f32_slots},
                 {"spec", probe.spec},
                 {"sample_every", probe.sample_every},
                 {"name", name_to_json(probe.name)}};
    // Where there is one alone: a capture without it reads as it did before there were such.
    if (probe.key != PairKey::none) json["key"] = name_of(kPairKeys, probe.key);
    if (probe.key_slots() > 1) json["second_key"] = true;
    if (probe.cxx_type_slots != 0) json["cxx_type_slots"] = probe.cxx_type_slots;
    if (probe.place != 0) json["place"] = probe.place;
    if (probe.may_lack_begin) json["may_lack_begin"] = true;
    if (!probe.line.empty()) json["line"] = name_to_json(probe.line);
    if (probe.is_line_of_process) json["line_of_process"] = true;
    if (probe.yields_to_ring) json["yields_to_ring"] = true;
    return json;
}

// ---- reading ----

template <typename T>
Result<T> read_unsigned(const Json& object, const char* key, uint64_t max) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number_unsigned()) {
        return malformed(key, "a number");
    }
    const auto value = found->get<uint64_t>();
    if (value > max) return malformed(key, fmt::format("at most {}", max));
    return static_cast<T>(value);
}

// 0 if it is not there: what earlier versions did not write.
template <typename T>
Result<T> read_optional_unsigned(const Json& object, const char* key) {
    if (!object.contains(key)) return T{0};
    return read_unsigned<T>(object, key, std::numeric_limits<T>::max());
}

Result<std::string> read_string(const Json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_string()) return malformed(key, "a string");
    return found->get<std::string>();
}

Result<bool> read_bool(const Json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_boolean()) return malformed(key, "true or false");
    return found->get<bool>();
}

// The list under `key`; nullptr if it is not there.
Result<const Json*> read_list(const Json& object, const char* key, size_t already) {
    const auto found = object.find(key);
    if (found == object.end()) return nullptr;
    if (!found->is_array()) return malformed(key, "a list");
    if (found->size() > kElementsMax - std::min(already, kElementsMax)) {
        return malformed(key, fmt::format("at most {} elements long", kElementsMax));
    }
    return &*found;
}

template <typename Enum, size_t N>
Result<Enum> read_enum(const Json& value, const Names<Enum, N>& names, const char* key) {
    if (const auto* text = value.get_ptr<const std::string*>()) {
        for (const auto& [known, name] : names) {
            if (name == *text) return known;
        }
    }
    return malformed(key, "one of the known words");
}

template <typename Enum, size_t N>
Result<Enum> read_enum_of(const Json& object, const Names<Enum, N>& names, const char* key) {
    const auto found = object.find(key);
    if (found == object.end()) return malformed(key, "there");
    return read_enum(*found, names, key);
}

Status read_numbers(const Json& object, const char* key, std::vector<uint32_t>& out) {
    TR_ASSIGN(const Json* list, read_list(object, key, out.size()));
    if (list == nullptr) return {};
    for (const Json& element : *list) {
        if (!element.is_number_unsigned() || element.get<uint64_t>() > UINT32_MAX) {
            return malformed(key, "a list of numbers");
        }
        out.push_back(element.get<uint32_t>());
    }
    return {};
}

Status read_strings(const Json& object, const char* key, std::vector<std::string>& out) {
    TR_ASSIGN(const Json* list, read_list(object, key, out.size()));
    if (list == nullptr) return {};
    for (const Json& element : *list) {
        if (!element.is_string()) return malformed(key, "a list of strings");
        out.push_back(element.get<std::string>());
    }
    return {};
}

// [pid, tid, name] each.
Status read_known_names(const Json& object, std::vector<KnownName>& out) {
    TR_ASSIGN(const Json* list, read_list(object, "names", out.size()));
    if (list == nullptr) return {};
    for (const Json& element : *list) {
        const auto is_id = [](const Json& id) {
            return id.is_number_unsigned() && id.get<uint64_t>() <= UINT32_MAX;
        };
        if (!element.is_array() || element.size() != 3 || !is_id(element[0]) ||
            !is_id(element[1]) || !element[2].is_string()) {
            return malformed("names", "a list of [pid, tid, name]");
        }
        out.push_back({element[0].get<uint32_t>(), element[1].get<uint32_t>(),
                       element[2].get<std::string>()});
    }
    return {};
}

// In the order of their values, which a look-up relies on.
Status read_value_names(const Json& list, const char* key, std::vector<model::ValueName>& out) {
    constexpr std::string_view kExpected = "with names as a list of [value, name] in order";
    if (!list.is_array() || list.size() > kValueNamesMax) return malformed(key, kExpected);
    for (const Json& element : list) {
        const bool is_pair = element.is_array() && element.size() == 2 &&
                             element[0].is_number_unsigned() && element[1].is_string();
        if (!is_pair) return malformed(key, kExpected);
        model::ValueName known{element[0].get<uint64_t>(), element[1].get<std::string>()};
        if (!out.empty() && known.bits <= out.back().bits) return malformed(key, kExpected);
        out.push_back(std::move(known));
    }
    return {};
}

Result<std::vector<model::Argument>> read_arguments(const Json& object, const char* key) {
    TR_ASSIGN(const Json* list, read_list(object, key, 0));
    std::vector<model::Argument> arguments;
    if (list == nullptr) return arguments;
    if (list->size() > kPointArgumentsMax) {
        return malformed(key, fmt::format("at most {} long", kPointArgumentsMax));
    }
    for (const Json& element : *list) {
        if (!element.is_array() || element.size() < 2 || element.size() > 3 ||
            !element[0].is_string()) {
            return malformed(key, "a list of [name, type] and [name, type, names]");
        }
        TR_ASSIGN(const auto type, read_enum(element[1], kValueTypes, key));
        model::Argument argument{element[0].get<std::string>(), type};
        if (element.size() == 3) TR_TRY(read_value_names(element[2], key, argument.names));
        arguments.push_back(std::move(argument));
    }
    return arguments;
}

Result<model::Point> read_point(const Json& json) {
    if (!json.is_object()) return malformed("points", "a list of objects");
    model::Point point;
    TR_ASSIGN(const auto index, read_unsigned<uint32_t>(json, "index", kElementsMax));
    point.index = model::PointIndex{index};
    TR_ASSIGN(point.kind, read_enum_of(json, kPointKinds, "kind"));
    TR_ASSIGN(point.category, read_string(json, "category"));
    TR_ASSIGN(point.name, read_string(json, "name"));
    TR_ASSIGN(point.arguments, read_arguments(json, "arguments"));
    TR_ASSIGN(point.end_arguments, read_arguments(json, "end_arguments"));
    // Absent in captures of earlier versions.
    if (json.contains("role")) {
        TR_ASSIGN(point.role, read_enum_of(json, kPointRoles, "role"));
    }
    return point;
}

// Absent in captures of earlier versions.
Result<std::vector<NamePiece>> read_name(const Json& object, const char* key, size_t slot_count) {
    TR_ASSIGN(const Json* list, read_list(object, key, 0));
    std::vector<NamePiece> name;
    if (list == nullptr) return name;
    if (list->size() > kNamePiecesMax) {
        return malformed(key, fmt::format("at most {} long", kNamePiecesMax));
    }
    for (const Json& element : *list) {
        if (element.is_string()) {
            name.push_back({element.get<std::string>(), NamePiece::kText});
        } else if (element.is_number_unsigned() && element.get<uint64_t>() < slot_count) {
            name.push_back({{}, element.get<uint8_t>()});
        } else {
            return malformed(key, "a list of texts and slots");
        }
    }
    return name;
}

Result<ProbeDefinition> read_probe(const Json& json) {
    if (!json.is_object()) return malformed("probes", "a list of objects");
    ProbeDefinition probe;
    TR_ASSIGN(probe.probe_id, read_unsigned<uint32_t>(json, "id", kProbeIdMax));
    TR_ASSIGN(probe.role, read_enum_of(json, kHitRoles, "role"));
    TR_ASSIGN(const auto point, read_unsigned<uint32_t>(json, "point", kElementsMax));
    probe.point = model::PointIndex{point};
    TR_ASSIGN(probe.f32_slots, read_unsigned<uint16_t>(json, "f32_slots", UINT16_MAX));
    TR_ASSIGN(probe.cxx_type_slots, read_optional_unsigned<uint16_t>(json, "cxx_type_slots"));
    TR_ASSIGN(probe.spec, read_string(json, "spec"));
    TR_ASSIGN(probe.sample_every, read_optional_unsigned<uint32_t>(json, "sample_every"));
    TR_ASSIGN(probe.place, read_optional_unsigned<uint32_t>(json, "place"));
    if (json.contains("key")) {
        TR_ASSIGN(probe.key, read_enum_of(json, kPairKeys, "key"));
    }
    TR_ASSIGN(const Json* slots, read_list(json, "slots", 0));
    if (slots == nullptr) return probe;
    if (slots->size() > TR_ARGS_MAX) return malformed("slots", "short enough for one record");
    for (const Json& slot : *slots) {
        TR_ASSIGN(const auto type, read_enum(slot, kValueTypes, "slots"));
        probe.slots.push_back(type);
    }
    TR_ASSIGN(probe.name, read_name(json, "name", probe.slots.size()));
    TR_ASSIGN(probe.line, read_name(json, "line", probe.slots.size()));
    for (const auto& [key, flag] : {std::pair{"may_lack_begin", &probe.may_lack_begin},
                                    {"line_of_process", &probe.is_line_of_process},
                                    {"second_key", &probe.has_second_key},
                                    {"yields_to_ring", &probe.yields_to_ring}}) {
        if (!json.contains(key)) continue;
        TR_ASSIGN(*flag, read_bool(json, key));
    }
    return probe;
}

Status read_head(const Json& json, RecordingDefinitions& out) {
    TR_ASSIGN(const auto clock, read_string(json, "clock"));
    if (clock != "boottime") return malformed("clock", "\"boottime\", the one known clock");
    TR_ASSIGN(out.record_all, read_bool(json, "record_all"));
    TR_ASSIGN(out.follow_children, read_bool(json, "follow_children"));
    TR_ASSIGN(out.own_pid, read_unsigned<uint32_t>(json, "own_pid", UINT32_MAX));
    TR_ASSIGN(out.host_name, read_string(json, "host_name"));
    TR_ASSIGN(out.command_line, read_string(json, "command_line"));
    model::Recording& recording = out.recording;
    TR_ASSIGN(recording.pid, read_optional_unsigned<uint32_t>(json, "process_pid"));
    TR_ASSIGN(recording.parent_pid, read_optional_unsigned<uint32_t>(json, "process_parent_pid"));
    TR_ASSIGN(recording.cpu_count, read_optional_unsigned<uint16_t>(json, "cpu_count"));
    return {};
}

Result<Json> parse_object(std::string_view text) {
    Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) return fail(ErrorCode::bad_input, "malformed JSON");
    if (!json.is_object()) return fail(ErrorCode::bad_input, "JSON that is no object");
    return json;
}

Result<bool> read_is_last(const Json& json) {
    if (!json.contains("more")) return true;
    TR_ASSIGN(const bool more, read_bool(json, "more"));
    return !more;
}

}  // namespace

Result<std::vector<std::string>> definitions_to_json(const RecordingDefinitions& definitions,
                                                     bool is_first) {
    Json head = Json::object();
    if (is_first) {
        head = {{"clock", "boottime"},
                {"record_all", definitions.record_all},
                {"follow_children", definitions.follow_children},
                {"own_pid", definitions.own_pid},
                {"host_name", definitions.host_name},
                {"command_line", definitions.command_line},
                {"process_pid", definitions.recording.pid},
                {"process_parent_pid", definitions.recording.parent_pid},
                {"cpu_count", definitions.recording.cpu_count}};
        if (dump(head).size() > kCaptureBlockBytesMax / 2) {
            return fail(ErrorCode::limit, "the command line is too long for a capture");
        }
    }
    PartWriter parts(std::move(head));
    for (const std::string& argument : definitions.recording.arguments) {
        TR_TRY(parts.append("arguments", argument));
    }
    for (const uint32_t pid : definitions.pids) TR_TRY(parts.append("pids", pid));
    for (const uint32_t tid : definitions.tids) TR_TRY(parts.append("tids", tid));
    for (const KnownName& known : definitions.names) {
        TR_TRY(parts.append("names", Json::array({known.pid, known.tid, known.name})));
    }
    for (const model::Point& point : definitions.points) {
        TR_TRY(parts.append("points", point_to_json(point)));
    }
    for (const ProbeDefinition& probe : definitions.probes) {
        TR_TRY(parts.append("probes", probe_to_json(probe)));
    }
    return std::move(parts).finish();
}

Result<std::vector<std::string>> counters_to_json(const CaptureCounters& counters) {
    PartWriter parts(Json::object());
    for (const CaptureCounters::Probe& probe : counters.probes) {
        Json json = {{"id", probe.probe_id}};
#define TR_COUNTER_TO_JSON(name, meaning) json[#name] = probe.counts.name;
        TR_PROBE_COUNTERS(TR_COUNTER_TO_JSON)
#undef TR_COUNTER_TO_JSON
        TR_TRY(parts.append("probes", std::move(json)));
    }
    for (const CaptureCounters::Ring& ring : counters.rings) {
        TR_TRY(parts.append("rings", Json{{"attempts", ring.attempts}, {"lost", ring.lost}}));
    }
    return std::move(parts).finish();
}

Result<bool> DefinitionsParser::parse(std::string_view text) {
    TR_ASSIGN(const Json json, parse_object(text));
    if (is_first_) TR_TRY(read_head(json, part_));
    is_first_ = false;
    TR_TRY(read_strings(json, "arguments", part_.recording.arguments));
    TR_TRY(read_numbers(json, "pids", part_.pids));
    TR_TRY(read_numbers(json, "tids", part_.tids));
    TR_TRY(read_known_names(json, part_.names));

    TR_ASSIGN(const Json* points, read_list(json, "points", points_.size()));
    for (size_t i = 0; points != nullptr && i < points->size(); ++i) {
        TR_ASSIGN(auto point, read_point((*points)[i]));
        if (static_cast<size_t>(point.index) != points_.size()) {
            return malformed("index", "the next point's");
        }
        points_.push_back({point.arguments.size(), point.end_arguments.size(), point.kind});
        part_.points.push_back(std::move(point));
    }
    TR_ASSIGN(const Json* probes, read_list(json, "probes", probe_ids_.size()));
    for (size_t i = 0; probes != nullptr && i < probes->size(); ++i) {
        TR_ASSIGN(auto probe, read_probe((*probes)[i]));
        TR_TRY(check_probe(probe));
        probe_ids_.insert(probe.probe_id);
        part_.probes.push_back(std::move(probe));
    }
    return read_is_last(json);
}

namespace {

// How many slots a probe of the role has, besides the hidden ones.
size_t slots_of(const ProbeDefinition& probe, size_t point_values, size_t point_end_values) {
    const size_t key = probe.key_slots();
    switch (probe.role) {
        case HitRole::instant:
        case HitRole::span_begin:
        case HitRole::fiber_span_begin:
        case HitRole::pair_begin:
        case HitRole::state:
        case HitRole::thread_name:
        case HitRole::process_name:
            return point_values;
        case HitRole::span_end:
        case HitRole::fiber_span_end:
            return point_end_values;
        case HitRole::pair_end:
            return point_end_values + key;
        case HitRole::pair_until:
            return key;
    }
    return 0;
}

}  // namespace

// A probe must fit its point, which may come in the same block or an earlier one.
Status DefinitionsParser::check_probe(const ProbeDefinition& probe) const {
    const auto index = static_cast<size_t>(probe.point);
    if (index >= points_.size()) return malformed("point", "a point's index");
    if (probe_ids_.contains(probe.probe_id)) return malformed("id", "used once");
    const PointShape& point = points_[index];
    const bool is_span = probe.role != HitRole::instant && !is_naming_role(probe.role);
    if (is_span != (point.kind == model::PointKind::span)) {
        return malformed("role", "one that the point's kind has");
    }
    const bool is_pair = is_pair_role(probe.role);
    if (probe.key != PairKey::none && (!is_pair || probe.slots.size() < probe.key_slots())) {
        return malformed("key", "one that the probe's role and slots have");
    }
    const bool may_have_second = probe.key == PairKey::process || probe.key == PairKey::shared;
    if (probe.has_second_key && !may_have_second) return malformed("second_key", "beside a key");
    const bool is_state = probe.role == HitRole::state;
    if (is_state && probe.line.empty()) return malformed("line", "there, of a state");
    if (probe.is_line_of_process && probe.line.empty()) {
        return malformed("line_of_process", "of a line");
    }
    // A state is ended by the next, which says nothing of it.
    if (is_state && point.end_values != 0) return malformed("role", "one without end_arguments");
    const size_t count = slots_of(probe, point.values, point.end_values);
    if (probe.slots.size() != count || count + hidden_slots(probe.role) > TR_ARGS_MAX) {
        return malformed("slots", "as long as the point's arguments");
    }
    return {};
}

RecordingDefinitions DefinitionsParser::take() {
    return std::exchange(part_, {});
}

Result<bool> CountersParser::parse(std::string_view text) {
    TR_ASSIGN(const Json json, parse_object(text));
    TR_ASSIGN(const Json* probes, read_list(json, "probes", counters_.probes.size()));
    for (size_t i = 0; probes != nullptr && i < probes->size(); ++i) {
        const Json& element = (*probes)[i];
        if (!element.is_object()) return malformed("probes", "a list of objects");
        CaptureCounters::Probe probe;
        TR_ASSIGN(probe.probe_id, read_unsigned<uint32_t>(element, "id", kProbeIdMax));
#define TR_COUNTER_FROM_JSON(name, meaning) \
    { TR_ASSIGN(probe.counts.name, read_optional_unsigned<uint64_t>(element, #name)); }
        TR_PROBE_COUNTERS(TR_COUNTER_FROM_JSON)
#undef TR_COUNTER_FROM_JSON
        counters_.probes.push_back(probe);
    }
    TR_ASSIGN(const Json* rings, read_list(json, "rings", counters_.rings.size()));
    for (size_t i = 0; rings != nullptr && i < rings->size(); ++i) {
        const Json& element = (*rings)[i];
        if (!element.is_object()) return malformed("rings", "a list of objects");
        CaptureCounters::Ring ring;
        TR_ASSIGN(ring.attempts, read_unsigned<uint64_t>(element, "attempts", UINT64_MAX));
        TR_ASSIGN(ring.lost, read_unsigned<uint64_t>(element, "lost", UINT64_MAX));
        counters_.rings.push_back(ring);
    }
    return read_is_last(json);
}

}  // namespace tracer
