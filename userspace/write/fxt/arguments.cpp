// SPDX-License-Identifier: Apache-2.0
//
// An argument of any type, names and texts in full included (document section "Argument types").
// Called for every argument of a record whose types are not known when the program is compiled.
#include "tracer/write/fxt/arguments.h"

namespace tracer::fxt {

void Argument::write(Record& record) const {
    const uint64_t header = argument_header(type(), words(), name_.bits());
    switch (type()) {
        case ArgumentType::null:
        case ArgumentType::int32:
        case ArgumentType::uint32:
        case ArgumentType::boolean:
            record.word(header | number_.bits);
            record.text_of(name_);
            return;
        case ArgumentType::int64:
        case ArgumentType::uint64:
        case ArgumentType::float64:
        case ArgumentType::pointer:
        case ArgumentType::koid:
            record.word(header);
            record.text_of(name_);
            record.word(number_.bits);
            return;
        case ArgumentType::string:
            record.word(header | argument_payload_string(text_.bits()));
            record.text_of(name_);
            record.text_of(text_);
            return;
        case ArgumentType::blob:
            record.word(header | argument_payload_blob(text_.text().size()));
            record.text_of(name_);
            record.text_of(text_);
            return;
    }
}

}  // namespace tracer::fxt
