// SPDX-License-Identifier: Apache-2.0
// NVML on a machine whose device has two active NVLinks of three.

extern "C" {

// What the tests set.
unsigned mock_link_speed = 0;    ///< MB/s of the second active link
unsigned mock_common_speed = 0;  ///< 0: not supported
int mock_count_code = 0;         ///< instead of the number of links

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
            each->code = mock_count_code;
        } else if (each->field == 164 && each->scope < 3) {
            each->value = speeds[each->scope];
        } else if (each->field == 90 && mock_common_speed != 0) {
            each->value = mock_common_speed;
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
