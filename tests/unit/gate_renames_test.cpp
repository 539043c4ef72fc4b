// SPDX-License-Identifier: Apache-2.0
#include "gate/renames.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "model/case.hpp"
#include "util/error.hpp"

namespace perfgate::gate {
namespace gate_renames_test {

model::CaseResult result_of(model::CaseSpec spec, std::string was = {}) {
    model::CaseResult result;
    result.spec = std::move(spec);
    result.was = std::move(was);
    return result;
}

model::Run run_of(std::vector<model::CaseResult> cases) {
    model::Run run;
    run.suites.emplace_back().name = "s";
    run.suites.front().cases = std::move(cases);
    return run;
}

BaselineSet baselines(const std::vector<std::string>& ids, const std::string& source) {
    BaselineSet set;
    for (const std::string& id : ids) {
        set["s"].baseline.cases[id].metrics["real_time"].method = model::Method(source, "");
    }
    return set;
}

std::vector<std::string> ids_of(const BaselineSet& set) {
    std::vector<std::string> ids;
    for (const auto& [id, expected] : set.at("s").baseline.cases) ids.push_back(id);
    return ids;
}

using Ids = std::vector<std::string>;
using FirstSeen = decltype(StoredBaseline::improved);

TEST(Renames, AStatedFormerNameIsFollowed) {
    BaselineSet set = baselines({"b/old[n=1]", "b/old[n=2]"}, "csv");
    set.at("s").improved["b/old[n=1]"]["real_time"] = "2026-11-01";
    follow_renames(run_of({result_of({"b", "new", {{"n", std::int64_t{1}}}}, "b/old[n=1]"),
                           result_of({"b", "other", {}})}),
                   set);
    EXPECT_EQ(ids_of(set), (Ids{"b/new[n=1]", "b/old[n=2]"}));
    EXPECT_EQ(set.at("s").renamed.at("b/new[n=1]"), "b/old[n=1]");
    EXPECT_EQ(set.at("s").improved, (FirstSeen{{"b/new[n=1]", {{"real_time", "2026-11-01"}}}}));
    EXPECT_EQ(set.at("s").notes, Ids{"the baseline has b/new[n=1] as b/old[n=1]"});
}

TEST(Renames, ACaseThatHasABaselineOrIsStillThereIsNotRenamed) {
    BaselineSet set = baselines({"b/old", "b/new"}, "csv");
    follow_renames(run_of({result_of({"b", "new", {}}, "b/old")}), set);
    EXPECT_EQ(ids_of(set), (Ids{"b/new", "b/old"})) << "its own baseline counts";
    set = baselines({"b/old"}, "csv");
    follow_renames(run_of({result_of({"b", "new", {}}, "b/old"), result_of({"b", "old", {}})}),
                   set);
    EXPECT_EQ(ids_of(set), Ids{"b/old"}) << "the run has the former one, too";
}

TEST(Renames, TwoCasesCannotHaveBeenOne) {
    BaselineSet set = baselines({"b/old"}, "csv");
    EXPECT_THROW(
        follow_renames(
            run_of({result_of({"b", "x", {}}, "b/old"), result_of({"b", "y", {}}, "b/old")}), set),
        util::InputError);
}

TEST(Renames, SettingsOfFormerNamesAreLeftOut) {
    const auto renamed = [](const Ids& stored, const std::string& source) {
        BaselineSet set = baselines(stored, source);
        follow_renames(run_of({result_of({"b", "a", {{"arg0", std::int64_t{64}}}}),
                               result_of({"b", "c", {}})}),
                       set);
        return ids_of(set);
    };
    EXPECT_EQ(renamed({"b/a[arg0=64,repeats=3]", "b/c[min_time=0.500]"}, "google-benchmark"),
              (Ids{"b/a[arg0=64]", "b/c"}));
    EXPECT_EQ(renamed({"b/a[arg0=64,device=0]"}, "nvbench"), Ids{"b/a[arg0=64]"});
    EXPECT_EQ(renamed({"b/a[arg0=64,device=1]"}, "nvbench"), Ids{"b/a[arg0=64,device=1]"});
    // Of two none is chosen, and of other tools these are parameters.
    EXPECT_EQ(renamed({"b/c[repeats=3]", "b/c[repeats=4]"}, "google-benchmark"),
              (Ids{"b/c[repeats=3]", "b/c[repeats=4]"}));
    EXPECT_EQ(renamed({"b/c[repeats=3]"}, "csv"), Ids{"b/c[repeats=3]"});
    EXPECT_EQ(renamed({"b/a[arg0=64,threads=2]"}, "google-benchmark"),
              Ids{"b/a[arg0=64,threads=2]"});
}

TEST(Renames, IdsAreTextsWithQuotes) {
    const auto without = [](std::string_view id) {
        return model::without_params(id, [](std::string_view param) { return param == "x=1"; });
    };
    EXPECT_EQ(without("b/a[n=2,x=1]@hot"), "b/a[n=2]@hot");
    EXPECT_EQ(without("b/a[x=1]"), "b/a");
    EXPECT_EQ(without(R"(b/a[t="y,x=1]",x=1])"), R"(b/a[t="y,x=1]"])");
    EXPECT_EQ(without("b/a"), "b/a");
    EXPECT_EQ(model::former_id("b/new[n=1]@hot", "old"), "old/new[n=1]@hot");
    EXPECT_EQ(model::former_id("b/new[n=1]@hot", "b/old"), "b/old[n=1]@hot");
    EXPECT_EQ(model::former_id("b/new[n=1]", "b/old[m=1]"), "b/old[m=1]");
    EXPECT_EQ(model::former_id("b", "x"), "x");
}

}  // namespace gate_renames_test
}  // namespace perfgate::gate
