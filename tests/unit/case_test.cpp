// SPDX-License-Identifier: Apache-2.0
#include "model/case.hpp"

#include <gtest/gtest.h>

#include "model/catalogue.hpp"

namespace perfgate::model {
namespace {

TEST(CaseId, SortsParametersAndMarksAHotCache) {
    CaseSpec spec{"gemm", "tiled", {{"n", std::int64_t{1024}}, {"dtype", std::string("f32")}}};
    EXPECT_EQ(case_id(spec), "gemm/tiled[dtype=f32,n=1024]");
    spec.cache = Cache::hot;
    EXPECT_EQ(case_id(spec), "gemm/tiled[dtype=f32,n=1024]@hot");
    EXPECT_EQ(case_id({"copy", "naive", {}, Cache::cold}), "copy/naive");
}

TEST(CaseId, WritesEachTypeOfParameter) {
    EXPECT_EQ(to_text(ParamValue(true)), "true");
    EXPECT_EQ(to_text(ParamValue(std::int64_t{-7})), "-7");
    EXPECT_EQ(to_text(ParamValue(0.5)), "0.5");
    EXPECT_EQ(to_text(ParamValue(std::string("bf16"))), "bf16");
}

TEST(CaseId, TextThatLooksLikeParametersCannotImitateAnotherCase) {
    const CaseSpec honest{"w", "v", {{"a", std::string("x")}, {"b", std::int64_t{1}}}};
    const CaseSpec hostile{"w", "v", {{"a", std::string("x,b=1")}}};
    EXPECT_EQ(case_id(hostile), "w/v[a=\"x,b=1\"]");
    EXPECT_NE(case_id(honest), case_id(hostile));
    EXPECT_EQ(to_text(ParamValue(std::string("a\"b\\"))), "\"a\\\"b\\\\\"");
    EXPECT_EQ(to_text(ParamValue(std::string())), "\"\"");
    EXPECT_EQ(to_text(ParamValue(std::string("\xff"))), "\"\xef\xbf\xbd\"");
}

TEST(WorkloadCatalogue, FindsByName) {
    WorkloadCatalogue catalogue(2);
    catalogue[0].name = "gemm";
    catalogue[1].name = "copy";
    catalogue[1].variants.resize(2);
    catalogue[1].variants[1].name = "naive";
    ASSERT_EQ(find_workload(catalogue, "copy"), &catalogue[1]);
    EXPECT_EQ(find_workload(catalogue, "cop"), nullptr);
    EXPECT_EQ(find_variant(catalogue[1], "naive"), &catalogue[1].variants[1]);
    EXPECT_EQ(find_variant(catalogue[0], "naive"), nullptr);
}

TEST(WorkloadCatalogue, NamesItsEnumerations) {
    EXPECT_EQ(to_text(ParamType::boolean), "boolean");
    EXPECT_EQ(to_text(ParamType::integer), "integer");
    EXPECT_EQ(to_text(ParamType::real), "real");
    EXPECT_EQ(to_text(ParamType::text), "text");
    EXPECT_EQ(to_text(Target::host), "host");
    EXPECT_EQ(to_text(Target::cuda), "cuda");
    EXPECT_EQ(to_text(Submission::async), "async");
    EXPECT_EQ(to_text(Submission::synchronous), "synchronous");
    EXPECT_EQ(to_text(Submission::graph), "graph");
}

TEST(CaseId, QuotesWhatIsNoPlainWord) {
    EXPECT_EQ(to_text(ParamValue(std::string("azAZ09_-+.:/"))), "azAZ09_-+.:/");
    for (const char c : std::string("`{@[;,=*\x7f ")) {
        EXPECT_EQ(to_text(ParamValue(std::string(1, c))), std::string("\"") + c + '"');
    }
    EXPECT_EQ(to_text(Cache::hot), "hot");
    EXPECT_EQ(to_text(Cache::cold), "cold");
}

TEST(CaseId, HasTheParametersThatItSays) {
    const std::string id = case_id(
        {"w", "v", {{"a", "x,b=2"}, {"b", std::int64_t{1}}, {"c", "say \"]\""}}, Cache::hot});
    EXPECT_TRUE(has_params(id, {}));
    EXPECT_TRUE(has_params(id, {{"b", std::int64_t{1}}}));
    EXPECT_TRUE(has_params(id, {{"a", "x,b=2"}, {"c", "say \"]\""}}));
    EXPECT_FALSE(has_params(id, {{"b", std::int64_t{2}}}));
    EXPECT_FALSE(has_params(id, {{"d", std::int64_t{1}}}));
    EXPECT_TRUE(has_params("w/v", {}));
    EXPECT_FALSE(has_params("w/v", {{"b", std::int64_t{1}}}));
    EXPECT_FALSE(has_params("w/v[b=1", {{"b", std::int64_t{1}}})) << "cut";
}

}  // namespace
}  // namespace perfgate::model
