// SPDX-License-Identifier: Apache-2.0
#include "inject/nvtx_hooks.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <new>
#include <span>
#include <string>

namespace perfgate::inject {
namespace {

using activity::StringId;

/// Ranges that a thread has open; deeper ones are not recorded.
constexpr std::size_t deepest = 128;

RangeSink* sink = nullptr;

/// What NVTX's handles of domains and registered strings point to. They are never freed: the
/// program may use a handle until it ends.
struct Named {
    StringId name = 0;
};

struct Open {
    const Named* domain = nullptr;
    std::uint32_t id = 0;
};
/// Plain data, without a destructor: ranges may still end after the thread's destructors have run.
thread_local std::array<Open, deepest> open_ranges;
thread_local std::size_t open_count = 0;

/// UTF-8 of a wide string passed to NVTX.
std::string narrow(const wchar_t* text) {
    std::string result;
    if (text == nullptr) return result;
    for (const wchar_t letter : std::wstring_view(text)) {
        std::uint32_t code = 0;  // a wchar_t is signed
        static_assert(sizeof(letter) == sizeof(code));
        std::memcpy(&code, &letter, sizeof(code));
        const auto add = [&](std::uint32_t bits) { result += static_cast<char>(bits); };
        if (code < 0x80) {
            add(code);
        } else if (code < 0x800) {
            add(0xC0 | code >> 6);
            add(0x80 | (code & 0x3F));
        } else if (code < 0x10000) {
            add(0xE0 | code >> 12);
            add(0x80 | (code >> 6 & 0x3F));
            add(0x80 | (code & 0x3F));
        } else {
            add(0xF0 | (code >> 18 & 0x07));
            add(0x80 | (code >> 12 & 0x3F));
            add(0x80 | (code >> 6 & 0x3F));
            add(0x80 | (code & 0x3F));
        }
    }
    return result;
}

StringId wide(const wchar_t* text) noexcept {
    try {
        return sink->text(narrow(text));
    } catch (...) {
        return 0;
    }
}

StringId plain(const char* text) noexcept {
    return text == nullptr ? 0 : sink->text(text);
}

StringId message_of(const nvtxEventAttributes_t* event) noexcept {
    if (event == nullptr) return 0;
    switch (event->messageType) {
        case NVTX_MESSAGE_TYPE_ASCII:
            return plain(event->message.ascii);
        case NVTX_MESSAGE_TYPE_UNICODE:
            return wide(event->message.unicode);
        case NVTX_MESSAGE_TYPE_REGISTERED: {
            const auto* named = reinterpret_cast<const Named*>(event->message.registered);
            return named == nullptr ? 0 : named->name;
        }
        default:
            return 0;
    }
}

const Named* domain_of(nvtxDomainHandle_t domain) noexcept {
    return reinterpret_cast<const Named*>(domain);
}

template <class Handle>
Handle handle_of(StringId name) noexcept {
    return reinterpret_cast<Handle>(new (std::nothrow) Named{name});
}

std::uint32_t begin_in(const Named* domain, StringId name) noexcept {
    return sink->begin(domain == nullptr ? 0 : domain->name, name);
}

/// The nesting level, as returned by NVTX's push and pop.
int push(const Named* domain, StringId name) noexcept {
    if (!sink->recording()) return 0;
    const std::size_t level = open_count++;
    if (level < deepest) open_ranges[level] = {domain, begin_in(domain, name)};
    return static_cast<int>(level);
}

/// Ends the innermost range of the domain, which need not be the innermost of the thread.
int pop(const Named* domain) noexcept {
    if (open_count > deepest) return static_cast<int>(--open_count);
    for (std::size_t i = open_count; i-- > 0;) {
        if (open_ranges[i].domain != domain) continue;
        sink->end(open_ranges[i].id);
        const auto place = open_ranges.begin() + static_cast<std::ptrdiff_t>(i);
        std::move(place + 1, open_ranges.begin() + static_cast<std::ptrdiff_t>(open_count), place);
        return static_cast<int>(--open_count);
    }
    return -1;
}

nvtxRangeId_t start(const Named* domain, StringId name) noexcept {
    return begin_in(domain, name);
}

void end(nvtxRangeId_t id) noexcept {
    sink->end(static_cast<std::uint32_t>(id));
}

struct Entry {
    unsigned int id;
    NvtxFunctionPointer function;
};

template <class Function>
struct Throwing;
template <class Result, class... Arguments>
struct Throwing<Result (*)(Arguments...)> {
    using Nothing = Result (*)(Arguments...) noexcept;
};

/// A function of NVTX's table; the type ensures that it matches the id, and that nothing is thrown
/// into the program.
template <class Function>
NvtxFunctionPointer entry(typename Throwing<Function>::Nothing function) {
    return reinterpret_cast<NvtxFunctionPointer>(function);
}

const Entry core_functions[] = {
    {NVTX_CBID_CORE_RangePushA, entry<nvtxRangePushA_impl_fntype>([](const char* t) noexcept {
         return push(nullptr, plain(t));
     })},
    {NVTX_CBID_CORE_RangePushW, entry<nvtxRangePushW_impl_fntype>([](const wchar_t* t) noexcept {
         return push(nullptr, wide(t));
     })},
    {NVTX_CBID_CORE_RangePushEx,
     entry<nvtxRangePushEx_impl_fntype>(
         [](const nvtxEventAttributes_t* e) noexcept { return push(nullptr, message_of(e)); })},
    {NVTX_CBID_CORE_RangePop,
     entry<nvtxRangePop_impl_fntype>([]() noexcept { return pop(nullptr); })},
    {NVTX_CBID_CORE_RangeStartA, entry<nvtxRangeStartA_impl_fntype>([](const char* t) noexcept {
         return start(nullptr, plain(t));
     })},
    {NVTX_CBID_CORE_RangeStartW, entry<nvtxRangeStartW_impl_fntype>([](const wchar_t* t) noexcept {
         return start(nullptr, wide(t));
     })},
    {NVTX_CBID_CORE_RangeStartEx,
     entry<nvtxRangeStartEx_impl_fntype>(
         [](const nvtxEventAttributes_t* e) noexcept { return start(nullptr, message_of(e)); })},
    {NVTX_CBID_CORE_RangeEnd,
     entry<nvtxRangeEnd_impl_fntype>([](nvtxRangeId_t id) noexcept { end(id); })},
};

const Entry domain_functions[] = {
    {NVTX_CBID_CORE2_DomainRangePushEx,
     entry<nvtxDomainRangePushEx_impl_fntype>(
         [](nvtxDomainHandle_t d, const nvtxEventAttributes_t* e) noexcept {
             return push(domain_of(d), message_of(e));
         })},
    {NVTX_CBID_CORE2_DomainRangePop,
     entry<nvtxDomainRangePop_impl_fntype>(
         [](nvtxDomainHandle_t d) noexcept { return pop(domain_of(d)); })},
    {NVTX_CBID_CORE2_DomainRangeStartEx,
     entry<nvtxDomainRangeStartEx_impl_fntype>(
         [](nvtxDomainHandle_t d, const nvtxEventAttributes_t* e) noexcept {
             return start(domain_of(d), message_of(e));
         })},
    {NVTX_CBID_CORE2_DomainRangeEnd,
     entry<nvtxDomainRangeEnd_impl_fntype>(
         [](nvtxDomainHandle_t, nvtxRangeId_t id) noexcept { end(id); })},
    {NVTX_CBID_CORE2_DomainRegisterStringA,
     entry<nvtxDomainRegisterStringA_impl_fntype>([](nvtxDomainHandle_t, const char* t) noexcept {
         return handle_of<nvtxStringHandle_t>(plain(t));
     })},
    {NVTX_CBID_CORE2_DomainRegisterStringW, entry<nvtxDomainRegisterStringW_impl_fntype>(
                                                [](nvtxDomainHandle_t, const wchar_t* t) noexcept {
                                                    return handle_of<nvtxStringHandle_t>(wide(t));
                                                })},
    {NVTX_CBID_CORE2_DomainCreateA,
     entry<nvtxDomainCreateA_impl_fntype>(
         [](const char* t) noexcept { return handle_of<nvtxDomainHandle_t>(plain(t)); })},
    {NVTX_CBID_CORE2_DomainCreateW,
     entry<nvtxDomainCreateW_impl_fntype>(
         [](const wchar_t* t) noexcept { return handle_of<nvtxDomainHandle_t>(wide(t)); })},
};

bool take(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module,
          std::span<const Entry> entries) {
    NvtxFunctionTable table = nullptr;
    unsigned int size = 0;
    if (callbacks.GetModuleFunctionTable(module, &table, &size) == 0 || table == nullptr) {
        return false;
    }
    for (const Entry& each : entries) {
        if (each.id < size && table[each.id] != nullptr) *table[each.id] = each.function;
    }
    return true;
}

}  // namespace

int take_ranges(NvtxGetExportTableFunc_t export_table, RangeSink& new_sink) noexcept {
    const auto* callbacks =
        static_cast<const NvtxExportTableCallbacks*>(export_table(NVTX_ETID_CALLBACKS));
    if (callbacks == nullptr || callbacks->struct_size < sizeof(*callbacks)) return 0;
    sink = &new_sink;
    const bool core = take(*callbacks, NVTX_CB_MODULE_CORE, core_functions);
    return take(*callbacks, NVTX_CB_MODULE_CORE2, domain_functions) || core ? 1 : 0;
}

}  // namespace perfgate::inject
