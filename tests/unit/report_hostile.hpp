// SPDX-License-Identifier: Apache-2.0
// Names that someone writes to break a report.
#pragma once

#include <string>
#include <vector>

namespace perfgate::report {

inline std::vector<std::string> hostile_texts() {
    return {
        "",
        " \t\n ",
        std::string("nul\0inside", 10),
        "bell\a back\b escape\x1b end",
        "\x1b[31mred\x1b[0m \x1b]0;title\a \x1b]8;;http://host\x1b\\link\x1b]8;;\x1b\\",
        "]]>",
        "<![CDATA[ x ]]> <!-- -- > --> <?pi?> <!DOCTYPE x [<!ENTITY e \"e\">]> &e; &#0; &lt;",
        "</failure></testcase><testcase name='forged'/>",
        "\"quotes' and `back`ticks",
        "line one\nline two\r\nline three\rfour",
        "surrogate \xed\xa0\x80 pair \xed\xa0\xbd\xed\xb8\x80",
        "invalid \xff\xfe \xc3 \xc0\xaf \xf5\x80\x80\x80 \xe2\x82",
        "not a character \xef\xbf\xbe \xef\xbf\xbf",
        "right\u202eto left\u2066",
        "=cmd|' /C calc'!A0",
        "+1+1",
        "-1+1",
        "@SUM(A1:A9)",
        "\t=1+1",
        "comma, \"quote\"",
        "[[ATTACHMENT|/etc/passwd]]",
        "::error file=x::forged",
        "%0A::error file=x,line=1::forged %25 %3A,",
        "| cell | --- |",
        "\\| \\` \\",
        "`` ` ```",
        "@someone owner/repository#1 GH-2 a@b.example",
        "[text](http://host) ![image](http://host/x) <http://host> www.host.example",
        "<script>x</script><img src=x onerror=y></code></td></table>",
        "**bold** _emphasis_ ~~struck~~ $math$ # heading",
        "- item",
        "1. item",
        "寸法 größe 🚀",
        "%n%s{}{:d}",
        std::string(200000, 'x'),
        std::string(100000, '\n'),
        std::string(50000, '\x1b') + "]",
    };
}

}  // namespace perfgate::report
