// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <utility>

#include "kinds/python/kernel.hpp"
#include "kinds/source/source.hpp"
#include "suite/case_builder.hpp"
#include "suite/command_reader.hpp"
#include "suite/entry_reader.hpp"
#include "suite/matrix.hpp"
#include "suite/named_plugins.hpp"
#include "suite/placed_text.hpp"
#include "suite/problems.hpp"
#include "suite/python_reader.hpp"
#include "suite/relations.hpp"
#include "suite/settings.hpp"
#include "suite/source_entry.hpp"
#include "suite/suite.hpp"
#include "suite/suite_checks.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::suite {

namespace {

constexpr std::size_t longest_description = 4000;

class SuiteParser {
  public:
    SuiteParser(std::string_view yaml, std::string_view file,
                const model::WorkloadCatalogue& workloads, Problems& problems,
                std::vector<std::string>* left_out)
        : yaml_(yaml),
          workloads_(workloads),
          problems_(problems),
          left_out_(left_out),
          work_(problems) {
        suite_.file = file;
    }

    using Row = Key<SuiteParser>;

    static const std::vector<Row>& keys() {
        static const std::vector<Row> keys{
            Row("name",
                "`a-z`, `0-9`, `_`, `-`, at most 64 characters, unique among the suites of a run. "
                "Baselines are stored under it; renaming a suite abandons them.",
                slug(), in(&SuiteParser::suite_, &Suite::name))
                .needed(),
            {"description", "What the suite is for.", text("text", longest_description),
             in(&SuiteParser::suite_, &Suite::description)},
            {"plugins",
             "Files with [plugins](../docs/plugins.md) of its own, relative to its folder; "
             "`NAME.so` also finds `libNAME.so`. Their workloads are in this suite alone, and take "
             "the place of bundled ones of the same name. Only what measures loads them; "
             "`validate` and `list` need `--plugin` for each.",
             files("plugins"), in(&SuiteParser::suite_, &Suite::plugins)},
            {"defaults", "[Settings](#settings) of every case.", defined("settings"),
             &SuiteParser::defaults},
            Row("workloads", "A list of [workload entries](#workload-entries).",
                R"("type": "array", "minItems": 1, "items": {"$ref": "#/definitions/entry"})",
                node_of, &SuiteParser::entries_)
                .needed(),
            {"overrides", "A list of [overrides](#overrides) for cases of the whole suite.",
             defined("overrides"), &SuiteParser::overrides},
            {"expect", "[Relations](#relations): conditions between the suite's own cases.",
             defined("expect"), node_of, &SuiteParser::expect_},
        };
        return keys;
    }

    Suite parse(const YamlNode& root) {
        const Fields fields(root, "a suite", key_names(keys()), problems_);
        read_keys(fields, keys(), *this, problems_);
        // What a block scalar ends with.
        suite_.description.erase(suite_.description.find_last_not_of(" \n") + 1);
        if (entries_ != nullptr) {
            note_plugins_workloads(*entries_);
            for (const YamlNode* item :
                 read_list(*entries_, "workloads", "workload entries", problems_)) {
                add_entry(*item);
            }
        }
        check_duplicates(suite_, workloads_, problems_);
        apply_overrides(suite_, all_expanded_, work_, problems_);
        if (settings_are_good_) check_settings(suite_, entry_is_good_, work_, problems_);
        if (left_out_ == nullptr) check_tolerances(suite_, problems_);
        if (expect_ != nullptr) add_relations(*expect_, {});
        for (const auto& [name, expect] : expected_of_commands_) add_relations(*expect, name + '/');
        add_health();
        return std::move(suite_);
    }

  private:
    void defaults(const YamlNode& node) {
        const std::size_t before = problems_.count();
        const Fields fields(node, "'defaults'", key_names(tables::settings()), problems_);
        suite_.defaults = read_settings(fields, problems_);
        settings_are_good_ = settings_are_good_ && problems_.count() == before;
    }

    void overrides(const YamlNode& node) {
        const std::size_t before = problems_.count();
        suite_.overrides = read_overrides(node, problems_);
        settings_are_good_ = settings_are_good_ && problems_.count() == before;
    }

    /// If a part may have problems: notes them and returns whether there were any.
    bool notes(const Problems& problems, std::string_view remark) {
        try {
            problems.throw_if_any();
            return false;
        } catch (const util::InputError& error) {
            left_out_->push_back(fmt::format("{}{}", error.what(), remark));
            return true;
        }
    }

    bool is_known(const YamlNode& entry) {
        if (left_out_ == nullptr) return true;
        if (inferred_.contains(inferred_workload(entry).name)) return false;
        Problems own(suite_.file);
        read_entry(entry, workloads_, own);
        return !notes(own, "; its entry is compared as it is written");
    }

    /// Which workloads of the catalogue the suite measures: others give way to its own names.
    void note_plugins_workloads(const YamlNode& entries) {
        const auto note = [&](const YamlNode::Entry& field) {
            if (field.key->text == "workload") measured_.insert(field.value->text);
            if (field.key->text != "python") return;
            const std::string file = file_of_plugin(field.value->text, suite_.file);
            for (const model::WorkloadInfo& workload : workloads_) {
                if (workload.plugin == file) measured_.insert(workload.name);
            }
        };
        for (const YamlNode* item : entries.items) {
            for (const YamlNode::Entry& field : item->entries) note(field);
        }
    }

    /// Takes a name for a workload of the suite's own, also from a plugin that it does not use. If
    /// the name is taken, adds a problem with the remedy.
    bool take_name(const std::string& name, Position at, std::string_view remedy) {
        const model::WorkloadInfo* other = model::find_workload(workloads_, name);
        if (other == nullptr) return true;
        const bool plugins = !other->plugin.empty();
        if (plugins && !measured_.contains(name)) {
            std::erase_if(workloads_, [&](const auto& each) { return each.name == name; });
            return true;
        }
        std::string of;
        if (other->bundled) {
            of = fmt::format(" in this suite, which perfgate's own {} has",
                             std::filesystem::path(other->plugin).filename().string());
        } else if (plugins) {
            of = fmt::format(" in this suite, of {}", util::printable(other->plugin));
        }
        problems_.add(at, "the name {} is another workload's{}; expected {}", in_quotes(name), of,
                      remedy);
        return false;
    }

    /// What an item of `workloads` with this key is.
    struct EntryKind {
        std::string_view key;
        void (SuiteParser::*add)(const YamlNode& entry);
    };
    static const std::array<EntryKind, 5>& entry_kinds() {
        static constexpr std::array<EntryKind, 5> kinds{{{"workload", &SuiteParser::add_workload},
                                                         {"command", &SuiteParser::add_program},
                                                         {"benchmark", &SuiteParser::add_benchmark},
                                                         {"source", &SuiteParser::add_source},
                                                         {"python", &SuiteParser::add_python}}};
        return kinds;
    }

    /// An item of two kinds is a problem; one of none lacks the first kind's key.
    void add_entry(const YamlNode& node) {
        const EntryKind* found = nullptr;
        bool ambiguous = false;
        for (const YamlNode::Entry& field : node.entries) {
            const std::string& key = field.key->text;
            const auto kind = std::ranges::find(entry_kinds(), key, &EntryKind::key);
            if (kind == entry_kinds().end()) continue;
            if (found != nullptr) {
                ambiguous = true;
                problems_.add(field.key->at, "'{}' and '{}' in one entry; expected one of them",
                              found->key, key);
            }
            found = &*kind;
        }
        if (ambiguous) {
            all_expanded_ = false;
            return;
        }
        if (found == nullptr) found = &entry_kinds().front();
        (this->*found->add)(node);
    }

    void add_program(const YamlNode& node) { add_command(node, false); }
    void add_benchmark(const YamlNode& node) { add_command(node, true); }

    void add_workload(const YamlNode& node) {
        const bool known = is_known(node);
        model::WorkloadCatalogue inferred;
        if (!known) {
            all_expanded_ = false;
            inferred.push_back(inferred_workload(node));
            add_inferred(inferred.front(), workloads_);
            inferred_.insert(inferred.front().name);
        }
        const std::size_t before = problems_.count();
        ReadEntry read = read_entry(node, known ? workloads_ : inferred, problems_);
        entry_is_good_.push_back(problems_.count() == before);
        const std::size_t index = suite_.entries.size();
        suite_.entries.push_back(std::move(read.entry));
        all_expanded_ = all_expanded_ && read.expandable;
        const std::size_t first = suite_.cases.size();
        if (read.expandable) cases_.add(read, index);
        for (std::size_t i = first; i < suite_.cases.size(); ++i) suite_.cases[i].inferred = !known;
    }

    /// A program becomes a workload of the suite's own, with a variant and an entry for each label;
    /// the results of a benchmark have one, until it has run (plan.hpp).
    void add_command(const YamlNode& node, bool benchmark) {
        const std::size_t before = problems_.count();
        ReadCommand read = read_command(node, benchmark, problems_);
        const std::string& name = read.command.name;
        take_name(name, read.at, "one of its own");
        Matrix matrix;
        if (read.matrix != nullptr && problems_.count() == before) {
            matrix = read_matrix(*read.matrix, read.workload, {}, problems_);
        }
        std::vector<std::string> tags;
        if (read.tags != nullptr) tags = read_tags(*read.tags, problems_);
        const bool good = problems_.count() == before;
        all_expanded_ = all_expanded_ && good;
        workloads_.push_back(read.workload);
        suite_.programs.push_back(read.workload);
        if (benchmark) suite_.discovering.emplace(name, suite_.entries.size());
        if (good && read.labels.expect != nullptr) {
            expected_of_commands_.emplace_back(name, read.labels.expect);
        }
        if (good) {
            health_.insert(health_.end(), read.labels.health.begin(), read.labels.health.end());
        }

        const std::size_t first = suite_.entries.size();
        for (Label& label : read.labels.labels) {
            suite_.entries.push_back({label.at, tags, std::move(label.settings), {}});
            entry_is_good_.push_back(good);
        }
        if (good) cases_.add(read, matrix, first);
    }

    void add_python(const YamlNode& node) {
        Problems own(suite_.file);
        const std::size_t before = problems_.count();
        std::vector<ReadEntry> entries = read_python(node, workloads_, std::string(suite_.file),
                                                     left_out_ == nullptr ? problems_ : own);
        all_expanded_ = all_expanded_ && problems_.count() == before;
        if (left_out_ != nullptr && notes(own, "; its entry is compared as it is written")) {
            all_expanded_ = false;
        }
        for (ReadEntry& read : entries) {
            entry_is_good_.push_back(true);
            const std::size_t index = suite_.entries.size();
            suite_.entries.push_back(std::move(read.entry));
            const std::size_t first = suite_.cases.size();
            cases_.add(read, index);
            const bool open = is_open(*read.workload);
            relations_are_open_ = relations_are_open_ || open;
            const auto kernel = std::make_shared<const python::Kernel>(
                open ? read.variants.front()->help : std::string());
            for (std::size_t i = first; i < suite_.cases.size(); ++i) {
                suite_.cases[i].subject = kernel;
                suite_.cases[i].expected = open;
            }
        }
    }

    /// A source becomes a variant of a workload of the suite's own; several entries may have
    /// variants of one.
    void add_source(const YamlNode& node) {
        const std::size_t before = problems_.count();
        const ReadSource read = read_source(node, SourceText(yaml_), problems_);
        Matrix matrix;
        if (read.matrix != nullptr && problems_.count() == before) {
            matrix = read_matrix(*read.matrix, read.workload, {&read.workload.variants.front()},
                                 problems_);
        }
        offer_source(read);
        const bool good = problems_.count() == before;
        all_expanded_ = all_expanded_ && good;
        entry_is_good_.push_back(good);
        const std::size_t index = suite_.entries.size();
        suite_.entries.push_back(read.entry);
        if (!good) return;

        ReadEntry as_entry;
        as_entry.workload = &read.workload;
        as_entry.variants = {&read.workload.variants.front()};
        as_entry.matrix = std::move(matrix);
        const std::size_t first = suite_.cases.size();
        cases_.add(as_entry, index);
        for (std::size_t i = first; i < suite_.cases.size(); ++i) {
            work_.spend(16 + 8 * read.arguments.size(), suite_.cases[i].at);
            suite_.cases[i].subject = std::make_shared<const source::Source>(
                filled_in(read, suite_.cases[i].spec.params, problems_));
        }
    }

    void offer_source(const ReadSource& read) {
        const std::string& name = read.workload.name;
        if (!source_workloads_.contains(name)) {
            if (!take_name(name, read.entry.at, "'name' with one of its own")) return;
            source_workloads_.insert(name);
            workloads_.push_back(read.workload);
            return;
        }
        const auto known =
            std::ranges::find_if(workloads_, [&](const auto& each) { return each.name == name; });
        if (names_of(known->params) != names_of(read.workload.params)) {
            problems_.add(read.entry.at,
                          "another entry has the workload {} with other parameters; expected "
                          "'name' with another",
                          in_quotes(name));
            return;
        }
        const model::VariantInfo& variant = read.workload.variants.front();
        if (model::find_variant(*known, variant.name) == nullptr) {
            known->variants.push_back(variant);
        }
    }

    /// The metrics of a case if no device override applies; null if its settings have problems.
    const std::set<std::string>* collected_by(std::size_t index) {
        const SuiteCase& suite_case = suite_.cases[index];
        if (!settings_are_good_ || !entry_is_good_[suite_case.entry]) return nullptr;
        return &collected_.of(layers_without_device(suite_, suite_case), suite_case.at);
    }

    void add_relations(const YamlNode& expect, const std::string& prefix) {
        add_relations([&](const RelationScope& scope, Problems& problems) {
            return read_relations(expect, SourceText(yaml_), suite_.file, scope, problems, prefix);
        });
    }

    void add_health() {
        if (health_.empty()) return;
        add_relations([&](const RelationScope& scope, Problems& problems) {
            return read_relations(health_, suite_.file, scope, problems);
        });
    }

    template <typename Read>
    void add_relations(const Read& read) {
        if (relations_are_open_ && left_out_ == nullptr) return;
        // What is left out leaves the others' cases known.
        const RelationScope scope{
            suite_.cases,
            workloads_,
            discovering_of(suite_),
            true,
            all_expanded_ || left_out_ != nullptr,
            [this](std::size_t index) { return collected_by(index); },
            [this](std::size_t steps, Position at) { work_.spend(steps, at); }};
        Problems own(suite_.file);
        ReadRelations found = read(scope, left_out_ != nullptr ? own : problems_);
        std::move(found.relations.begin(), found.relations.end(),
                  std::back_inserter(suite_.relations));
        std::move(found.open.begin(), found.open.end(), std::back_inserter(suite_.open_relations));
        if (left_out_ == nullptr) return;
        std::move(found.unread.begin(), found.unread.end(),
                  std::back_inserter(suite_.unread_relations));
        notes(own, "; its text is compared");
    }

    std::string_view yaml_;
    const YamlNode* entries_ = nullptr;
    const YamlNode* expect_ = nullptr;
    model::WorkloadCatalogue workloads_;  ///< the plugins', and the suite's own programs
    Problems& problems_;
    std::vector<std::string>* left_out_;  ///< null: nothing may be left out
    Work work_;
    Suite suite_;
    CaseBuilder cases_{suite_, work_, problems_};
    std::vector<bool> entry_is_good_;
    std::set<std::string> source_workloads_;
    std::set<std::string> measured_;  ///< names of plugins' workloads
    std::set<std::string> inferred_;  ///< names of workloads
    bool settings_are_good_ = true;
    bool all_expanded_ = true;
    bool relations_are_open_ = false;  ///< only when Python files have run, all cases are known
    /// Name and `expect` of each program that has one.
    std::vector<std::pair<std::string, const YamlNode*>> expected_of_commands_;
    std::vector<StatedRelation> health_;  ///< of all programs
    CollectedMetrics collected_{
        problems_, [this](std::size_t metrics, Position at) { work_.spend(8 * metrics, at); }};
};

}  // namespace

namespace {

Suite parse(std::string_view yaml, std::string_view file, const model::WorkloadCatalogue& workloads,
            std::vector<std::string>* left_out) {
    Problems problems(file);
    const YamlDocument document = read_yaml(yaml, problems);
    Suite suite = SuiteParser(yaml, file, workloads, problems, left_out).parse(*document.root);
    problems.throw_if_any();
    return suite;
}

}  // namespace

std::vector<KeyText> tables::suite() {
    return texts_of(SuiteParser::keys());
}

Suite parse_suite(std::string_view yaml, std::string_view file,
                  const model::WorkloadCatalogue& workloads) {
    return parse(yaml, file, workloads, nullptr);
}

Suite parse_known_part(std::string_view yaml, std::string_view file,
                       const model::WorkloadCatalogue& workloads,
                       std::vector<std::string>& left_out) {
    return parse(yaml, file, workloads, &left_out);
}

}  // namespace perfgate::suite
