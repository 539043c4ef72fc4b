// SPDX-License-Identifier: Apache-2.0
#include "document/json_writer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "document/json_reader.hpp"
#include "util/error.hpp"

namespace perfgate::document {
namespace {

using namespace util;

TEST(JsonWriter, PutsMembersOnLinesAndCompactPartsOnOne) {
    JsonWriter json;
    json.begin_object(JsonLayout::lines);
    write_field(json, "name", std::string("x"));
    json.key("empty");
    json.begin_array(JsonLayout::lines);
    json.end_array();
    json.key("list");
    json.begin_array(JsonLayout::lines);
    json.begin_object(JsonLayout::compact);
    write_field(json, "a", 0.5);
    write_field(json, "b", std::vector<double>{1, 2.5});
    json.key("inner");
    json.begin_object(JsonLayout::lines);  // compact around it wins
    write_field(json, "c", true);
    json.end_object();
    json.end_object();
    json.value(std::int64_t{-1});
    json.end_array();
    json.end_object();
    EXPECT_EQ(json.finish(),
              "{\n"
              "  \"name\": \"x\",\n"
              "  \"empty\": [],\n"
              "  \"list\": [\n"
              "    {\"a\":0.5,\"b\":[1,2.5],\"inner\":{\"c\":true}},\n"
              "    -1\n"
              "  ]\n"
              "}\n");
}

TEST(JsonWriter, CompactDocumentIsOneLine) {
    JsonWriter json(JsonLayout::compact);
    json.begin_object(JsonLayout::lines);
    write_field(json, "a", std::string("two\nlines"));
    write_field(json, "b", std::map<std::string, double>{{"y", 2}, {"x", 1}});
    json.end_object();
    EXPECT_EQ(json.finish(), R"({"a":"two\nlines","b":{"x":1,"y":2}})");
}

TEST(JsonWriter, HostileTextBecomesValidJson) {
    using std::string_literals::operator""s;
    JsonWriter json(JsonLayout::compact);
    json.value("quote\" slash\\ \x01\x1f tab\t nul\0 bad\xff \xed\xa0\x80 é"s);
    const std::string written = json.finish();
    EXPECT_EQ(written,
              "\"quote\\\" slash\\\\ \\u0001\\u001f tab\\t nul\\u0000 bad\xef\xbf\xbd "
              "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd é\"");
    const JsonDocument document(written, "d");
    EXPECT_EQ(document.root().text(),
              "quote\" slash\\ \x01\x1f tab\t nul\0 bad\xef\xbf\xbd "
              "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd é"s);
}

TEST(JsonWriter, RefusesNumbersThatAreNotFinite) {
    JsonWriter json;
    EXPECT_THROW(json.value(std::numeric_limits<double>::quiet_NaN()), Error);
    EXPECT_THROW(json.value(std::numeric_limits<double>::infinity()), Error);
    EXPECT_THROW(json.real(-std::numeric_limits<double>::infinity()), Error);
}

TEST(JsonWriter, LeavesOutWhatIsNotKnown) {
    JsonWriter json(JsonLayout::compact);
    json.begin_object(JsonLayout::compact);
    write_unless_default(json, "empty", std::string());
    write_unless_default(json, "zero", 0.0);
    write_unless_default(json, "one", 1.0);
    json.end_object();
    EXPECT_EQ(json.finish(), R"({"one":1})");
}

TEST(JsonWriter, CleansEveryTextAndKeyThatItIsGiven) {
    const JsonWriter::Clean clean = [](std::string_view text, std::string& room) {
        return std::string_view(room = "<" + std::string(text) + ">");
    };
    JsonWriter json(JsonLayout::compact, 0, clean);
    json.begin_object(JsonLayout::compact);
    write_field(json, "key", std::vector<std::string>{"a"});
    json.key("log");
    json.clean_value("two\nlines");
    json.end_object();
    EXPECT_EQ(json.finish(), R"({"<key>":["<a>"],"<log>":"two\nlines"})");
}

TEST(JsonWriter, RealsStayReals) {
    for (const double value : {1.0, -0.0, 0.5, 1e300, 1e17, 123456789.0, -2.0}) {
        JsonWriter json(JsonLayout::compact);
        json.real(value);
        const std::string written = json.finish();
        const JsonDocument document(written, "d");
        EXPECT_EQ(document.root().kind(), JsonKind::real) << written;
        EXPECT_EQ(document.root().number(), value);
        EXPECT_EQ(std::signbit(document.root().number()), std::signbit(value));
    }
}

}  // namespace
}  // namespace perfgate::document
