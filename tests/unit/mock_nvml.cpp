// SPDX-License-Identifier: Apache-2.0
// NVML on a machine whose device has two active NVLinks of three.

extern "C" {

/// What the tests set: MB/s of the second active link, 0 if it is not reported.
unsigned mock_link_speed = 0;

struct FieldValue {
    unsigned field, scope;
    long long timestamp, latency_us;
    int type, code;
    unsigned value, rest;
};

int nvmlInit_v2() {
    return 0;
}

int nvmlDeviceGetHandleByUUID(const char* /*uuid*/, void** device) {
    *device = nullptr;
    return 0;
}

int nvmlDeviceGetFieldValues(void* /*device*/, int count, FieldValue* values) {
    constexpr int not_supported = 3;
    for (FieldValue* each = values; each != values + count; ++each) {
        const unsigned speeds[] = {26'562, 0, mock_link_speed};
        each->code = 0;
        if (each->field == 91) {
            each->value = 3;
        } else if (each->field == 164 && each->scope < 3 && speeds[each->scope] != 0) {
            each->value = speeds[each->scope];
        } else {
            each->code = not_supported;
        }
    }
    return 0;
}

int nvmlDeviceGetNvLinkState(void* /*device*/, unsigned link, unsigned* active) {
    *active = link != 1 ? 1 : 0;
    return 0;
}
}
