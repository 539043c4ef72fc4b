// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "kinds/source/values/elements.hpp"
#include "util/error.hpp"

namespace perfgate::backend {
namespace {

namespace fs = std::filesystem;

class Npy : public testing::Test {
  protected:
    Npy() : file_(fs::temp_directory_path() / ("npy-" + std::to_string(getpid()) + ".npy")) {}
    ~Npy() override { fs::remove(file_); }

    const fs::path& write(const std::string& content) {
        std::ofstream(file_, std::ios::binary) << content;
        return file_;
    }
    std::string refusal(const std::string& content, std::size_t count) {
        try {
            read_npy(write(content), count);
        } catch (const util::InputError& error) {
            return error.what();
        }
        return "accepted";
    }

    fs::path file_;
};

/// As numpy.save writes it.
std::string saved(const std::string& header, const std::string& data, char version = 1) {
    std::string text = "\x93NUMPY";
    text += version;
    text += '\0';
    const std::size_t length = header.size();
    text += static_cast<char>(length & 255);
    text += static_cast<char>(length >> 8);
    if (version > 1) text += std::string(2, '\0');
    return text + header + data;
}

std::string header(const std::string& descr, const std::string& shape,
                   const std::string& order = "False") {
    return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape +
           ", }      \n";
}

TEST_F(Npy, WhatNumpyWrites) {
    const float values[] = {1.5F, -2};
    const std::string data(reinterpret_cast<const char*>(values), sizeof(values));
    for (const char version : {1, 2, 3}) {
        const Elements read = read_npy(write(saved(header("<f4", "(2,)"), data, version)), 2);
        EXPECT_EQ(read.type, model::ElementType::f32);
        ASSERT_EQ(read.bytes.size(), data.size());
        EXPECT_EQ(std::memcmp(read.bytes.data(), data.data(), data.size()), 0);
    }
    EXPECT_EQ(read_npy(write(saved(header("<f8", "(1, 1, 1)"), data)), 1).type,
              model::ElementType::f64);
    EXPECT_EQ(read_npy(write(saved(header("<i4", "(2, 1)"), data)), 2).type,
              model::ElementType::i32);
    EXPECT_EQ(read_npy(write(saved(header("<f8", "()"), data)), 1).count(), 1U);
}

TEST_F(Npy, WhatIsNone) {
    EXPECT_NE(refusal("", 1).find("not a .npy file"), std::string::npos);
    EXPECT_NE(refusal("\x93NUMPY\x01", 1).find("not a .npy file"), std::string::npos);
    EXPECT_NE(refusal("not an array at all", 1).find("not a .npy file"), std::string::npos);
    EXPECT_NE(refusal(saved(header("<f4", "(1,)"), "1234", 9), 1).find("version 9"),
              std::string::npos);
    fs::remove(file_);
    EXPECT_THROW(read_npy(file_, 1), util::InputError);
    EXPECT_THROW(read_npy("/dev/zero", 1), util::InputError);
}

TEST_F(Npy, HeadersThatEndEarlyOrLie) {
    const std::string good = saved(header("<f4", "(1,)"), "1234");
    for (std::size_t bytes = 0; bytes < good.size(); ++bytes) {
        EXPECT_NE(refusal(good.substr(0, bytes), 1), "accepted") << bytes;
    }
    EXPECT_NE(refusal(good + "5", 1).find("5 bytes of elements"), std::string::npos);
    std::string too_long = good;
    too_long[8] = too_long[9] = '\xff';
    EXPECT_NE(refusal(too_long, 1).find("header"), std::string::npos);
    std::string huge = saved(header("<f4", "(1,)"), "1234", 2);
    huge[11] = '\x7f';
    EXPECT_NE(refusal(huge, 1).find("header"), std::string::npos);
}

TEST_F(Npy, MalformedHeaders) {
    for (const char* text :
         {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': False}",
          "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,)}",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}",
          "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (1,}",
          "{'descr': '<f4', 'fortran_order': False, 'shape': 1}",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
          "{'descr: '<f4', 'fortran_order': False, 'shape': (1,)}",
          "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}",
          "{'descr': '<f4', 'fortran_order': False, 'shape': "
          "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}"}) {
        EXPECT_NE(refusal(saved(text, "1234"), 1).find("malformed"), std::string::npos) << text;
    }
}

TEST_F(Npy, ArraysThatAreNotTheOutput) {
    EXPECT_NE(refusal(saved(header(">f4", "(1,)"), "1234"), 1).find("'>f4'"), std::string::npos);
    EXPECT_NE(refusal(saved(header("|O", "(1,)"), "1234"), 1).find("'|O'"), std::string::npos);
    EXPECT_NE(refusal(saved(header("<f4", "(1,)", "True"), "1234"), 1).find("Fortran"),
              std::string::npos);
    EXPECT_NE(refusal(saved(header("<f4", "(2,)"), "12345678"), 1).find("2 elements"),
              std::string::npos);
    EXPECT_NE(refusal(saved(header("<f4", "(0,)"), ""), 1).find("0 elements"), std::string::npos);
    // A product that wraps around to 1.
    EXPECT_NE(refusal(saved(header("<f4", "(4294967296, 4294967296)"), "1234"), 1)
                  .find("too many elements"),
              std::string::npos);
    EXPECT_NE(
        refusal(saved(header("<f4", "(99999999999999999999999,)"), "1234"), 1).find("malformed"),
        std::string::npos);
}

}  // namespace
}  // namespace perfgate::backend
