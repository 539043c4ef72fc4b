// SPDX-License-Identifier: Apache-2.0
#include "suite/yaml_reader.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "util/text.hpp"

namespace perfgate::suite {

namespace {

Position position_of(const YAML::Mark& mark) {
    return {std::max(mark.line, 0) + 1, std::max(mark.column, 0) + 1};
}

Position position_at(std::string_view text, std::size_t offset) {
    const std::string_view before = text.substr(0, offset);
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    return {std::ranges::count(before, '\n') + 1,
            static_cast<std::int64_t>(offset - line_start) + 1};
}

/// The library reads U+0004 as the end of the file and accepts encodings other than UTF-8, so
/// anything that is not plain text must not reach it.
void check_text(std::string_view text, Problems& problems) {
    if (text.size() > most_yaml_bytes) {
        problems.fail({}, "{} bytes are too many; expected at most {} KiB", text.size(),
                      most_yaml_bytes / 1024);
    }
    for (std::size_t i = 0; i < text.size();) {
        const util::Utf8Step step = util::utf8_step(text, i);
        const auto byte = static_cast<unsigned char>(text[i]);
        if (!step.valid) {
            problems.fail(position_at(text, i), "not a text file: byte 0x{:02x}; expected UTF-8",
                          byte);
        }
        const bool control = byte < 0x20 || byte == 0x7f;
        if (control && byte != '\n' && byte != '\r' && byte != '\t') {
            problems.fail(position_at(text, i), "control character 0x{:02x}; expected text", byte);
        }
        i += step.length;
    }
}

/// Whether the line of this position, or the one before it, is indented with a tab: then the
/// library's message does not name the cause.
std::int64_t line_with_tab(std::string_view text, std::int64_t near_line) {
    std::int64_t line = 1;
    for (std::size_t start = 0; start < text.size() && line <= near_line; ++line) {
        const std::size_t first = text.find_first_not_of(' ', start);
        const bool tab = first != std::string_view::npos && text[first] == '\t';
        if (tab && line + 1 >= near_line) return line;
        const std::size_t end = text.find('\n', start);
        if (end == std::string_view::npos) break;
        start = end + 1;
    }
    return 0;
}

std::string_view line_at(std::string_view text, std::int64_t number) {
    for (std::int64_t line = 1; line < number; ++line) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos) return {};
        text.remove_prefix(end + 1);
    }
    return text.substr(0, text.find('\n'));
}

/// The first word of a line that YAML takes for a map because of a `{name}` in it, though it is
/// meant as text: "--out={out}". Empty: there is none.
std::string_view word_with_braces(std::string_view line) {
    char quote = '\0';
    std::size_t begin = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (quote != '\0') {
            if (line[i] == quote) quote = '\0';
            continue;
        }
        const bool starts = i == begin;
        if (starts && (line[i] == '"' || line[i] == '\'')) quote = line[i];
        if (std::string_view(" \t,[]").find(line[i]) != std::string_view::npos) begin = i + 1;
        if (line[i] != '{' || starts) continue;
        const std::size_t end = line.find('}', i);
        const std::string_view name = line.substr(i + 1, end - i - 1);
        if (end == std::string_view::npos || name.empty() ||
            name.find_first_of(" :,{") != std::string_view::npos) {
            continue;
        }
        return line.substr(begin, std::min(line.find_first_of(" ,]", end), line.size()) - begin);
    }
    return {};
}

/// Builds the tree from the library's events, so that every limit holds while it is built.
class TreeBuilder : public YAML::EventHandler {
  public:
    TreeBuilder(std::string_view text, YamlDocument& document, Problems& problems)
        : text_(text), document_(document), problems_(problems) {}

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (document_.root != nullptr) {
            problems_.fail(position_of(mark), "a second document; expected one per file");
        }
    }
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        // The mark of an absent value is the next token's: report where the value is missing.
        Position at = position_of(mark);
        const auto offset = static_cast<std::size_t>(std::max(mark.pos, 0));
        const char found = offset < text_.size() ? text_[offset] : '\0';
        if (found != '~' && found != 'n' && found != 'N' && !open_.empty()) {
            at = open_.back().key != nullptr ? open_.back().key->at : open_.back().node->at;
        }
        leaf(add(YamlNode::Kind::null, at, anchor));
    }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        YamlNode& node = add(YamlNode::Kind::scalar, position_of(mark), anchor);
        check_tag(node, tag);
        node.plain = tag == "?";
        node.text = value;
        leaf(node);
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const auto found = anchors_.find(anchor);
        const bool inside =
            found != anchors_.end() && std::ranges::any_of(open_, [&](const Open& open) {
                return open.node == found->second;
            });
        if (found == anchors_.end() || inside) {
            problems_.fail(position_of(mark), "an alias that names the value it stands in");
        }
        leaf(*found->second);
        check_size(position_of(mark));
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value /*style*/) override {
        begin(YamlNode::Kind::list, mark, tag, anchor);
    }
    void OnSequenceEnd() override { end(); }

    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value /*style*/) override {
        begin(YamlNode::Kind::map, mark, tag, anchor);
    }
    void OnMapEnd() override {
        drop_bad_keys(*open_.back().node);
        end();
    }

  private:
    struct Open {
        YamlNode* node;
        const YamlNode* key = nullptr;  ///< of a map, waiting for its value
    };

    YamlNode& add(YamlNode::Kind kind, Position at, YAML::anchor_t anchor) {
        if (document_.nodes.size() >= most_yaml_nodes) refuse_size(at);
        YamlNode& node = document_.nodes.emplace_back();
        node.kind = kind;
        node.at = at;
        if (anchor != 0) anchors_[anchor] = &node;
        return node;
    }

    void begin(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
               YAML::anchor_t anchor) {
        YamlNode& node = add(kind, position_of(mark), anchor);
        check_tag(node, tag);
        if (open_.size() >= most_yaml_depth) {
            problems_.fail(node.at, "nested too deep; expected at most {} levels", most_yaml_depth);
        }
        open_.push_back({&node, nullptr});
    }

    void end() {
        const YamlNode& node = *open_.back().node;
        open_.pop_back();
        leaf(node);
        check_size(node.at);
    }

    /// Adds a finished node to the list or map that contains it.
    void leaf(const YamlNode& node) {
        if (open_.empty()) {
            document_.root = &node;
            return;
        }
        Open& parent = open_.back();
        parent.node->expanded_nodes += node.expanded_nodes;
        if (parent.node->kind == YamlNode::Kind::list) {
            parent.node->items.push_back(&node);
        } else if (parent.key == nullptr) {
            parent.key = &node;
        } else {
            parent.node->entries.push_back({parent.key, &node});
            parent.key = nullptr;
        }
    }

    /// An alias is small in the file, but may expand to many nodes.
    void check_size(Position at) {
        if (!open_.empty() && open_.back().node->expanded_nodes > most_yaml_nodes) refuse_size(at);
    }

    [[noreturn]] void refuse_size(Position at) {
        problems_.fail(at, "too many values; expected at most {}, aliases expanded",
                       most_yaml_nodes);
    }

    void check_tag(const YamlNode& node, const std::string& tag) {
        if (tag.empty() || tag == "?" || tag == "!") return;
        problems_.add(node.at, "a tag, {}; expected a value without one", in_quotes(tag));
    }

    void drop_bad_keys(YamlNode& map) {
        std::map<std::string_view, Position> seen;
        std::erase_if(map.entries, [&](const YamlNode::Entry& entry) {
            const YamlNode& key = *entry.key;
            if (key.kind != YamlNode::Kind::scalar) {
                problems_.add(key.at, "a key that is not text; expected a name");
                return true;
            }
            if (key.plain && key.text == "<<") {
                problems_.add(key.at,
                              "merge keys ('<<') are not supported; expected the keys themselves");
                return true;
            }
            const auto [first, inserted] = seen.emplace(key.text, key.at);
            if (!inserted) {
                problems_.add(key.at,
                              "duplicate key {}; expected it once, it is in line {} already",
                              in_quotes(key.text), first->second.line);
            }
            return !inserted;
        });
    }

    std::string_view text_;
    YamlDocument& document_;
    Problems& problems_;
    std::vector<Open> open_;
    std::unordered_map<YAML::anchor_t, YamlNode*> anchors_;
};

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
    for (const Entry& entry : entries) {
        if (entry.key->text == key) return entry.value;
    }
    return nullptr;
}

YamlDocument read_yaml(std::string_view text, Problems& problems) {
    check_text(text, problems);
    // The library accepts an unclosed quote if a newline ends the file.
    text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
    YamlDocument document;
    TreeBuilder builder(text, document, problems);
    try {
        std::istringstream stream{std::string(text)};
        YAML::Parser parser(stream);
        while (parser.HandleNextDocument(builder)) {
        }
    } catch (const YAML::Exception& error) {
        // The library's column is 0 at the end of the text.
        const bool is_unfinished = std::cmp_greater_equal(error.mark.pos, text.size());
        const Position at =
            is_unfinished ? position_at(text, text.size()) : position_of(error.mark);
        if (const std::int64_t line = line_with_tab(text, at.line); line != 0) {
            problems.fail({line, 1}, "a tab in the indentation; expected spaces");
        }
        // Versions of the library differ in whether they add the name.
        if (error.msg.starts_with(YAML::ErrorMsg::UNKNOWN_ANCHOR)) {
            const std::string_view line = line_at(text, at.line);
            const auto begin = static_cast<std::size_t>(at.column - 1);
            const std::string_view word =
                begin < line.size() ? line.substr(begin, line.find_first_of(" ,]}#", begin) - begin)
                                    : std::string_view();
            problems.fail(at,
                          "YAML takes a word that begins with * for an alias; expected a glob in "
                          "quotes: \"{}\"",
                          util::printable(word, 80));
        }
        if (const auto word = word_with_braces(line_at(text, at.line)); !word.empty()) {
            problems.fail(at, "no valid YAML; expected a word with {{ }} in quotes: \"{}\"",
                          util::printable(word, 80));
        }
        problems.fail(at, "no valid YAML: " + util::printable(error.msg, 200));
    }
    if (document.root == nullptr) problems.fail({}, "an empty file; expected a map");
    return document;
}

}  // namespace perfgate::suite
