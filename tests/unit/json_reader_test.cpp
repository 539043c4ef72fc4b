// SPDX-License-Identifier: Apache-2.0
#include "document/json_reader.hpp"

#include <gtest/gtest.h>

#include "util/error.hpp"

namespace perfgate::document {
namespace json_reader_test {

using namespace util;

template <class Action>
std::string message_of(Action action) {
    try {
        action();
    } catch (const InputError& error) {
        return error.what();
    }
    return "(no error)";
}

std::string parse_message(std::string_view json) {
    return message_of([&] { const JsonDocument document(std::string(json), "d.json"); });
}

TEST(JsonDocument, ReadsEveryKindOfValue) {
    const JsonDocument document(
        R"( {"b": true, "i": -3, "u": 18446744073709551615, "d": 0.5, "t": "a\u00e9\n",
             "n": null, "a": [1, [2], {"x": 3}], "o": {}} )",
        "d.json");
    const JsonValue root = document.root();
    EXPECT_TRUE(root.at("b").boolean());
    EXPECT_EQ(root.at("i").integer(), -3);
    EXPECT_EQ(root.at("i").number(), -3.0);
    EXPECT_EQ(root.at("u").seed(), 18446744073709551615u);
    EXPECT_EQ(root.at("d").number(), 0.5);
    EXPECT_EQ(root.at("t").text(), "aé\n");
    EXPECT_FALSE(root.find("n"));
    EXPECT_FALSE(root.find("absent"));
    EXPECT_EQ(root.at("a").size(), 3u);
    EXPECT_EQ(root.at("o").size(), 0u);
    EXPECT_EQ(root.size(), 8u);

    std::vector<JsonKind> kinds;
    root.at("a").elements([&](JsonValue value) { kinds.push_back(value.kind()); });
    EXPECT_EQ(kinds, (std::vector{JsonKind::integer, JsonKind::array, JsonKind::object}));
    std::string keys;
    root.members([&](std::string_view key, JsonValue) { keys += key; });
    EXPECT_EQ(keys, "biudtnao");
}

TEST(JsonDocument, SaysLineAndColumnOfWhatIsNoJson) {
    EXPECT_EQ(parse_message(""), "d.json:1:1: the file is empty");
    EXPECT_EQ(parse_message(" \n "), "d.json:2:2: the file is empty");
    EXPECT_EQ(parse_message("{\"a\": [1,\n  2"),
              "d.json:2:4: the JSON ends too early: the file is truncated");
    EXPECT_EQ(parse_message("{\"a\": \"half a str").substr(0, 17), "d.json:1:18: not ");
    EXPECT_EQ(parse_message("{\"a\":\n  1 2}").substr(0, 19), "d.json:2:5: not JSO");
    EXPECT_EQ(parse_message("{} {}").substr(0, 12), "d.json:1:4: ");
    EXPECT_EQ(parse_message("\x7f"
                            "ELF\x02\x01")
                  .substr(0, 12),
              "d.json:1:1: ");
    EXPECT_EQ(parse_message("[\"\xff\"]").substr(0, 12), "d.json:1:3: ");
}

TEST(JsonDocument, RefusesNumbersThatAreNotFinite) {
    EXPECT_NE(parse_message("[NaN]"), "(no error)");
    EXPECT_NE(parse_message("[Infinity]"), "(no error)");
    EXPECT_NE(parse_message("[-Infinity]"), "(no error)");
    EXPECT_EQ(parse_message("[12345678901234567890123]"),
              "d.json: an integer has more than 64 bits: 12345678901234567890123");
    EXPECT_EQ(parse_message("[1e999]"), "d.json:1:6: a number is too large for a double");
    EXPECT_EQ(parse_message("[-1e999]"), "d.json:1:7: a number is too large for a double");
}

TEST(JsonDocument, RefusesKeysThatAppearTwice) {
    EXPECT_EQ(parse_message(R"({"a": 1, "b": 2, "a": 3})"), "d.json: the key 'a' appears twice");
    EXPECT_EQ(parse_message(R"({"x": [0, {"y": {"k\u001b": 1, "k\u001b": 2}}], "z": 1})"),
              "d.json: x[1].y: the key 'k?' appears twice");
}

TEST(JsonDocument, RefusesDeepNestingAtOnce) {
    const std::string limit = std::string(64, '[') + std::string(64, ']');
    EXPECT_EQ(parse_message(limit), "(no error)");
    EXPECT_EQ(parse_message('[' + limit + ']'), "d.json: nested deeper than 64 levels");
    EXPECT_EQ(parse_message(std::string(10'000'000, '[')), "d.json: nested deeper than 64 levels");
}

TEST(JsonDocument, MessagesCannotObeyATerminal) {
    const std::string message = parse_message("[\x1b[31m]");
    EXPECT_EQ(message.find('\x1b'), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_EQ(message_of([] { const JsonDocument document("[", "d\x1b.json"); }).substr(0, 7),
              "d?.json");
}

TEST(JsonDocument, EveryTruncationIsOneClearLine) {
    const std::string whole = R"({"schema": "s", "list": [1.5, "té", {"a": null}], "b": false})";
    EXPECT_EQ(parse_message(whole), "(no error)");
    for (std::size_t length = 0; length < whole.size(); ++length) {
        const std::string message = parse_message(whole.substr(0, length));
        EXPECT_EQ(message.substr(0, 9), "d.json:1:") << length << ": " << message;
        EXPECT_LT(message.size(), 300u);
    }
}

TEST(JsonValue, NamesThePathOfWhatIsWrong) {
    const JsonDocument document(
        R"({"suites": [{"cases": [{}, {"metrics": {"gpu_time": {"unit": 3}, "a.b/c": {"unit": 1}}}]}]})",
        "run.json");
    const JsonValue metrics = [&] {
        std::vector<JsonValue> cases;
        document.root().at("suites").elements([&](JsonValue suite) {
            suite.at("cases").elements([&](JsonValue value) { cases.push_back(value); });
        });
        return cases.at(1).at("metrics");
    }();
    EXPECT_EQ(
        message_of([&] { metrics.at("gpu_time").at("unit").text(); }),
        "run.json: suites[0].cases[1].metrics.gpu_time.unit: expected a string, found a number");
    EXPECT_EQ(
        message_of([&] { metrics.at("a.b/c").at("unit").boolean(); }),
        "run.json: suites[0].cases[1].metrics[\"a.b/c\"].unit: expected a boolean, found a number");
    EXPECT_EQ(message_of([&] { metrics.at("gpu_time").at("value"); }),
              "run.json: suites[0].cases[1].metrics.gpu_time: the field 'value' is missing");
    EXPECT_EQ(message_of([&] { document.root().at("schema"); }),
              "run.json: the field 'schema' is missing");
}

TEST(JsonValue, SaysWhichKindItExpected) {
    const JsonDocument document(
        R"({"n": -1, "d": 1.5, "big": 9223372036854775808, "null": null, "t": "x", "a": []})", "d");
    const JsonValue root = document.root();
    EXPECT_EQ(message_of([&] { root.at("n").count(); }),
              "d: n: expected a count that is not negative, found -1");
    EXPECT_EQ(message_of([&] { root.at("n").seed(); }),
              "d: n: expected a count that is not negative, found -1");
    EXPECT_EQ(message_of([&] { root.at("d").count(); }), "d: d: expected an integer, found 1.5");
    EXPECT_EQ(message_of([&] { root.at("t").seed(); }),
              "d: t: expected an integer, found a string");
    EXPECT_EQ(message_of([&] { root.at("big").integer(); }),
              "d: big: 9223372036854775808 is too large for an integer of 64 bits");
    EXPECT_EQ(message_of([&] { root.at("null").number(); }),
              "d: null: expected a number, found null");
    EXPECT_EQ(message_of([&] { root.at("a").at("x"); }),
              "d: a: expected an object, found an array");
    EXPECT_EQ(message_of([&] { root.elements([](JsonValue) {}); }),
              "d: expected an array, found an object");
    EXPECT_EQ(message_of([&] { root.at("t").members([](std::string_view, JsonValue) {}); }),
              "d: t: expected an object, found a string");
}

std::string schema_message(std::string_view json) {
    return message_of([&] {
        JsonDocument document(std::string(json), "run.json");
        check_schema(document, "perfgate.run", 2);
    });
}

TEST(Schema, AcceptsItsOwnAndIgnoresFieldsItDoesNotKnow) {
    EXPECT_EQ(schema_message(R"({"version": 2, "new": [], "schema": "perfgate.run"})"),
              "(no error)");
}

TEST(Schema, RefusesOtherVersionsWithTheRemedy) {
    EXPECT_EQ(schema_message(R"({"schema": "perfgate.run", "version": 3})"),
              "run.json: schema perfgate.run version 3; this perfgate reads version 2: "
              "upgrade perfgate");
    EXPECT_EQ(schema_message(R"({"schema": "perfgate.run", "version": 1})"),
              "run.json: schema perfgate.run version 1; this perfgate reads version 2: "
              "record it anew");
    EXPECT_EQ(schema_message(R"({"schema": "perfgate.run", "version": "2"})"),
              "run.json: version: expected an integer, found a string");
    EXPECT_EQ(schema_message(R"({"schema": "perfgate.run"})"),
              "run.json: the field 'version' is missing");
}

TEST(Schema, RefusesOtherDocuments) {
    EXPECT_EQ(schema_message(R"({"schema": "perfgate.baseline", "version": 2})"),
              "run.json: the schema is 'perfgate.baseline', expected 'perfgate.run'");
    EXPECT_EQ(schema_message(R"({"version": 2})"),
              "run.json: not a perfgate.run document: it has no field 'schema'");
    EXPECT_EQ(schema_message("[]"),
              "run.json: not a perfgate.run document: it has no field 'schema'");
    EXPECT_EQ(schema_message("7"),
              "run.json: not a perfgate.run document: it has no field 'schema'");
}

}  // namespace json_reader_test
}  // namespace perfgate::document
