// SPDX-License-Identifier: Apache-2.0
#include "document/archive.hpp"

#include <gtest/gtest.h>

#include "model/relation.hpp"
#include "model/verdict.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::document {
namespace {

enum class Colour { red, green };
std::string_view to_text(Colour colour) {
    return util::word_of<Colour::green>(colour, {"red", "green"});
}

struct Inner {
    std::string name;
    double share = 0;
    bool operator==(const Inner&) const = default;
};

struct Outer {
    std::int64_t number = 0, usual = 7, below_zero = 0;
    Colour colour = Colour::red;
    std::optional<double> rate;
    std::optional<Inner> inlined;
    std::vector<Inner> list;
    bool operator==(const Outer&) const = default;
};

template <class Archive>
void describe(Archive& archive, Described<Archive, Inner>& inner) {
    archive.required("name", inner.name);
    archive.optional("share", inner.share, not_negative);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, Outer>& outer) {
    archive.derived("double", [&] { return outer.number * 2; });
    archive.required("number", outer.number);
    archive.optional("usual", outer.usual, absent_if(std::int64_t{7}));
    archive.always("below_zero", outer.below_zero, with_sign);
    archive.always("colour", outer.colour);
    archive.optional("rate", outer.rate);
    archive.inlined("name", outer.inlined);
    archive.optional("list", outer.list, lines);
    archive.check([&](JsonValue value) {
        if (outer.number == 13) value.at("number").fail("not that one");
    });
}

/// One of many: an array of its fields.
struct Cell {
    std::int64_t number = 0;
    std::optional<double> rate, share;
    std::string name;
};

template <class Archive>
void describe(Archive& archive, Described<Archive, Cell>& cell) {
    archive.required("number", cell.number);
    archive.optional("rate", cell.rate);
    archive.optional("share", cell.share);
    archive.optional("name", cell.name);
}

}  // namespace

template <>
inline constexpr bool is_row<Cell> = true;

namespace {

std::string written(const Outer& outer) {
    JsonWriter json;
    write(json, outer);
    return json.finish();
}

Outer parsed(std::string_view text) {
    const JsonDocument document(std::string(text), "d");
    Outer outer;
    read(document.root(), outer);
    return outer;
}

std::string refusal(std::string_view text) {
    try {
        parsed(text);
    } catch (const util::InputError& error) {
        return error.what();
    }
    return "(no error)";
}

TEST(Archive, ARowHasNullForWhatIsAbsentButAtItsEnd) {
    EXPECT_EQ(write_line(Cell{1, {}, 0.5, "n"}), R"([1,null,0.5,"n"])");
    EXPECT_EQ(write_line(Cell{1, {}, 0.5, ""}), "[1,null,0.5]");
    EXPECT_EQ(write_line(Cell{1, {}, {}, ""}), "[1]");
}

TEST(Archive, OneDescriptionReadsWhatItWrites) {
    const Outer outer{3, 8, -5, Colour::green, 0.5, Inner{"i", 2}, {{"a", 0}, {"b", 1}}};
    const std::string text =
        R"({"double":6,"number":3,"usual":8,"below_zero":-5,"colour":"green","rate":0.5,)"
        R"("name":"i","share":2,"list":[{"name":"a"},{"name":"b","share":1}]})";
    EXPECT_EQ(write_line(outer), text);
    EXPECT_EQ(parsed(text), outer);
}

TEST(Archive, AnEnumHasAWordForEachValue) {
    EXPECT_EQ(words_of<Colour>(), (std::vector<std::string_view>{"red", "green"}));
    EXPECT_EQ(words_of<model::Severity>(), (std::vector<std::string_view>{"fail", "warn"}));
    EXPECT_EQ(words_of<model::CodeChange>().front(), "unknown");
    EXPECT_EQ(words_of<model::CodeChange>().size(), 4);
    EXPECT_EQ(words_of<model::Verdict>().back(), "incorrect");
    EXPECT_EQ(words_of<model::Doubt>().back(), "other_work");
    EXPECT_EQ(words_of<model::Comparator>().size(), 6);
}

TEST(Archive, LeavesOutDefaults) {
    Outer outer;
    outer.rate = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(write_line(outer), R"({"double":0,"number":0,"below_zero":0,"colour":"red"})");
    EXPECT_EQ(parsed(R"({"number":0,"rate":null})"), Outer());
}

TEST(Archive, LinesAreALayoutAlone) {
    Outer outer;
    outer.list = {{"a", 0}, {"b", 0}};
    EXPECT_EQ(written(outer).find("\n"), written(outer).size() - 1);  // within a compact object
    EXPECT_EQ(parsed(written(outer)), outer);
}

struct Renamed {
    std::string text;
};

template <class Archive>
void describe(Archive& archive, Described<Archive, Renamed>& value) {
    archive.required(renamed("now", "before", 2), value.text);
}

TEST(Archive, AFieldHasItsOldNameInOldVersions) {
    const auto text_of = [](std::string_view text) {
        JsonDocument document(std::string(text), "d");
        Renamed value;
        read_document(document, {"s", 1, 3}, value);
        return value.text;
    };
    EXPECT_EQ(text_of(R"({"schema":"s","version":3,"now":"a","before":"b"})"), "a");
    EXPECT_EQ(text_of(R"({"schema":"s","version":2,"now":"a","before":"b"})"), "b");
    EXPECT_THROW(text_of(R"({"schema":"s","version":1,"now":"a"})"), util::InputError);
    const auto written_as = [](std::int64_t version) {
        return write_document({"s", 1, version}, Renamed{"a"}, JsonLayout::compact);
    };
    EXPECT_EQ(written_as(3), R"({"schema":"s","version":3,"now":"a"})");
    EXPECT_EQ(written_as(2), R"({"schema":"s","version":2,"before":"a"})");
    EXPECT_EQ(write_line(Renamed{"a"}), R"({"now":"a"})");
}

TEST(Archive, NamesThePlaceOfEachMistake) {
    EXPECT_EQ(refusal("{}"), "d: the field 'number' is missing");
    EXPECT_EQ(refusal(R"({"number":-1})"),
              "d: number: expected a count that is not negative, found -1");
    EXPECT_EQ(refusal(R"({"number":1,"colour":"blue"})"),
              "d: colour: expected one of 'red', 'green'; found 'blue'");
    EXPECT_EQ(refusal(R"({"number":1,"list":[{"name":"a","share":-1}]})"),
              "d: list[0].share: expected a number that is not negative");
    EXPECT_EQ(refusal(R"({"number":13})"), "d: number: not that one");
}

}  // namespace
}  // namespace perfgate::document
