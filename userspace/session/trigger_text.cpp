// SPDX-License-Identifier: Apache-2.0
//
// The texts of `--when` and `--stop-when`. Names may hold anything but ')' and, of counters, ','.
#include "session/trigger.h"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace tracer {
namespace {

constexpr std::string_view kExamples =
    "write span(query) > 50ms, event(error), event(request) > 1000/s, counter(pool, free) < 5, "
    "exit(app) != 0 or crash; before it 3 of 10: asks for 3 of the last 10";

std::string_view trimmed(std::string_view text) {
    const size_t begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

template <typename Meaning>
struct Word {
    std::string_view text;
    Meaning meaning;
};

// Reads a text from the left.
class Reader {
public:
    explicit Reader(std::string_view text) : rest_(trimmed(text)) {}

    [[nodiscard]] bool is_done() const { return rest_.empty(); }

    bool take(std::string_view word) {
        if (!rest_.starts_with(word)) return false;
        rest_ = trimmed(rest_.substr(word.size()));
        return true;
    }

    // Up to the character, which is taken too.
    std::optional<std::string_view> take_until(char end) {
        const size_t at = rest_.find(end);
        if (at == std::string_view::npos) return std::nullopt;
        const std::string_view text = trimmed(rest_.substr(0, at));
        rest_ = trimmed(rest_.substr(at + 1));
        return text;
    }

    std::optional<double> take_number() {
        double value = 0;
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value,
                                                  std::chars_format::fixed);
        if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
        rest_ = trimmed(rest_.substr(static_cast<size_t>(end - rest_.data())));
        return value;
    }

    // The meaning of the first word of the table that comes next.
    template <typename Meaning, size_t N>
    std::optional<Meaning> take_one(const std::array<Word<Meaning>, N>& words) {
        for (const Word<Meaning>& word : words) {
            if (take(word.text)) return word.meaning;
        }
        return std::nullopt;
    }

private:
    std::string_view rest_;
};

// One that another begins with comes behind it.
constexpr std::array<Word<TriggerCompare>, 6> kCompares{{{">=", TriggerCompare::at_least},
                                                         {"<=", TriggerCompare::at_most},
                                                         {"==", TriggerCompare::equal},
                                                         {"!=", TriggerCompare::not_equal},
                                                         {">", TriggerCompare::more},
                                                         {"<", TriggerCompare::less}}};
constexpr std::array<Word<TriggerKind>, 5> kKinds{{{"span", TriggerKind::span},
                                                   {"event", TriggerKind::event},
                                                   {"counter", TriggerKind::counter},
                                                   {"exit", TriggerKind::exit},
                                                   {"crash", TriggerKind::crash}}};
// The factor that makes ns of it.
constexpr std::array<Word<double>, 5> kTimeUnits{
    {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}}};

Error fault(std::string_view option, std::string_view text, std::string_view what) {
    return Error{.code = ErrorCode::usage,
                 .what = fmt::format("{} \"{}\": {}", option, text, what),
                 .hint = std::string(kExamples)};
}

// "3 of 10:", if it is there.
const char* read_window(Reader& reader, Trigger& out) {
    const auto k = reader.take_number();
    if (!k) return nullptr;
    if (!reader.take("of")) return "a number is followed by \"of\": 3 of 10:";
    const auto n = reader.take_number();
    if (!n || !reader.take(":")) return "\"of\" is followed by a number and a colon: 3 of 10:";
    const bool is_whole = *k == std::floor(*k) && *n == std::floor(*n);
    if (!is_whole || *k < 1 || *k > *n || *n > kTriggerWindowMax) {
        return "K of N: whole numbers, 1 <= K <= N <= 64";
    }
    out.k = static_cast<uint32_t>(*k);
    out.n = static_cast<uint32_t>(*n);
    return nullptr;
}

const char* read_names(Reader& reader, Trigger& out) {
    const bool is_of_process = out.kind == TriggerKind::exit || out.kind == TriggerKind::crash;
    if (!reader.take("(")) return is_of_process ? nullptr : "a name in ( ) is missing";
    const auto names = reader.take_until(')');
    if (!names) return "the closing ) is missing";
    std::string_view pattern = *names;
    if (const size_t comma = pattern.find(',');
        out.kind == TriggerKind::counter && comma != std::string_view::npos) {
        out.argument = trimmed(pattern.substr(comma + 1));
        pattern = trimmed(pattern.substr(0, comma));
        if (out.argument.empty()) return "an argument's name is missing behind the comma";
    }
    if (pattern.empty()) return "the name in ( ) is empty; * is any";
    out.pattern = pattern;
    return nullptr;
}

const char* read_limit(Reader& reader, Trigger& out) {
    if (out.kind == TriggerKind::crash) return nullptr;
    const auto compare = reader.take_one(kCompares);
    if (out.kind == TriggerKind::event && !compare) {
        return out.n == 1 ? nullptr : "K of N needs something that may be false: a rate, > N/s";
    }
    if (!compare) return "a comparison is missing: > >= < <= == !=";
    const auto limit = reader.take_number();
    if (!limit) return "a number is missing behind the comparison";
    out.compare = *compare;
    out.limit = *limit;
    if (out.kind == TriggerKind::span) {
        const auto factor = reader.take_one(kTimeUnits);
        if (!factor) return "a span is compared with a time: 50ms (ns, us, ms, s, m)";
        out.limit *= *factor;
    }
    if (out.kind == TriggerKind::event) {
        if (!reader.take("/s")) return "a rate is in events a second: > 1000/s";
        if (*compare != TriggerCompare::more) return "a rate is compared by >";
        out.kind = TriggerKind::rate;
    }
    return nullptr;
}

}  // namespace

Result<Trigger> parse_trigger(std::string_view text, std::string_view option) {
    Trigger trigger;
    trigger.text = trimmed(text);
    Reader reader(text);
    if (const char* what = read_window(reader, trigger))
        return tl::unexpected(fault(option, text, what));
    const auto kind = reader.take_one(kKinds);
    if (!kind) return tl::unexpected(fault(option, text, "begins with none of the known words"));
    trigger.kind = *kind;
    if (const char* what = read_names(reader, trigger))
        return tl::unexpected(fault(option, text, what));
    if (const char* what = read_limit(reader, trigger))
        return tl::unexpected(fault(option, text, what));
    if (!reader.is_done())
        return tl::unexpected(fault(option, text, "something follows that means nothing"));
    return trigger;
}

}  // namespace tracer
