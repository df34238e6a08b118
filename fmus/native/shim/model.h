/* What the exporter writes for each FMU (tables.c): the description of one component, and its two kernels. */
#ifndef MODEL_H
#define MODEL_H

#include <stdint.h>

/* What a slot of memory holds and how it may be accessed; 0 for a slot without a public variable. */
enum {
    TYPE_REAL = 1,
    TYPE_INTEGER = 2, /* enumerations too */
    TYPE_BOOLEAN = 3,
    TYPE_MASK = 3,
    SET_BEFORE_STEPS = 1 << 2, /* parameters and inputs: until initialisation mode is left */
    SET_BETWEEN_STEPS = 1 << 3, /* inputs and tunable parameters: afterwards too */
    BOUNDED = 1 << 4,
    CONTINUOUS_INPUT = 1 << 5,
    IS_OUTPUT = 1 << 6
};

typedef struct {
    const char *name;
    uint32_t slot;
    double minimum, maximum; /* -HUGE_VAL, HUGE_VAL where there is no bound */
    double nominal;
} Variable;

/* A piece of a message: `text`, then the value of `slot`: printed with `format`, if there is a format, or, if the piece
   has names, that of the part with this number, from 1. */
typedef struct {
    const char *text;
    const char *format;
    uint32_t slot;
    uint32_t name_count;
    const char *const *names;
} Piece;

typedef struct {
    int32_t code;
    int discard; /* a shorter step could avoid the failure */
    const char *category; /* of its own, NULL for that of the status */
    uint32_t piece_count;
    const Piece *pieces;
} Message;

/* Contiguous slots. */
typedef struct {
    uint32_t first, count;
} Span;

#define NO_SLOT UINT32_MAX

/* A file of little-endian float64 that fills `count` slots from `first` on. */
typedef struct {
    const char *file;
    uint32_t first, count;
} Resource;

typedef struct {
    const char *name;
    const char *guid;
    uint32_t size;        /* slots of an instance's memory; a value reference is a slot */
    uint32_t state_size;  /* leading slots that are not tables; they include all variables */
    uint32_t saved_size;  /* slots among them that form the saved state: the others are written before they are read */
    uint32_t changing_size; /* saved slots that can change after initialisation */
    uint32_t start_count; /* leading slots with a start value; zero beyond */
    uint32_t start_time;  /* slot of the start time for kernel_initialize, or NO_SLOT */
    uint32_t variable_count;
    uint32_t averaged_count;
    uint32_t message_count;
    uint32_t resource_count;
    uint32_t computed_count;
    uint32_t saved_count, changing_count;
    double step; /* of the default experiment, s */
    const double *start;
    const uint8_t *access;     /* of each slot of the state */
    const Variable *variables; /* in the order of their slots */
    const uint32_t *averaged;  /* slots of the inputs that the kernel applies as their mean over a step, ascending */
    const Message *messages;
    const Resource *resources;
    const uint32_t *computed; /* slots of the Real variables that the kernels compute */
    const Span *saved, *changing;
} Model;

extern const Model model;

/* numba's calling convention: the kernel's own result goes through `result`; the value returned is the status of the
   call, 0 or -2, or anything else for a Python exception, which kernels do not raise. */
int32_t kernel_initialize(int32_t *result, void **exception, double *memory);
int32_t kernel_step(int32_t *result, void **exception, double *memory, double t, double h);

#endif
