// SPDX-License-Identifier: Apache-2.0
#include "suite/suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "model/error.hpp"
#include "model/file.hpp"
#include "model/text.hpp"
#include "suite/collected_metrics.hpp"
#include "suite/command_reader.hpp"
#include "suite/entry_reader.hpp"
#include "suite/matrix.hpp"
#include "suite/placed_text.hpp"
#include "suite/relations.hpp"
#include "suite/source_reader.hpp"
#include "suite/work.hpp"

namespace perfgate::suite {

namespace {

constexpr std::size_t longest_description = 4000;

constexpr std::array<std::string_view, 6> suite_keys{"name",      "description", "defaults",
                                                     "workloads", "overrides",   "expect"};

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

    Suite parse(const YamlNode& root) {
        const Fields fields(root, "a suite", suite_keys, problems_);
        if (const YamlNode* name = fields.require("name", problems_)) {
            suite_.name = read_slug(*name, "name", problems_).value_or("");
        }
        if (const YamlNode* description = fields.find("description")) {
            suite_.description =
                read_text(*description, "description", "text", longest_description, problems_)
                    .value_or("");
            // What a block scalar ends with.
            suite_.description.erase(suite_.description.find_last_not_of(" \n") + 1);
        }
        const std::size_t before_settings = problems_.count();
        if (const YamlNode* defaults = fields.find("defaults")) {
            suite_.defaults = read_settings(
                Fields(*defaults, "'defaults'", settings_keys(), problems_), problems_);
        }
        if (const YamlNode* overrides = fields.find("overrides")) {
            suite_.overrides = read_overrides(*overrides, problems_);
        }
        settings_are_good_ = problems_.count() == before_settings;
        if (const YamlNode* entries = fields.require("workloads", problems_)) {
            for (const YamlNode* item :
                 read_list(*entries, "workloads", "workload entries", problems_)) {
                add_entry(*item);
            }
        }
        check_duplicates();
        apply_overrides();
        check_settings();
        if (const YamlNode* expect = fields.find("expect")) add_relations(*expect, {});
        for (const auto& [name, expect] : expected_of_commands_) add_relations(*expect, name + '/');
        add_health();
        return std::move(suite_);
    }

  private:
    /// If a part with problems may be left out: reports them and returns whether there were any.
    bool leaves_out(const Problems& problems) {
        try {
            problems.throw_if_any();
            return false;
        } catch (const model::InputError& error) {
            left_out_->push_back(error.what());
            return true;
        }
    }

    void add_entry(const YamlNode& node) {
        const EntryKind kind = kind_of_entry(node, problems_);
        if (kind == EntryKind::refused) all_expanded_ = false;
        if (kind == EntryKind::command || kind == EntryKind::benchmark) add_command(node, kind);
        if (kind == EntryKind::source) add_source(node);
        if (kind != EntryKind::workload) return;
        if (left_out_ != nullptr) {
            Problems own(suite_.file);
            read_entry(node, workloads_, own);
            if (leaves_out(own)) {
                all_expanded_ = false;
                return;
            }
        }
        const std::size_t before = problems_.count();
        ReadEntry read = read_entry(node, workloads_, problems_);
        entry_is_good_.push_back(problems_.count() == before);
        const std::size_t index = suite_.entries.size();
        suite_.entries.push_back(std::move(read.entry));
        all_expanded_ = all_expanded_ && read.expandable;
        if (read.expandable) add_cases(read, index);
    }

    /// A program becomes a workload of the suite's own, with a variant and an entry for each label;
    /// a benchmark has one, until it has run (benchmark_cases.hpp).
    void add_command(const YamlNode& node, EntryKind kind) {
        const std::size_t before = problems_.count();
        ReadCommand read = read_command(node, kind, problems_);
        const std::string& name = read.command.name;
        if (model::find_workload(workloads_, name) != nullptr) {
            problems_.add(read.at, fmt::format("the name {} is another workload's; expected one of "
                                               "its own",
                                               in_quotes(name)));
        }
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
        if (kind == EntryKind::benchmark) suite_.benchmarks.emplace(name, suite_.entries.size());
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
        if (good) add_cases_of(read, matrix, first);
    }

    void add_cases_of(const ReadCommand& read, const Matrix& matrix, std::size_t first_entry) {
        const std::size_t product = product_size(matrix, most_cases);
        combinations_ += read.labels.labels.size() * product;
        if (product > most_cases || combinations_ > most_cases) {
            refuse_product(matrix, read.labels.labels.size(), read.at);
        }
        work_.spend((product + 1) * (matrix.include.size() + matrix.exclude.size()), read.at);
        std::vector<bool> used_excludes(matrix.exclude.size(), false);
        const std::size_t before = suite_.cases.size();
        for (Combination& combination : expand(matrix, "", model::Cache::cold, used_excludes)) {
            const std::size_t command = suite_.commands.size();
            suite_.commands.push_back(filled_in(read.command, combination.params));
            work_.spend(1 + read.command.words.size() + read.command.environment.size(), read.at);
            for (std::size_t i = 0; i < read.labels.labels.size(); ++i) {
                const Label& label = read.labels.labels[i];
                const Position at =
                    combination.made_by != nullptr ? combination.made_by->at : label.at;
                add_case({read.command.name, label.name, combination.params, model::Cache::cold},
                         at, read.workload, read.workload.variants[i], first_entry + i);
                suite_.cases.back().program = model::PlannedProgram{command, label.piece};
                suite_.cases.back().expected = label.expected;
            }
        }
        check_excludes(matrix, used_excludes, before, read.at);
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
        add_cases(as_entry, index);
        for (std::size_t i = first; i < suite_.cases.size(); ++i) {
            work_.spend(16 + 8 * read.arguments.size(), suite_.cases[i].at);
            suite_.cases[i].source = filled_in(read, suite_.cases[i].spec.params, problems_);
        }
    }

    void offer_source(const ReadSource& read) {
        const std::string& name = read.workload.name;
        const auto known = std::find_if(workloads_.begin(), workloads_.end(),
                                        [&](const auto& each) { return each.name == name; });
        if (known == workloads_.end()) {
            source_workloads_.insert(name);
            workloads_.push_back(read.workload);
            return;
        }
        if (!source_workloads_.contains(name)) {
            problems_.add(read.entry.at, fmt::format("the name {} is another workload's; expected "
                                                     "'name' with one of its own",
                                                     in_quotes(name)));
            return;
        }
        if (names_of(known->params) != names_of(read.workload.params)) {
            problems_.add(read.entry.at, fmt::format("another entry has the workload {} with other "
                                                     "parameters; expected 'name' with another",
                                                     in_quotes(name)));
            return;
        }
        const model::VariantInfo& variant = read.workload.variants.front();
        if (model::find_variant(*known, variant.name) == nullptr) {
            known->variants.push_back(variant);
        }
    }

    std::vector<model::Cache> caches_of(const Entry& entry) const {
        if (entry.settings.cache) return *entry.settings.cache;
        return suite_.defaults.cache.value_or(std::vector{model::Cache::cold});
    }

    void add_cases(const ReadEntry& read, std::size_t index) {
        const Entry& entry = suite_.entries[index];
        const std::vector<model::Cache> caches = caches_of(entry);
        const Matrix& matrix = read.matrix;
        const std::size_t groups = read.variants.size() * caches.size();
        const std::size_t product = product_size(matrix, most_cases);
        combinations_ += groups * product;
        if (product > most_cases || combinations_ > most_cases) {
            refuse_product(matrix, groups, entry.at);
        }

        const std::size_t first = suite_.cases.size();
        std::vector<bool> used_excludes(matrix.exclude.size(), false);
        for (const model::VariantInfo* variant : read.variants) {
            for (const model::Cache cache : caches) {
                work_.spend((product + 1) * (matrix.include.size() + matrix.exclude.size()),
                            entry.at);
                for (Combination& combination :
                     expand(matrix, variant->name, cache, used_excludes)) {
                    const Position at =
                        combination.made_by != nullptr ? combination.made_by->at : entry.at;
                    model::Params params = std::move(combination.params);
                    params.insert(read.params.begin(), read.params.end());
                    add_case({read.workload->name, variant->name, std::move(params), cache}, at,
                             *read.workload, *variant, index);
                }
            }
        }
        check_excludes(matrix, used_excludes, first, entry.at);
    }

    /// `first`: the first case that the matrix may have made.
    void check_excludes(const Matrix& matrix, const std::vector<bool>& used_excludes,
                        std::size_t first, Position at) {
        for (std::size_t i = 0; i < used_excludes.size(); ++i) {
            if (used_excludes[i]) continue;
            problems_.add(matrix.exclude[i].at,
                          "an exclude that removes nothing; expected values that the axes have");
        }
        if (suite_.cases.size() == first) {
            problems_.add(at, "'exclude' leaves no case; expected at least one");
        }
    }

    /// If the matrix of this entry alone is too large, its own count is reported.
    [[noreturn]] void refuse_product(const Matrix& matrix, std::size_t groups, Position at) {
        double count = static_cast<double>(groups);
        for (const Axis& axis : matrix.axes) count *= static_cast<double>(axis.items.size());
        if (count <= static_cast<double>(most_cases)) count = static_cast<double>(combinations_);
        problems_.fail(at, fmt::format("{} combinations before 'exclude', over all variants and "
                                       "cache temperatures; expected at most {}",
                                       count < 1e15 ? fmt::format("{:.0f}", count)
                                                    : fmt::format("{:.3g}", count),
                                       most_cases));
    }

    void add_case(model::CaseSpec spec, Position at, const model::WorkloadInfo& workload,
                  const model::VariantInfo& variant, std::size_t entry) {
        for (const model::ParamInfo& info : workload.params) {
            if (info.default_value || spec.params.contains(info.name)) continue;
            problems_.add(at,
                          fmt::format("parameter {} of {} is not set and has no default; "
                                      "expected it in 'params' or 'matrix'",
                                      in_quotes(info.name), model::printable(workload.name, 80)));
        }
        if (suite_.cases.size() == most_cases) {
            problems_.fail(at, fmt::format("more than {} cases; expected a smaller suite: split it",
                                           most_cases));
        }
        SuiteCase& added = suite_.cases.emplace_back();
        added.id = model::case_id(spec);
        added.spec = std::move(spec);
        added.at = at;
        added.target = variant.target;
        added.submission = variant.submission;
        added.min_compute_capability = variant.min_compute_capability;
        added.not_built = variant.not_built;
        added.entry = entry;
    }

    /// Cases are equal if they are equal with the workload's defaults filled in.
    void check_duplicates() {
        struct Repeated {
            const SuiteCase* first;
            const SuiteCase* second;
            std::size_t more = 0;
        };
        std::map<std::string, const SuiteCase*> seen;
        std::map<Position, Repeated> repeated;
        for (const SuiteCase& suite_case : suite_.cases) {
            model::CaseSpec full = suite_case.spec;
            const model::WorkloadInfo* workload = model::find_workload(workloads_, full.workload);
            for (const model::ParamInfo& info : workload->params) {
                if (info.default_value) full.params.emplace(info.name, *info.default_value);
            }
            const auto [found, inserted] = seen.emplace(model::case_id(full), &suite_case);
            if (inserted) continue;
            const auto [told, is_new] =
                repeated.try_emplace(suite_case.at, Repeated{found->second, &suite_case});
            if (!is_new) ++told->second.more;
        }
        for (const auto& [at, pair] : repeated) {
            const bool same = pair.first->id == pair.second->id;
            problems_.add(
                at,
                fmt::format("duplicate case {}; expected each case once, {} in line {} already{}",
                            model::printable(pair.second->id, 200),
                            same ? "it is" : model::printable(pair.first->id, 200) + " is",
                            pair.first->at.line,
                            pair.more == 0 ? "" : fmt::format(" (and {} more)", pair.more)));
        }
    }

    void apply_overrides() {
        std::set<const Override*> matched;
        const auto apply = [&](const std::vector<Override>& overrides, SuiteCase& suite_case) {
            for (const Override& over : overrides) {
                work_.spend(1 + over.match.size() * suite_case.id.size() / 128, over.at);
                if (!model::glob_match(over.match, suite_case.id)) continue;
                suite_case.overrides.push_back(&over);
                matched.insert(&over);
            }
        };
        for (SuiteCase& suite_case : suite_.cases) {
            apply(suite_.overrides, suite_case);
            apply(suite_.entries[suite_case.entry].overrides, suite_case);
        }
        // If cases are unknown, an override that matches none may be correct.
        if (!all_expanded_) return;
        const auto check = [&](const std::vector<Override>& overrides, std::string_view whose) {
            for (const Override& over : overrides) {
                if (matched.contains(&over) || may_match_unknown(suite_, over)) continue;
                problems_.add(over.at, matches_none_message(over, whose));
            }
        };
        check(suite_.overrides, "suite");
        for (const Entry& entry : suite_.entries) check(entry.overrides, "entry");
    }

    /// Resolves every case for each device that the suite names.
    void check_settings() {
        if (!settings_are_good_) return;
        std::set<std::string> devices{""};
        const auto note = [&](const std::vector<Override>& overrides) {
            for (const Override& over : overrides) devices.insert(over.device);
        };
        note(suite_.overrides);
        for (const Entry& entry : suite_.entries) note(entry.overrides);

        for (const std::string& device : devices) {
            std::map<std::vector<const Settings*>, ResolvedSettings> resolved;
            for (const SuiteCase& suite_case : suite_.cases) {
                if (!entry_is_good_[suite_case.entry]) continue;
                work_.spend(1 + suite_case.overrides.size(), suite_case.at);
                auto layers = layers_of(suite_, suite_case,
                                        [&](const std::string& glob) { return glob == device; });
                auto found = resolved.find(layers);
                if (found == resolved.end()) {
                    for (const Settings* layer : layers) {
                        work_.spend(4 * layer->tolerances.size(), suite_case.at);
                    }
                    ResolvedSettings settings = resolve(layers, problems_);
                    work_.spend(8 * settings.metrics.size(), suite_case.at);
                    found = resolved.emplace(std::move(layers), std::move(settings)).first;
                }
                // What the Plan will hold, once.
                if (device.empty()) work_.spend(2 * found->second.metrics.size(), suite_case.at);
                check_gates(suite_case, found->second, device);
                check_outputs(suite_case, found->second.deterministic);
            }
        }
    }

    void check_gates(const SuiteCase& suite_case, const ResolvedSettings& settings,
                     const std::string& device) {
        if (suite_case.expected || !settings.gates(suite_case.target).empty()) return;
        // Once per place: most cases of an entry share their settings.
        if (!gateless_.insert(suite_case.at).second) return;
        problems_.add(suite_case.at, no_gate_message(suite_case, device));
    }

    /// An override may ask it of a program, whose outputs nobody knows.
    void check_outputs(const SuiteCase& suite_case, const Settings::Deterministic& asked) {
        if (!suite_case.program || !asked.value || !asked_of_programs_.insert(asked.at).second) {
            return;
        }
        problems_.add(asked.at, unknown_outputs_message(suite_case));
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
        // What is left out leaves the others' cases known.
        const RelationScope scope{
            suite_.cases,
            workloads_,
            benchmarks_of(suite_),
            true,
            all_expanded_ || left_out_ != nullptr,
            [this](std::size_t index) { return collected_by(index); },
            [this](std::size_t steps, Position at) { work_.spend(steps, at); }};
        Problems own(suite_.file);
        ReadRelations found = read(scope, left_out_ != nullptr ? own : problems_);
        std::move(found.relations.begin(), found.relations.end(),
                  std::back_inserter(suite_.relations));
        std::move(found.open.begin(), found.open.end(), std::back_inserter(suite_.open_relations));
        if (left_out_ != nullptr) leaves_out(own);
    }

    std::string_view yaml_;
    model::WorkloadCatalogue workloads_;  ///< the plugins', and the suite's own programs
    Problems& problems_;
    std::vector<std::string>* left_out_;  ///< null: nothing may be left out
    Work work_;
    Suite suite_;
    std::vector<bool> entry_is_good_;
    std::size_t combinations_ = 0;
    std::set<std::string> source_workloads_;
    bool settings_are_good_ = false;
    bool all_expanded_ = true;
    std::set<Position> gateless_;
    std::set<Position> asked_of_programs_;  ///< `deterministic`, where it is a problem
    /// Name and `expect` of each program that has one.
    std::vector<std::pair<std::string, const YamlNode*>> expected_of_commands_;
    std::vector<StatedRelation> health_;  ///< of all programs
    CollectedMetrics collected_{
        problems_, [this](std::size_t metrics, Position at) { work_.spend(8 * metrics, at); }};
};

}  // namespace

std::map<std::string, const Settings*> benchmarks_of(const Suite& suite) {
    std::map<std::string, const Settings*> settings;
    for (const auto& [name, entry] : suite.benchmarks) {
        settings.emplace(name, &suite.entries[entry].settings);
    }
    return settings;
}

bool may_match_unknown(const Suite& suite, const Override& over) {
    return std::any_of(suite.cases.begin(), suite.cases.end(), [&](const SuiteCase& suite_case) {
        return has_unknown_cases(suite_case) &&
               model::glob_may_match(over.match, suite_case.spec.workload + '/');
    });
}

std::string matches_none_message(const Override& over, std::string_view whose) {
    return fmt::format(
        "{} matches no case; expected a glob on the ids of the {}'s cases, which `perfgate list` "
        "shows",
        in_quotes(over.match), whose);
}

std::string no_gate_message(const SuiteCase& suite_case, const std::string& device) {
    const auto expected = [&] {
        switch (suite_case.target) {
            case model::Target::host:
                return "host_time, the time of a host variant";
            case model::Target::cuda:
                return "a metric of CUDA variants, such as gpu_time";
            case model::Target::program:
                return "a metric of programs, such as gpu_time";
        }
        return "";
    };
    return fmt::format("no gated metric applies to {}{}; expected a tolerance for {}",
                       model::printable(suite_case.id, 200),
                       device.empty() ? "" : " on " + in_quotes(device), expected());
}

std::string unknown_outputs_message(const SuiteCase& suite_case) {
    return fmt::format(
        "'deterministic' for {}, whose outputs perfgate does not know; expected it for plugins and "
        "sources only",
        model::printable(suite_case.id, 200));
}

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

Suite parse_suite(std::string_view yaml, std::string_view file,
                  const model::WorkloadCatalogue& workloads) {
    return parse(yaml, file, workloads, nullptr);
}

Suite parse_known_part(std::string_view yaml, std::string_view file,
                       const model::WorkloadCatalogue& workloads,
                       std::vector<std::string>& left_out) {
    return parse(yaml, file, workloads, &left_out);
}

std::string name_in(const std::string& file) {
    std::vector<std::string> left_out;
    return parse_known_part(model::read_file(file, most_yaml_bytes, "suite"), file, {}, left_out)
        .name;
}

std::vector<Suite> load_suites(const std::vector<std::string>& files,
                               const model::WorkloadCatalogue& workloads) {
    std::vector<Suite> suites;
    std::string messages;
    const auto add_message = [&](const std::string& message) {
        messages += (messages.empty() ? "" : "\n") + message;
    };
    std::map<std::string, std::string> file_of_name;
    for (const std::string& file : files) {
        try {
            Suite suite =
                parse_suite(model::read_file(file, most_yaml_bytes, "suite"), file, workloads);
            const auto [other, inserted] = file_of_name.emplace(suite.name, file);
            if (!inserted) {
                add_message(
                    fmt::format("{}: suite {} is in {} too; expected every suite's name "
                                "once",
                                model::printable(file), in_quotes(suite.name),
                                model::printable(other->second)));
            }
            suites.push_back(std::move(suite));
        } catch (const model::InputError& error) {
            add_message(error.what());
        }
    }
    if (!messages.empty()) throw model::InputError(messages);
    return suites;
}

}  // namespace perfgate::suite
