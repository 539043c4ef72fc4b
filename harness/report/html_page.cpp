// SPDX-License-Identifier: Apache-2.0
// The assembler includes the file as it is: this needs no generator, and the compiler does not
// parse half a megabyte of digits.
#include "report/html_page.hpp"

#include <cstddef>

// PERFGATE_HTML_PAGE is the file, "…/report.html".
__asm__(
    ".pushsection .rodata\n"
    ".hidden perfgate_html_page\n"
    ".hidden perfgate_html_page_end\n"
    ".global perfgate_html_page\n"
    ".global perfgate_html_page_end\n"
    "perfgate_html_page:\n"
    ".incbin \"" PERFGATE_HTML_PAGE
    "\"\n"
    "perfgate_html_page_end:\n"
    ".byte 0\n"
    ".popsection\n");

extern "C" {
extern const char perfgate_html_page[];
extern const char perfgate_html_page_end[];
}

namespace perfgate::report {

std::string_view html_page() {
    return {perfgate_html_page,
            static_cast<std::size_t>(perfgate_html_page_end - perfgate_html_page)};
}

}  // namespace perfgate::report
