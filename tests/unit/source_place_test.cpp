// SPDX-License-Identifier: Apache-2.0
#include "model/case.hpp"

#include <gtest/gtest.h>

namespace perfgate::model {
namespace {

std::string relative(const std::string& folder, const std::string& file) {
    const SourcePlace place = relative_to(folder, {file, 7});
    EXPECT_EQ(place.line, 7);
    return place.file;
}

TEST(SourcePlace, IsRelativeToTheFolderThatItLiesIn) {
    EXPECT_EQ(relative("/srv/project", "/srv/project/kernels/a.cu"), "kernels/a.cu");
    EXPECT_EQ(relative("/srv/project/", "/srv/project/a.cu"), "a.cu");
    EXPECT_EQ(relative("/", "/a.cu"), "a.cu");
}

TEST(SourcePlace, OutsideTheFolderItStaysAsItIs) {
    for (const std::string file : {"/srv/a.cu", "/srv/project2/a.cu", "/opt/a.cu", ""}) {
        EXPECT_EQ(relative("/srv/project", file), file);
    }
    EXPECT_EQ(relative("", "/srv/a.cu"), "/srv/a.cu");  // the folder is not known
}

TEST(SourcePlace, LiesInsideIfItCannotLeadOut) {
    EXPECT_TRUE(lies_inside({"kernels/a.cu", 1}));
    EXPECT_TRUE(lies_inside({"..a/b..cu", 1}));
    EXPECT_FALSE(lies_inside({"/kernels/a.cu", 1}));
    EXPECT_FALSE(lies_inside({"../a.cu", 1}));
    EXPECT_FALSE(lies_inside({"a/../../b.cu", 1}));
    EXPECT_FALSE(lies_inside({"a.cu", 0}));
    EXPECT_FALSE(lies_inside({"", 1}));
}

}  // namespace
}  // namespace perfgate::model
