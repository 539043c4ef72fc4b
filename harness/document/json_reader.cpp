// SPDX-License-Identifier: Apache-2.0
#include "document/json_reader.hpp"

#include <simdjson.h>
#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::document {

namespace {

/// Node numbers and sizes have 32 bits. A text has at most one node per byte.
constexpr std::size_t longest_text = std::numeric_limits<std::uint32_t>::max() / 2;

bool is_identifier(std::string_view key) {
    return !key.empty() && key.size() <= 64 && std::ranges::all_of(key, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
    });
}

struct Place {
    std::size_t line = 1, column = 1;
};

Place place_of(std::string_view text, std::size_t offset) {
    const std::string_view before = text.substr(0, std::min(offset, text.size()));
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    return {1 + static_cast<std::size_t>(std::ranges::count(before, '\n')),
            before.size() - line_start + 1};
}

/// nlohmann's message without its code and without its own idea of the place.
std::string parser_message(const nlohmann::json::exception& error) {
    const std::string_view message = error.what();
    const std::size_t start = message.find("syntax error");
    return util::printable(start == std::string_view::npos ? message : message.substr(start));
}

[[noreturn]] void fail_depth(const std::string& source) {
    throw util::InputError("{}: nested deeper than {} levels", source, json_depth_limit);
}

/// Says what is wrong with a text that simdjson refused, and where: simdjson does not. Listens to
/// nlohmann's parser, which reads the text a second time up to the mistake.
class Refusal {
  public:
    Refusal(std::string_view json, const std::string& source) : json_(json), source_(source) {}

    [[noreturn]] static void explain(std::string_view json, const std::string& source,
                                     simdjson::error_code error) {
        Refusal refusal(json, source);
        nlohmann::json::sax_parse(json.begin(), json.end(), &refusal);
        throw util::InputError("{}: not JSON: {}", source, simdjson::error_message(error));
    }

    static bool null() { return true; }
    static bool boolean(bool /*value*/) { return true; }
    static bool number_integer(std::int64_t /*value*/) { return true; }
    static bool number_unsigned(std::uint64_t /*value*/) { return true; }
    bool number_float(double /*value*/, const std::string& text) const {
        if (text.find_first_of(".eE") != std::string::npos) return true;
        throw util::InputError("{}: an integer has more than 64 bits: {}", source_,
                               util::printable(text, 60));
    }
    static bool string(const std::string& /*value*/) { return true; }
    static bool binary(const nlohmann::json::binary_t& /*value*/) { return false; }
    bool start_object(std::size_t /*unknown*/) { return open(); }
    static bool key(const std::string& /*value*/) { return true; }
    bool end_object() { return close(); }
    bool start_array(std::size_t /*unknown*/) { return open(); }
    bool end_array() { return close(); }

    bool parse_error(std::size_t position, const std::string& /*token*/,
                     const nlohmann::json::exception& error) const {
        const std::string_view unread = json_.substr(std::min(position, json_.size()));
        // The end was reached, and the parser wanted more.
        const std::string_view what = error.what();
        const auto says = [&](std::string_view words) {
            return what.find(words) != std::string_view::npos;
        };
        // Which of the two it says of an empty text depends on the parser's version.
        if (unread.empty() && (says("unexpected end of input") || says("empty input"))) {
            fail(json_.size(), json_.find_first_not_of(" \t\r\n") == std::string_view::npos
                                   ? "the file is empty"
                                   : "the JSON ends too early: the file is truncated");
        }
        const std::size_t last_read = position == 0 ? 0 : position - 1;
        const std::size_t line = json_.rfind('\n', last_read) + 1;  // npos + 1 is 0
        for (const std::string_view marker : {"<<<<<<<", "|||||||", "=======", ">>>>>>>"}) {
            if (!json_.substr(std::min(line, json_.size())).starts_with(marker)) continue;
            fail(line, "not JSON: a merge conflict that git left; resolve it");
        }
        constexpr int number_out_of_range = 406;
        if (error.id == number_out_of_range) fail(last_read, "a number is too large for a double");
        fail(last_read, "not JSON: " + parser_message(error));
    }

  private:
    [[noreturn]] void fail(std::size_t offset, const std::string& message) const {
        const Place place = place_of(json_, offset);
        throw util::InputError("{}:{}:{}: {}", source_, place.line, place.column, message);
    }
    bool open() {
        if (++depth_ > json_depth_limit) fail_depth(source_);
        return true;
    }
    bool close() {
        --depth_;
        return true;
    }

    std::string_view json_;
    const std::string& source_;
    std::size_t depth_ = 0;
};

}  // namespace

/// Fills a document from simdjson's.
class JsonBuilder {
  public:
    explicit JsonBuilder(JsonDocument& document) : document_(document) {}

    void add(simdjson::dom::element element) {
        using simdjson::dom::element_type;
        switch (element.type()) {
            case element_type::OBJECT:
                return add_object(element.get_object().value_unsafe());
            case element_type::ARRAY:
                return add_array(element.get_array().value_unsafe());
            case element_type::STRING:
                return add_text(element.get_string().value_unsafe());
            case element_type::DOUBLE:
                return add({JsonKind::real, false, 0,
                            std::bit_cast<std::uint64_t>(element.get_double().value_unsafe())});
            case element_type::INT64: {
                const std::int64_t value = element.get_int64().value_unsafe();
                return add({JsonKind::integer, value < 0, 0, static_cast<std::uint64_t>(value)});
            }
            case element_type::UINT64:
                return add({JsonKind::integer, false, 0, element.get_uint64().value_unsafe()});
            case element_type::BOOL:
                return add(
                    {JsonKind::boolean, false, 0, element.get_bool().value_unsafe() ? 1u : 0u});
            case element_type::NULL_VALUE:
                return add({JsonKind::null, false, 0, 0});
        }
    }

  private:
    void add(JsonDocument::Node node) { document_.nodes_.push_back(node); }

    /// Keys, units and methods come again and again: a text is kept once, as long as no other takes
    /// its place here. Of a Run of 300,000 metrics nearly all texts are such.
    void add_text(std::string_view text) {
        std::uint64_t& kept = kept_[std::hash<std::string_view>{}(text) % kept_.size()];
        if (std::string_view(document_.texts_).substr(kept, text.size()) != text) {
            kept = document_.texts_.size();
            document_.texts_ += text;
        }
        add({JsonKind::text, false, static_cast<std::uint32_t>(text.size()), kept});
    }

    void add_object(simdjson::dom::object object) {
        const std::size_t node = open(JsonKind::object);
        std::uint32_t size = 0;
        for (const auto& [key, value] : object) {
            add_text(key);
            add(value);
            ++size;
        }
        close(node, size);
        refuse_duplicates(node);
    }

    void add_array(simdjson::dom::array array) {
        const std::size_t node = open(JsonKind::array);
        std::uint32_t size = 0;
        for (const simdjson::dom::element element : array) {
            add(element);
            ++size;
        }
        close(node, size);
    }

    std::size_t open(JsonKind kind) {
        if (open_.size() == json_depth_limit) fail_depth(document_.source_);
        open_.push_back(document_.nodes_.size());
        add({kind, false, 0, 0});
        return open_.back();
    }

    void close(std::size_t node, std::uint32_t size) {
        document_.nodes_[node].size = size;
        document_.nodes_[node].payload = document_.nodes_.size();
        open_.pop_back();
    }

    /// Readers disagree on which of two equal keys counts: what one tool gates, another would not.
    void refuse_duplicates(std::size_t object) {
        keys_.clear();
        const JsonValue value(document_, static_cast<std::uint32_t>(object));
        value.members([&](std::string_view key, JsonValue) { keys_.push_back(key); });
        // The large objects, of metrics and of cases, are sorted.
        if (std::ranges::adjacent_find(keys_, std::greater_equal<>()) == keys_.end()) {
            return;
        }
        std::ranges::sort(keys_);
        const auto twice = std::ranges::adjacent_find(keys_);
        if (twice == keys_.end()) return;
        // The containers around it are still open; the path needs their ends.
        const std::string key = util::printable(*twice);
        for (const std::size_t node : open_) {
            document_.nodes_[node].payload = document_.nodes_.size();
        }
        value.fail("the key '{}' appears twice", key);
    }

    JsonDocument& document_;
    std::vector<std::size_t> open_;           // containers around the next node
    std::vector<std::string_view> keys_;      // scratch of refuse_duplicates
    std::array<std::uint64_t, 1024> kept_{};  // offsets of texts, by their hash
};

std::string_view to_text(JsonKind kind) {
    return util::word_of<JsonKind::object>(
        kind, {"null", "a boolean", "a number", "a number", "a string", "an array", "an object"});
}

JsonDocument::JsonDocument(std::string json, std::string_view source)
    : source_(util::printable(source)) {
    if (json.size() > longest_text) throw util::InputError(source_ + ": larger than 2 GiB");
    json.reserve(json.size() + simdjson::SIMDJSON_PADDING);  // it reads there, and nothing of it
    std::string_view text = json;
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());

    simdjson::dom::parser parser;
    simdjson::dom::element root;
    const simdjson::error_code error = parser.parse(text.data(), text.size(), false).get(root);
    if (error != simdjson::SUCCESS) Refusal::explain(text, source_, error);
    constexpr std::size_t shortest_element = 2;  // "1,"
    constexpr std::size_t least_limit = 500'000;
    repetition_limit_ = std::max(json.size() / shortest_element, least_limit);
    // Usual documents fit without growing; what is not used is never touched, so it costs nothing.
    nodes_.reserve(json.size() / 8 + 1);
    texts_.reserve(json.size());
    JsonBuilder(*this).add(root);
}

JsonValue JsonDocument::root() const {
    return {*this, 0};
}

std::uint32_t JsonDocument::after(std::uint32_t node) const {
    const Node& here = nodes_[node];
    const bool container = here.kind == JsonKind::array || here.kind == JsonKind::object;
    return container ? static_cast<std::uint32_t>(here.payload) : node + 1;
}

std::string_view JsonDocument::text_of(std::uint32_t node) const {
    return std::string_view(texts_).substr(nodes_[node].payload, nodes_[node].size);
}

std::string JsonDocument::path_to(std::uint32_t node) const {
    std::string path;
    std::uint32_t here = 0;
    while (here != node) {
        const bool object = nodes_[here].kind == JsonKind::object;
        std::uint32_t child = here + (object ? 2 : 1);
        std::size_t index = 0;
        for (; after(child) <= node; ++index) child = after(child) + (object ? 1 : 0);
        if (!object) {
            path += fmt::format("[{}]", index);
        } else if (const std::string_view key = text_of(child - 1); is_identifier(key)) {
            path += (path.empty() ? "" : ".") + std::string(key);
        } else {
            path += fmt::format("[\"{}\"]", util::printable(key));
        }
        here = child;
    }
    return path;
}

void JsonValue::fail(const std::string& message) const {
    const std::string path = document_->path_to(node_);
    throw util::InputError(path.empty()
                               ? fmt::format("{}: {}", document_->source(), message)
                               : fmt::format("{}: {}: {}", document_->source(), path, message));
}

void JsonValue::expect(JsonKind wanted) const {
    if (kind() != wanted) {
        fail(fmt::format("expected {}, found {}", to_text(wanted), to_text(kind())));
    }
}

bool JsonValue::boolean() const {
    expect(JsonKind::boolean);
    return here().payload != 0;
}

double JsonValue::number() const {
    if (kind() == JsonKind::real) return std::bit_cast<double>(here().payload);
    if (kind() != JsonKind::integer) {
        fail(fmt::format("expected a number, found {}", to_text(kind())));
    }
    return here().negative ? static_cast<double>(static_cast<std::int64_t>(here().payload))
                           : static_cast<double>(here().payload);
}

std::int64_t JsonValue::integer() const {
    if (kind() != JsonKind::integer) {
        fail(fmt::format("expected an integer, found {}",
                         kind() == JsonKind::real ? util::number_text(number()) : to_text(kind())));
    }
    if (!here().negative && here().payload > std::numeric_limits<std::int64_t>::max()) {
        fail(fmt::format("{} is too large for an integer of 64 bits", here().payload));
    }
    return static_cast<std::int64_t>(here().payload);
}

std::int64_t JsonValue::count() const {
    const std::int64_t value = integer();
    if (value < 0) fail(fmt::format("expected a count that is not negative, found {}", value));
    return value;
}

std::uint64_t JsonValue::seed() const {
    if (kind() != JsonKind::integer || here().negative) count();  // says what is wrong
    return here().payload;
}

std::size_t JsonValue::repetition(std::size_t least) const {
    const auto times = static_cast<std::size_t>(count());
    if (times < least) fail(fmt::format("expected a count from {}", least));
    std::size_t& repeated = document_->repeated_;
    if (times > document_->repetition_limit_ - repeated) {
        fail(fmt::format("the document repeats more than {} values in all; record it anew",
                         document_->repetition_limit_));
    }
    repeated += times;
    return times;
}

std::string_view JsonValue::text() const {
    expect(JsonKind::text);
    return document_->text_of(node_);
}

std::optional<JsonValue> JsonValue::member(std::string_view key) const {
    expect(JsonKind::object);
    const auto search = [&](std::uint32_t name, std::uint32_t last) -> std::optional<JsonValue> {
        for (; name < last; name = document_->after(name + 1)) {
            if (document_->text_of(name) != key) continue;
            next_ = document_->after(name + 1);
            return JsonValue(*document_, name + 1);
        }
        return std::nullopt;
    };
    const std::uint32_t start = std::max(next_, node_ + 1);
    const std::optional<JsonValue> found = search(start, end());
    return found ? found : search(node_ + 1, start);
}

std::optional<JsonValue> JsonValue::find(std::string_view key) const {
    const std::optional<JsonValue> value = member(key);
    return value && value->kind() != JsonKind::null ? value : std::nullopt;
}

JsonValue JsonValue::at(std::string_view key) const {
    const std::optional<JsonValue> value = member(key);
    if (!value) fail(fmt::format("the field '{}' is missing", key));
    return *value;
}

JsonValue check_schema(JsonDocument& document, std::string_view schema, std::int64_t oldest,
                       std::int64_t newest) {
    const JsonValue root = document.root();
    const bool marked = root.kind() == JsonKind::object && root.find("schema");
    if (!marked) {
        root.fail("not a {} document: it has no field 'schema'", schema);
    }
    const std::string_view found_schema = root.at("schema").text();
    if (found_schema != schema) {
        // Both are in a run's folder.
        const bool is_verdict = found_schema == "perfgate.verdict" && schema == "perfgate.run";
        root.fail("the schema is '{}', expected '{}'{}", util::printable(found_schema, 60), schema,
                  is_verdict ? ": name run.json, which lies beside the verdict" : "");
    }
    const std::int64_t found_version = root.at("version").count();
    if (found_version < oldest || found_version > newest) {
        const std::string readable = oldest == newest
                                         ? fmt::format("version {}", newest)
                                         : fmt::format("versions {} to {}", oldest, newest);
        root.fail("schema {} version {}; this perfgate reads {}: {}", schema, found_version,
                  readable, found_version > newest ? "upgrade perfgate" : "record it anew");
    }
    document.set_version(found_version);
    return root;
}

void fail_choice(JsonValue value, std::span<const std::string_view> choices) {
    std::string list;
    for (const std::string_view choice : choices) {
        list += fmt::format("{}'{}'", list.empty() ? "" : ", ", choice);
    }
    value.fail("expected one of {}; found '{}'", list, util::printable(value.text(), 60));
}

}  // namespace perfgate::document
