// SPDX-License-Identifier: Apache-2.0
#include "report/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "model/run.hpp"
#include "report/joined.hpp"
#include "report/plain_text.hpp"
#include "report/summary.hpp"
#include "util/text.hpp"

namespace perfgate::report {

namespace {

using model::CaseVerdict;
using model::Effect;

/// More cases are named by workload and variant, as a glob.
constexpr std::size_t most_ids = 3;
constexpr std::size_t most_globs = 8;
/// A shell takes more; a comment of a pull request, with all else, does not.
constexpr std::size_t longest_accepting = 16'000;

/// Whether a reader can paste it: no control characters, nothing that looks like something else.
bool is_plain(const std::string& text) {
    return !text.empty() && plain_line(text, longest_line) == text && log_line(text) == text;
}

/// Globs that select the cases; empty if that would be too many, or one cannot be pasted.
std::vector<std::string> globs_of(const std::vector<const CaseVerdict*>& cases) {
    std::vector<std::string> globs;
    std::set<std::string> known;
    for (const CaseVerdict* verdict : cases) {
        std::string glob = verdict->id;
        const std::size_t parameters = glob.find_first_of("[@");
        if (cases.size() > most_ids && parameters != std::string::npos) {
            glob = glob.substr(0, parameters) + "*";
        }
        if (!is_plain(glob)) return {};
        if (known.insert(glob).second) globs.push_back(std::move(glob));
    }
    return globs.size() > most_globs ? std::vector<std::string>{} : globs;
}

std::string with(const std::string& line, std::string_view option,
                 const std::vector<std::string>& values) {
    std::string text = line;
    for (const std::string& value : values) {
        text += fmt::format(" {} {}", option, util::shell_word(value));
    }
    return text;
}

/// The cases that `chosen` names, worst first.
template <class Chosen>
std::vector<const CaseVerdict*> cases_of(const model::VerdictDocument& document, Chosen chosen) {
    std::vector<const CaseVerdict*> cases;
    for (const model::SuiteVerdict& suite : document.suites) {
        for (const CaseVerdict& verdict : suite.cases) {
            if (!is_only_counted(verdict, document.policy) && chosen(verdict)) {
                cases.push_back(&verdict);
            }
        }
    }
    const auto change = [](const CaseVerdict& verdict) {
        const model::MetricVerdict* metric = deciding_metric(verdict);
        return metric == nullptr ? 0 : std::fabs(metric->change.value_or(0));
    };
    std::stable_sort(cases.begin(), cases.end(), [&](const auto* left, const auto* right) {
        if (effect_of(*left) != effect_of(*right)) return effect_of(*left) < effect_of(*right);
        return change(*left) > change(*right);
    });
    return cases;
}

std::vector<std::string> suite_files(const model::VerdictDocument& document) {
    std::vector<std::string> files;
    for (const model::SuiteVerdict& suite : document.suites) {
        const bool concerned = std::any_of(
            suite.cases.begin(), suite.cases.end(),
            [&](const CaseVerdict& verdict) { return !is_only_counted(verdict, document.policy); });
        // One that was not given has no file.
        if (!concerned || suite.file.empty()) continue;
        if (!is_plain(suite.file)) return {};
        files.push_back(suite.file);
    }
    return files;
}

/// Each word after a space; nothing if one cannot be pasted.
std::optional<std::string> joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) {
        if (!is_plain(word)) return std::nullopt;
        text += ' ' + util::shell_word(word);
    }
    return text;
}

bool all_are_missing(const model::SuiteVerdict& suite) {
    return std::all_of(suite.cases.begin(), suite.cases.end(), [](const CaseVerdict& each) {
        return each.verdict == model::Verdict::missing;
    });
}

/// What the run shows and its baseline does not say, if accept takes it: changed cases, new ones,
/// and those that the suite no longer has. A suite that was not given has no file, and accept does
/// not change its baseline; neither has one of imported results.
std::vector<const CaseVerdict*> acceptable_cases(const model::VerdictDocument& document,
                                                 const CommandWords& words) {
    std::set<const CaseVerdict*> not_given;
    for (const model::SuiteVerdict& suite : document.suites) {
        if (!suite.file.empty() || !all_are_missing(suite)) continue;
        for (const CaseVerdict& each : suite.cases) not_given.insert(&each);
    }
    std::vector<const CaseVerdict*> cases = cases_of(document, [&](const CaseVerdict& verdict) {
        const Effect effect = effect_of(verdict);
        return effect == Effect::slower || effect == Effect::counter || effect == Effect::warned ||
               effect == Effect::better || effect == Effect::no_baseline ||
               verdict.doubt == model::Doubt::too_good ||
               verdict.doubt == model::Doubt::unaccepted ||
               (effect == Effect::missing && !not_given.contains(&verdict));
    });
    std::erase_if(cases, [&](const CaseVerdict* verdict) {
        return words.not_acceptable.contains(verdict->id);
    });
    return cases;
}

/// Accepts just these cases, each by its id: a glob would take in others, which accept may refuse.
/// Without a line: there is nothing to accept, or no line that can be pasted.
Command accepting(const model::VerdictDocument& document, const CommandWords& words,
                  const std::string& run) {
    const std::string refresh = "perfgate baseline refresh";
    if (document.interrupted || document.verify_only) return {};
    const std::vector<const CaseVerdict*> cases = acceptable_cases(document, words);
    if (cases.empty()) return {};
    const bool first_baseline =
        std::all_of(document.suites.begin(), document.suites.end(), [](const auto& suite) {
            return std::all_of(suite.cases.begin(), suite.cases.end(), [](const auto& verdict) {
                return verdict.verdict == model::Verdict::no_baseline ||
                       verdict.verdict == model::Verdict::skipped;
            });
        });
    // A refresh of a whole run refuses all of it for one case that cannot be a reference.
    const bool whole = std::none_of(
        document.suites.begin(), document.suites.end(), [&](const model::SuiteVerdict& suite) {
            return std::any_of(
                suite.cases.begin(), suite.cases.end(),
                [&](const CaseVerdict& each) { return words.not_acceptable.contains(each.id); });
        });
    if (first_baseline && whole) return {"refresh", refresh + run};
    std::string line = (first_baseline ? refresh : "perfgate baseline accept") + run;
    std::set<std::string_view> named;  // an id counts in all suites that have it
    for (const CaseVerdict* verdict : cases) {
        if (!is_plain(verdict->id)) return {};
        if (!named.insert(verdict->id).second) continue;
        line += " --filter " + util::shell_word(verdict->id);
    }
    if (!first_baseline) line += " --reason 'WHY'";
    if (line.size() > longest_accepting) return {};
    return {first_baseline ? "refresh" : "accept", std::move(line)};
}

/// Measures the cases that the baseline does not decide, and its commit, in turns. Without a line:
/// there are none, or no commit that `ab` could make the base of.
Command deciding(const model::VerdictDocument& document, const CommandWords& words,
                 const std::vector<std::string>& files) {
    std::vector<const CaseVerdict*> cases = cases_of(document, [&](const CaseVerdict& verdict) {
        using model::Doubt;
        const Doubt doubt = verdict.doubt;
        return verdict.verdict == model::Verdict::inconclusive &&
               model::names_a_commit(verdict.baseline_revision) &&
               !words.without_base.contains(verdict.id) &&
               (doubt == Doubt::not_shown || doubt == Doubt::nothing_changed ||
                doubt == Doubt::clock || doubt == Doubt::unclear ||
                doubt == Doubt::baseline_disagrees || doubt == Doubt::clock_hides ||
                doubt == Doubt::nothing_launched_changed || doubt == Doubt::slow_processes);
    });
    // Another program measured imported results.
    const std::vector<std::string>& typed = words.again_words;
    if (cases.empty() || files.empty() || document.backend == "imported") return {};
    const std::string revision = cases.front()->baseline_revision;
    std::erase_if(cases, [&](const auto* each) { return each->baseline_revision != revision; });
    std::vector<std::string> others;  // without the baselines, which `ab` does not take
    for (std::size_t i = 0; i < typed.size(); ++i) {
        if (typed[i] == "--baselines") {
            ++i;
        } else {
            others.push_back(typed[i]);
        }
    }
    const std::optional<std::string> options = joined(others);
    if (!options) return {};
    std::string line = "perfgate ab --base rev:" + revision.substr(0, 12);
    for (const std::string& file : files) line += ' ' + util::shell_word(file);
    return {"decide by ab", with(line, "--filter", globs_of(cases)) + *options};
}

/// The words of a command, quotes included, as util::shell_word writes them.
std::vector<std::string_view> words_of(std::string_view command) {
    std::vector<std::string_view> words;
    bool quoted = false;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < command.size(); ++i) {
        if (command[i] == ' ' && !quoted) {
            if (i > begin) words.push_back(command.substr(begin, i - begin));
            begin = i + 1;
        } else if (command[i] == '\'') {
            quoted = !quoted;
        } else if (command[i] == '\\' && !quoted) {
            ++i;
        }
    }
    if (begin < command.size()) words.push_back(command.substr(begin));
    return words;
}

}  // namespace

std::string folded_command(std::string_view command, std::size_t width) {
    constexpr std::string_view next_line = " \\\n    ";
    constexpr std::size_t indent = 4, ending = 2;
    if (command.size() <= width) return std::string(command);
    std::string text;
    std::size_t column = 0;
    const std::vector<std::string_view> words = words_of(command);
    for (std::size_t i = 0; i < words.size(); ++i) {
        std::string group(words[i]);
        // A value stays beside its option.
        if (group.starts_with('-') && i + 1 < words.size() && !words[i + 1].starts_with('-')) {
            group.append(" ").append(words[++i]);
        }
        if (text.empty()) {
            column = group.size();
        } else if (column + 1 + group.size() + ending > width) {
            text += next_line;
            column = indent + group.size();
        } else {
            text += ' ';
            column += 1 + group.size();
        }
        text += group;
    }
    return text;
}

std::vector<Command> next_commands(const model::VerdictDocument& document, const Options& options) {
    const CommandWords& words = options.commands;
    if (!is_plain(words.run_file)) return {};
    const std::optional<std::string> gate = joined(words.gate_words);
    const std::optional<std::string> options_of_again = joined(words.again_words);
    if (!gate || !options_of_again) return {};
    std::vector<Command> commands;
    const bool is_option = words.run_file.starts_with('-');
    const std::string run = ' ' + util::shell_word((is_option ? "./" : "") + words.run_file);
    const auto again = cases_of(document, [](const CaseVerdict& verdict) {
        const Effect effect = effect_of(verdict);
        return effect <= Effect::warned && effect != Effect::missing;
    });
    const std::vector<std::string> files = suite_files(document);
    // Another program measured imported results, and perfgate cannot repeat it.
    if (!again.empty() && !files.empty() && document.backend != "imported" && !words.verb.empty()) {
        std::string line = "perfgate " + words.verb;
        for (const std::string& file : files) line += ' ' + util::shell_word(file);
        commands.push_back({words.verb == "ab" ? "ab again" : "run again",
                            with(line, "--filter", globs_of(again)) + *options_of_again});
    }
    // Two builds back to back have no baseline that could be explained from or accepted.
    if (words.verb == "ab") return commands;
    Command pairs = deciding(document, words, files);
    if (!pairs.line.empty()) commands.push_back(std::move(pairs));
    const auto moved = cases_of(document, [](const CaseVerdict& verdict) {
        const Effect effect = effect_of(verdict);
        return !verdict.why.empty() && (effect == Effect::slower || effect == Effect::counter ||
                                        effect == Effect::unclear || effect == Effect::warned);
    });
    if (!moved.empty() && is_plain(moved.front()->id)) {
        commands.push_back({"report why", fmt::format("perfgate report{} --why --filter {}{}", run,
                                                      util::shell_word(moved.front()->id), *gate)});
    }
    Command accept = accepting(document, words, run);
    if (!accept.line.empty()) {
        accept.line += *gate;
        commands.push_back(std::move(accept));
    }
    return commands;
}

}  // namespace perfgate::report
