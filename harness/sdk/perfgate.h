/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plugin interface of perfgate: a C ABI, so that plugins from any compiler load.
 *
 * A plugin is one shared library, or two. The first, the descriptor module, describes workloads and
 * contains their host variants; it must load on a machine without CUDA. The second, named by
 * pg_plugin.cuda_module and found beside the first, contains the CUDA variants. If the second is
 * absent, the CUDA variants are listed as not built.
 *
 * Both export pg_plugin_entry (PG_PLUGIN_SYMBOL). Every struct starts with its size in bytes as the
 * plugin was compiled; the loader reads no field beyond it. All strings are UTF-8, owned by the
 * plugin and valid while it is loaded, unless said otherwise. No exception may leave a function.
 *
 * C++ authors use perfgate.hpp, which is built on this.
 */
#ifndef PERFGATE_SDK_PERFGATE_H
#define PERFGATE_SDK_PERFGATE_H

#include <stddef.h>
#include <stdint.h>

/* A C header: */
/* NOLINTBEGIN(modernize-use-using) */

#ifdef __cplusplus
extern "C" {
#endif

#define PG_ABI_MAJOR 1 /* another major number is refused */
#define PG_ABI_MINOR 4 /* fields appended since are recognised by the struct's size */
#define PG_PLUGIN_SYMBOL "pg_plugin_entry"

#if defined(_WIN32)
#define PG_EXPORT __declspec(dllexport)
#else
#define PG_EXPORT __attribute__((visibility("default")))
#endif

typedef enum pg_status {
    PG_OK = 0,
    PG_ERROR = 1,         /* anything else */
    PG_OUT_OF_MEMORY = 2, /* host or device memory ran out */
    PG_DEVICE_ERROR = 3,  /* a device error after which the context may be unusable */
    PG_UNSUPPORTED = 4    /* the variant cannot run these parameters on this machine */
} pg_status;

typedef enum pg_param_type { PG_BOOL = 0, PG_INT = 1, PG_REAL = 2, PG_TEXT = 3 } pg_param_type;
typedef enum pg_target { PG_HOST = 0, PG_CUDA = 1 } pg_target;

/* How a variant submits its work. */
typedef enum pg_submission {
    PG_ASYNC = 0,       /* launch() only enqueues on the given stream */
    PG_SYNCHRONOUS = 1, /* launch() may wait for the device */
    PG_GRAPH = 2        /* launch() launches a CUDA graph on the given stream */
} pg_submission;

/* One parameter of a workload. */
typedef struct pg_param {
    size_t size;
    const char* name; /* [a-z][a-z0-9_]* */
    const char* help;
    pg_param_type type;
    int64_t minimum, maximum;   /* PG_INT: inclusive bounds */
    const char* const* choices; /* PG_TEXT: NULL-terminated list of allowed values, or NULL */
    const char* default_value;  /* as text; NULL: the suite must set it */
    /* Since 1.3: NULL-terminated list, as text, of the values that a suite measures if it names
     * none. NULL: the default. */
    const char* const* values;
} pg_param;

/* A parameter's value for one case; all of the workload's parameters are given, sorted by name. */
typedef struct pg_value {
    const char* name;
    pg_param_type type;
    int64_t integer;  /* PG_INT, and PG_BOOL as 0 or 1 */
    double real;      /* PG_REAL */
    const char* text; /* PG_TEXT */
} pg_value;

typedef struct pg_values {
    size_t size;
    size_t count;
    const pg_value* values;
} pg_values;

/* What the harness provides to a plugin. */
typedef struct pg_host {
    size_t size;
    void* context;
    /* States why the running function is about to return something other than PG_OK. The text is
     * copied. */
    void (*set_error)(void* context, const char* message);
    /* A line for the log (stderr). The text is copied. */
    void (*log)(void* context, const char* message);
} pg_host;

/* The arithmetic type, which determines the peak rate of a machine: for a matrix product on tensor
 * cores the type of its inputs, else the type of the operations. */
typedef enum pg_arithmetic {
    PG_ARITHMETIC_UNSTATED = 0,
    PG_F32 = 1,
    PG_TF32 = 2,
    PG_F16 = 3,
    PG_BF16 = 4,
    PG_FP8 = 5
} pg_arithmetic;

typedef struct pg_work {
    size_t size;
    double flops; /* arithmetic operations that the result needs, a multiply-add counting 2 */
    double bytes; /* least bytes that must move: every input read once, every output written once */
    /* Since 1.1: the arithmetic type of the flops. Written only if `size`, which the harness sets,
     * covers this field. */
    pg_arithmetic arithmetic;
} pg_work;

typedef struct pg_verification {
    size_t size;
    int passed;
    char detail[512]; /* what was checked, or what was wrong; NUL-terminated */
} pg_verification;

/* What the elements of an output are, for messages. */
typedef enum pg_element {
    PG_ELEMENT_UNKNOWN = 0,
    PG_ELEMENT_FLOAT = 1, /* IEEE 754, of 2, 4 or 8 bytes */
    PG_ELEMENT_BFLOAT16 = 2,
    PG_ELEMENT_SIGNED = 3,
    PG_ELEMENT_UNSIGNED = 4
} pg_element;

/* Memory that a launch writes, every byte of it. */
typedef struct pg_output {
    size_t size;
    const char* name; /* for messages; NULL: none */
    void* data;       /* on the host; for CUDA also on the device, or managed */
    uint64_t bytes;
    uint32_t element_bytes; /* a divisor of `bytes`, at most 64; 0: unknown */
    uint32_t element;       /* a pg_element */
} pg_output;

/* Takes the outputs that a case names. */
typedef struct pg_outputs {
    size_t size;
    void* context;
    void (*add)(void* context, const pg_output* output); /* copies it, with its name */
} pg_outputs;

/* Takes what a process chose for a case, by name: "BLOCK", "128". */
typedef struct pg_choices {
    size_t size;
    void* context;
    void (*add)(void* context, const char* name, const char* value); /* copies both */
} pg_choices;

typedef struct pg_instance pg_instance; /* one case, set up; owned by the plugin */

/* One implementation of a workload. In a descriptor module, the functions of a CUDA variant are
 * NULL from `create` on. */
typedef struct pg_variant pg_variant;
struct pg_variant {
    size_t size;
    const void* user; /* the plugin's own; the harness does not touch it */
    const char* name;
    const char* help;
    pg_target target;
    pg_submission submission;
    int32_t min_compute_capability; /* 80 for 8.0; 0 for host variants */
    int32_t needs_reset; /* non-zero: launch() changes its inputs; reset() restores them */

    /* Whether the variant can run these parameters at all, on any machine. PG_OK or
     * PG_UNSUPPORTED with set_error. NULL: it can run all parameters. Present in descriptor
     * modules. */
    pg_status (*supports)(const pg_variant* self, const pg_host*, const pg_values*);
    /* Bytes of memory that create() allocates for the parameters (device memory for CUDA). NULL:
     * unknown. Present in descriptor modules. */
    uint64_t (*memory_bytes)(const pg_variant* self, const pg_values*);

    /* Sets up the case. CUDA: the harness's context is current; allocate device memory here. The
     * values are valid during the call only; the host table stays valid. */
    pg_status (*create)(const pg_variant* self, const pg_host*, const pg_values*,
                        pg_instance** out);
    void (*destroy)(pg_instance*);
    /* Generates the inputs for `seed`, fills the outputs with NaN (or 0xFF bytes), and waits until
     * both are done. */
    pg_status (*fill)(pg_instance*, uint64_t seed);
    /* Does the work once. `stream` is a CUstream (cudaStream_t), NULL for host variants. */
    pg_status (*launch)(pg_instance*, void* stream);
    /* Enqueues what restores the inputs. NULL unless needs_reset. */
    pg_status (*reset)(pg_instance*, void* stream);
    /* Compares the outputs of the last launch with a float64 reference for the inputs of the last
     * fill. The device is idle. Returns PG_OK even if the result is wrong. */
    pg_status (*verify)(pg_instance*, pg_verification* out);
    /* Since 1.2: calls `add` for each output, for suites that say `deterministic: true`. Called
     * after a launch, and again after a fill that follows one; what it names may move meanwhile.
     * The harness reads the outputs, and overwrites them between fill and launch (before reset, if
     * needs_reset). NULL: the case names none. */
    pg_status (*outputs)(pg_instance*, const pg_outputs*);
    /* Since 1.3: the work of this instance, if pg_workload.work does not state it. Called after a
     * fill. NULL: not stated. */
    pg_status (*work)(pg_instance*, pg_work* out);
    /* Since 1.4: compiles and tunes the case, so that no launch does. Called after each fill: may
     * launch, leaves inputs and outputs as fill does, waits, and adds what was chosen. The harness
     * reports how long it took, and compares the choices. NULL: a launch does nothing of this. */
    pg_status (*prepare)(pg_instance*, const pg_choices* chosen);
};

typedef struct pg_workload pg_workload;
struct pg_workload {
    size_t size;
    const void* user; /* the plugin's own */
    const char* name; /* [a-z][a-z0-9_]* */
    const char* help;
    const pg_param* const* params;     /* NULL-terminated */
    const pg_variant* const* variants; /* NULL-terminated */
    /* The work that the parameters ask for. NULL: not stated. */
    void (*work)(const pg_workload* self, const pg_values*, pg_work* out);
};

typedef struct pg_plugin {
    size_t size;
    uint32_t abi_major, abi_minor;
    const char* name;
    const char* cuda_module; /* file name without suffix of the second module, or NULL */
    const pg_workload* const* workloads; /* NULL-terminated */
} pg_plugin;

typedef const pg_plugin* (*pg_plugin_entry_fn)(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

/* NOLINTEND(modernize-use-using) */

#endif /* PERFGATE_SDK_PERFGATE_H */
