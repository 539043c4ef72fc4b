// SPDX-License-Identifier: Apache-2.0
#include "bisect/bisect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "bisect/decision.hpp"
#include "bisect/pairs.hpp"
#include "bisect/search.hpp"
#include "measure/workers.hpp"
#include "model/quantity.hpp"
#include "runner/git.hpp"
#include "runner/interruption.hpp"
#include "runner/revisions.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/folder.hpp"
#include "util/sha256.hpp"
#include "util/temporary_folder.hpp"
#include "util/text.hpp"

namespace perfgate::bisect {

namespace {

namespace fs = std::filesystem;
using runner::GitCommit;

constexpr const char* search_file = "bisect.json";
constexpr std::size_t most_search_bytes = std::size_t{64} << 20;
constexpr std::size_t most_suite_bytes = std::size_t{16} << 20;
constexpr std::size_t longest_subject = 80;
constexpr std::size_t most_shown = 20;  ///< commits

std::string short_name(const std::string& commit) {
    return commit.substr(0, 12);
}

std::string change_text(double change) {
    return fmt::format("{:+.1f} %", 100 * change);
}

/// All that decides besides the commits.
std::string settings_of(const runner::AbRequest& request) {
    util::Sha256 settings;
    const auto add = [&](const std::vector<std::string>& texts) {
        settings.add(fmt::format("{}\n", texts.size()));
        for (const std::string& text : texts) {
            settings.add(fmt::format("{}\n{}", text.size(), text));
        }
    };
    const runner::MeasuringChoice& choice = request.measuring;
    add({util::read_file(request.suites.front(), most_suite_bytes, "suite"), choice.build,
         choice.backend.backend, fmt::format("{}", request.policy.false_alarms)});
    add(choice.filters);
    add(choice.tags);
    add(choice.backend.plugins);
    return settings.fingerprint();
}

/// The metric that BAD makes worse by most; nothing: it makes none worse.
std::optional<Target> worst_of(const model::VerdictDocument& document) {
    std::optional<Target> worst;
    double most = -1;
    for (const model::SuiteVerdict& suite : document.suites) {
        for (const model::CaseVerdict& verdict : suite.cases) {
            const model::MetricVerdict* metric = model::deciding_metric(verdict);
            const bool slower = metric != nullptr && metric->baseline && metric->measured &&
                                is_worse(metric->verdict);
            if (!slower) continue;
            const double change =
                std::fabs(metric->change.value_or(std::numeric_limits<double>::infinity()));
            if (change <= most) continue;
            most = change;
            worst = Target{suite.name,
                           verdict.id,
                           metric->metric,
                           metric->unit,
                           *metric->baseline,
                           *metric->measured,
                           spread_of(metric->measured_batches)};
        }
    }
    return worst;
}

/// What `ab` would be asked of two revisions.
runner::AbRequest with_sides(runner::AbRequest request, const std::string& base,
                             const std::string& head) {
    request.base.revision = base;
    request.head.revision = head;
    return request;
}

class Bisection {
  public:
    explicit Bisection(const Request& request)
        : request_(request), good_(request.ab.suites, build()) {
        search_.good = good_.commit_of("GOOD " + request.good, request.good);
        search_.bad = good_.commit_of("BAD " + request.bad, request.bad);
        if (search_.good == search_.bad) {
            throw util::InputError("GOOD and BAD are the same commit {}: name an earlier GOOD",
                                   short_name(search_.good));
        }
        auto history = runner::git_history(good_.top(), search_.good, search_.bad);
        if (!history) throw util::InputError(no_ancestor());
        history_ = *std::move(history);
        search_.settings = settings_of(request.ab);
        decisions_.resize(history_.size());
        go_on();
    }

    int run() {
        good_checkout_ = good_.check_out("GOOD " + request_.good, request_.good);
        if (!search_.target) {
            if (const std::optional<int> over = compare_bad()) return *over;
        }
        while (const auto next = next_commit(decisions_)) {
            decide_about(*next);
            if (runner::interrupted()) throw measure::Interrupted();
        }
        return conclude();
    }

  private:
    const std::string& build() const { return request_.ab.measuring.build; }

    std::string no_ancestor() const {
        const std::string base = runner::git_merge_base(good_.top(), search_.good, search_.bad);
        const std::string remedy =
            runner::git_is_shallow(good_.top())
                ? "the clone is shallow: fetch the commits between them ('git fetch --unshallow')"
            : base.empty() ? "they have no common ancestor"
                           : fmt::format("name their common ancestor {}", short_name(base));
        return fmt::format("GOOD {} is no ancestor of BAD {}: {}", util::printable(request_.good),
                           util::printable(request_.bad), remedy);
    }

    /// Takes over what an earlier call of the same search has decided.
    void go_on() {
        const fs::path file = fs::path(request_.ab.measuring.out) / search_file;
        std::error_code error;
        if (!fs::exists(file, error)) return;
        SearchDocument earlier =
            parse_search(util::read_file(file, most_search_bytes, "search"), file.string());
        if (earlier.good != search_.good || earlier.bad != search_.bad ||
            earlier.settings != search_.settings) {
            return;
        }
        search_ = std::move(earlier);
        search_.outcome = Outcome::running;
        search_.commits.clear();
        for (const Step& step : search_.steps) {
            for (std::size_t i = 0; i < history_.size(); ++i) {
                if (history_[i].name == step.commit) decisions_[i] = step.decision;
            }
        }
        say(fmt::format("{}: going on after {}", util::printable(file.string()),
                        util::counted(search_.steps.size(), "step")));
    }

    void say(const std::string& line) const {
        if (request_.ab.measuring.progress) request_.ab.measuring.progress->say(line);
    }

    void store() const {
        util::Folder(request_.ab.measuring.out).write(search_file, write_search(search_));
    }

    std::string words_of(const std::string& commit) const {
        return util::printable(
            fmt::format("{} {}", short_name(commit), runner::git_subject(good_.top(), commit)),
            longest_subject);
    }

    /// The report of a comparison, with the command that repeats it.
    runner::Compared compare(const std::string& base, const std::string& head,
                             const runner::Checkouts& checkouts) {
        runner::AbRequest asked = with_sides(request_.ab, base, head);
        std::vector<std::string>& words = asked.reports.commands.again_words;
        words.insert(words.begin(), {"--base", "rev:" + base, "--head", "rev:" + head});
        runner::Compared compared = runner::compare_checkouts(asked, checkouts);
        check_device(compared.verdict.environment.device.key);
        usable_ = true;
        return compared;
    }

    /// Decisions of one search are about one kind of device.
    void check_device(const std::string& key) {
        if (search_.device.empty()) search_.device = key;
        if (search_.device == key) return;
        throw util::InputError(
            "{}: its steps were measured on {}, and this is {}: name another folder with --out",
            util::printable((fs::path(request_.ab.measuring.out) / search_file).string()),
            util::printable(search_.device), util::printable(key));
    }

    runner::Compared compare_bad_with_good() {
        runner::Revisions bad(request_.ab.suites, build());
        const runner::Checkout checkout = bad.check_out("BAD " + request_.bad, request_.bad);
        return compare(request_.good, request_.bad, {good_checkout_, checkout});
    }

    /// Finds what to follow. Returns the exit code if there is nothing.
    std::optional<int> compare_bad() {
        say(fmt::format("{} after GOOD; comparing BAD with GOOD",
                        util::counted(history_.size(), "commit")));
        const runner::Compared compared = compare_bad_with_good();
        if (compared.exit_code == 130) return compared.exit_code;
        search_.target = worst_of(compared.verdict);
        if (!search_.target) search_.outcome = Outcome::not_shown;
        store();
        if (search_.target) return std::nullopt;
        print(fmt::format("not shown: BAD {} is not shown to be slower than GOOD {}",
                          words_of(search_.bad), words_of(search_.good)));
        return compared.exit_code;
    }

    void decide_about(std::size_t index) {
        const auto start = std::chrono::steady_clock::now();
        Step step;
        step.commit = history_[index].name;
        std::string device;
        try {
            device = measure(step);
        } catch (const runner::BuildFailed& error) {
            step.decision = Decision::broken;
            step.why = error.what();
        } catch (const util::InputError& error) {
            require_usable();
            step.decision = Decision::broken;
            step.why = error.what();
        }
        if (runner::interrupted()) throw measure::Interrupted();
        if (!device.empty()) check_device(device);
        step.wall_s =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        decisions_[index] = step.decision;
        search_.steps.push_back(step);
        store();
        say(step_text(step));
    }

    /// An error may be the commit's fault, or that of this command, which went on with the steps of
    /// an earlier one. Throws if this command cannot compare BAD with GOOD, as the earlier one did.
    void require_usable() {
        if (!usable_) compare_bad_with_good();
    }

    /// Returns the key of the device.
    std::string measure(Step& step) {
        runner::Revisions revisions(request_.ab.suites, build());
        const runner::Checkout checkout = revisions.check_out("commit " + step.commit, step.commit);
        runner::AbRequest asked = with_sides(request_.ab, search_.good, step.commit);
        asked.measuring.filters = {search_.target->id};
        asked.measuring.tags.clear();
        asked.measuring.ceilings = false;
        asked.measuring.progress = nullptr;
        const util::TemporaryFolder out("perfgate-step");
        asked.measuring.out = out.path();
        asked.measuring.processes =
            std::max(first_pairs(asked.policy.false_alarms), asked.measuring.processes.value_or(0));
        Pairs pairs(*search_.target, request_.ab.policy.false_alarms, step);
        std::string key;
        runner::measure_sides(asked, {good_checkout_, checkout},
                              [&](runner::BackToBack& both, runner::Execution& head) {
                                  key = both.run().environment.device.key;
                                  pairs.measure(both, head, *asked.measuring.processes);
                                  return std::vector<model::CaseIndex>();  // a step keeps no code
                              });
        return key;
    }

    std::string step_text(const Step& step) const {
        std::string text = fmt::format("step {}, {}: {}", search_.steps.size(),
                                       words_of(step.commit), to_text(step.decision));
        if (!step.why.empty()) text += ": " + util::printable(step.why, 200);
        if (step.change) {
            text += fmt::format(" ({}, {})", change_text(*step.change),
                                util::counted(static_cast<std::size_t>(step.pairs), "pair"));
        }
        const Candidates among = candidates(decisions_);
        return text + fmt::format(", {:.0f} s; {} left", step.wall_s,
                                  util::counted(among.count(), "commit"));
    }

    /// Reports what was found: the first slow commit against the last one that is not.
    int conclude() {
        const Candidates among = candidates(decisions_);
        search_.outcome = among.count() == 1 ? Outcome::found : Outcome::one_of;
        for (std::size_t i = among.first; i <= among.last; ++i) {
            search_.commits.push_back(history_[i].name);
        }
        store();
        const std::string before = among.first == 0 ? search_.good : history_[among.first - 1].name;
        const std::string after = history_[among.last].name;
        runner::Revisions revisions(request_.ab.suites, build());
        const runner::Checkout base = before == search_.good
                                          ? good_checkout_
                                          : revisions.check_out("commit " + before, before);
        const runner::Checkout head = revisions.check_out("commit " + after, after);
        const runner::Compared compared =
            compare(short_name(before), short_name(after), {base, head});
        if (compared.exit_code == 130) return compared.exit_code;
        print(found_text(among, compared.verdict));
        return model::combine_exit_codes(1, compared.exit_code);
    }

    std::string found_text(const Candidates& among, const model::VerdictDocument& report) const {
        const Target& target = *search_.target;
        std::string text =
            among.count() == 1
                ? fmt::format("found: {}", words_of(search_.commits.front()))
                : fmt::format("one of these {}, because commits between them were skipped:",
                              among.count());
        if (among.count() > 1) {
            const std::size_t shown = std::min(search_.commits.size(), most_shown);
            for (std::size_t i = 0; i < shown; ++i) text += "\n  " + words_of(search_.commits[i]);
            if (shown < search_.commits.size()) {
                text +=
                    fmt::format("\n  and {} more: {}", search_.commits.size() - shown, search_file);
            }
        }
        double seconds = 0;
        for (const Step& step : search_.steps) seconds += step.wall_s;
        const auto skipped = std::ranges::count_if(search_.steps, [](const Step& step) {
            return step.decision == Decision::broken || step.decision == Decision::undecided;
        });
        text +=
            fmt::format("\nfollowed: {}, {} {} → {} from GOOD to BAD; {} ({} skipped), {:.0f} s",
                        util::printable(target.id), util::printable(target.metric),
                        model::quantity_text(target.good, target.unit),
                        model::quantity_text(target.bad, target.unit),
                        util::counted(search_.steps.size(), "step"), skipped, seconds);
        if (const std::string more = not_alone(report); !more.empty()) text += '\n' + more;
        return text + branches_text(among);
    }

    /// Says that the commit, which is beyond the boundary, does not make the whole of the change;
    /// empty if it does.
    std::string not_alone(const model::VerdictDocument& report) const {
        const Target& target = *search_.target;
        if (const auto* verdict = find_case(report, target.suite, target.id)) {
            for (const model::MetricVerdict& metric : verdict->metrics) {
                if (metric.metric == target.metric && is_worse(metric.verdict)) return {};
            }
        }
        return "the report does not show that this alone makes it slower by more than the "
               "tolerance: commits before it add to the change";
    }

    /// How to look into the branches that a merge brought in.
    std::string branches_text(const Candidates& among) const {
        std::string text;
        const GitCommit& culprit = history_[among.last];
        if (among.count() != 1) return text;
        for (std::size_t i = 1; i < culprit.parents.size(); ++i) {
            const std::string base =
                runner::git_merge_base(good_.top(), culprit.parents.front(), culprit.parents[i]);
            if (base.empty()) continue;
            text += fmt::format("\nit is a merge; its branch: perfgate bisect {} {} {} {}",
                                short_name(base), short_name(culprit.parents[i]),
                                util::shell_word(util::printable(request_.ab.suites.front())),
                                util::shell_word(util::printable(search_.target->id)));
        }
        return text;
    }

    void print(const std::string& text) const {
        runner::print_for_people(request_.ab.reports,
                                 [&](const report::Options&) { return "bisect: " + text + '\n'; });
    }

    const Request& request_;
    runner::Revisions good_;  ///< with GOOD's checkout, which all steps compare with
    runner::Checkout good_checkout_;
    SearchDocument search_;
    bool usable_ = false;  ///< this command has compared something
    std::vector<GitCommit> history_;
    std::vector<std::optional<Decision>> decisions_;  ///< of the history's commits
};

/// The exit code that tells git what a comparison says of the working tree. Nothing: it shows
/// neither.
std::optional<int> answer(const model::VerdictDocument& document) {
    bool shown = document.exit_code != 2;
    for (const model::SuiteVerdict& suite : document.suites) {
        for (const model::CaseVerdict& verdict : suite.cases) {
            if (is_worse(verdict.verdict)) return 1;
            shown = shown && (verdict.verdict == model::Verdict::pass ||
                              verdict.verdict == model::Verdict::improved ||
                              verdict.verdict == model::Verdict::skipped);
        }
    }
    return shown ? std::optional<int>(0) : std::nullopt;
}

bool may_be_decided(const model::VerdictDocument& document) {
    for (const model::SuiteVerdict& suite : document.suites) {
        for (const model::CaseVerdict& verdict : suite.cases) {
            if (verdict.verdict == model::Verdict::inconclusive) return true;
        }
    }
    return false;
}

constexpr int skip_commit = 125;  // git's word for it

}  // namespace

int find_culprit(const Request& request) {
    runner::catch_interruptions();
    runner::check_sides(with_sides(request.ab, request.good, request.bad));
    return Bisection(request).run();
}

int step(const Request& request) {
    runner::catch_interruptions();
    runner::AbRequest asked = with_sides(request.ab, request.good, {});
    std::vector<std::string>& words = asked.reports.commands.again_words;
    words.insert(words.begin(), {"--base", "rev:" + request.good});
    runner::check_sides(asked);
    runner::Revisions revisions(asked.suites, asked.measuring.build);
    const runner::Checkout good = revisions.check_out("GOOD " + request.good, request.good);
    try {
        const runner::Checkout tree = revisions.working_tree();
        runner::build_checkout(asked.measuring.build, tree.root, "the working tree");
        std::size_t pairs = asked.measuring.processes.value_or(runner::usual_pairs);
        for (std::size_t look = 0; look < looks; ++look, pairs *= 2) {
            asked.measuring.processes = pairs;
            const runner::Compared compared = runner::compare_checkouts(asked, {good, tree});
            if (compared.exit_code == 130) return compared.exit_code;
            if (const std::optional<int> code = answer(compared.verdict)) return *code;
            if (!may_be_decided(compared.verdict)) break;
        }
    } catch (const runner::BuildFailed& error) {
        fmt::print(stderr, "perfgate: {}\n", error.what());
    } catch (const util::InputError& error) {
        fmt::print(stderr, "perfgate: {}\n", util::printable(error.what(), 2000));
    }
    return skip_commit;
}

}  // namespace perfgate::bisect
