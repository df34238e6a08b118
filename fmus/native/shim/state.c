/* Saving and restoring an instance: fmi2XxxFMUstate. */
#include "instance.h"

#include <stdlib.h>
#include <string.h>

static const char MAGIC[8] = "DOCKFMU";

/* A state and its serialised form are the same bytes: this head, then the saved slots of `memory`, those of `before`
   that change, and `slope` of the instance. */
typedef struct {
    char magic[8];
    char guid[40];
    uint64_t byte_count;
    uint64_t checksum; /* of the bytes that follow this field; computed when serialising only */
    Progress progress;
} Head;

_Static_assert(sizeof(Progress) % 8 == 0 && sizeof(Head) % 8 == 0, "slots follow without padding");

static size_t state_bytes(void)
{
    return sizeof(Head) + ((size_t)model.saved_size + model.changing_size + model.averaged_count) * sizeof(double);
}

/* FNV-1a over 64-bit words: both Progress and the slots are multiples of 8 bytes. */
static uint64_t checksum(const Head *head)
{
    uint64_t hash = 14695981039346656037u, word;
    const char *byte = (const char *)&head->progress, *end = (const char *)head + state_bytes();
    for (; byte < end; byte += sizeof word) {
        memcpy(&word, byte, sizeof word);
        hash = (hash ^ word) * 1099511628211u;
    }
    return hash;
}

/* Is this a state of this FMU? If not, report that for `function`. */
static int is_state(const Instance *instance, const Head *head, const char *function)
{
    if (head && memcmp(head->magic, MAGIC, sizeof MAGIC) == 0 && strncmp(head->guid, model.guid, sizeof head->guid) == 0
        && head->byte_count == state_bytes())
        return 1;
    report(instance, fmi2Error, LOG_ERROR, "%s: this is not a state of %s %s", function, model.name, model.guid);
    return 0;
}

/* The state in `*state`, or a new one if that is NULL. NULL after a message. */
static Head *obtain(const Instance *instance, fmi2FMUstate *state, const char *function)
{
    if (*state) return is_state(instance, *state, function) ? *state : NULL;
    Head *head = calloc(1, state_bytes());
    if (!head) {
        report(instance, fmi2Error, LOG_ERROR, "%s: out of memory", function);
        return NULL;
    }
    memcpy(head->magic, MAGIC, sizeof MAGIC);
    strncpy(head->guid, model.guid, sizeof head->guid - 1);
    head->byte_count = state_bytes();
    return *state = head;
}

static int missing(const Instance *instance, const void *pointer, const char *function)
{
    if (pointer) return 0;
    report(instance, fmi2Error, LOG_ERROR, "%s: an argument is NULL", function);
    return 1;
}

/* Copy spans of `memory` to contiguous slots; return where the next slot goes. */
static double *pack(double *slots, const double *memory, const Span *spans, uint32_t count)
{
    for (const Span *span = spans; span < spans + count; slots += span++->count)
        memcpy(slots, memory + span->first, span->count * sizeof *slots);
    return slots;
}

/* Copy back the spans that `pack` has copied; return where the next slot is. */
static const double *unpack(double *memory, const double *slots, const Span *spans, uint32_t count)
{
    for (const Span *span = spans; span < spans + count; slots += span++->count)
        memcpy(memory + span->first, slots, span->count * sizeof *slots);
    return slots;
}

fmi2Status fmi2GetFMUstate(fmi2Component component, fmi2FMUstate *state)
{
    Instance *instance = expect(component, ANY_PHASE, "fmi2GetFMUstate");
    if (!instance || missing(instance, state, "fmi2GetFMUstate")) return fmi2Error;
    Head *head = obtain(instance, state, "fmi2GetFMUstate");
    if (!head) return fmi2Error;
    head->progress = instance->progress;
    double *slots = pack((double *)(head + 1), instance->memory, model.saved, model.saved_count);
    slots = pack(slots, instance->before, model.changing, model.changing_count);
    memcpy(slots, instance->slope, model.averaged_count * sizeof *slots);
    return fmi2OK;
}

fmi2Status fmi2SetFMUstate(fmi2Component component, fmi2FMUstate state)
{
    Instance *instance = expect(component, ANY_PHASE, "fmi2SetFMUstate");
    if (!instance || !is_state(instance, state, "fmi2SetFMUstate")) return fmi2Error;
    const Head *head = state;
    instance->progress = head->progress;
    const double *slots = (const double *)(head + 1);
    slots = unpack(instance->memory, slots, model.saved, model.saved_count);
    slots = unpack(instance->before, slots, model.changing, model.changing_count);
    memcpy(instance->slope, slots, model.averaged_count * sizeof *slots);
    return fmi2OK;
}

fmi2Status fmi2FreeFMUstate(fmi2Component component, fmi2FMUstate *state)
{
    Instance *instance = expect(component, ANY_PHASE, "fmi2FreeFMUstate");
    if (!instance) return fmi2Error;
    if (!state || !*state) return fmi2OK;
    if (!is_state(instance, *state, "fmi2FreeFMUstate")) return fmi2Error;
    memset(*state, 0, sizeof(Head));
    free(*state);
    *state = NULL;
    return fmi2OK;
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component component, fmi2FMUstate state, size_t *size)
{
    Instance *instance = expect(component, ANY_PHASE, "fmi2SerializedFMUstateSize");
    if (!instance || missing(instance, size, "fmi2SerializedFMUstateSize")
        || !is_state(instance, state, "fmi2SerializedFMUstateSize"))
        return fmi2Error;
    *size = state_bytes();
    return fmi2OK;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component component, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
    Instance *instance = expect(component, ANY_PHASE, "fmi2SerializeFMUstate");
    if (!instance || missing(instance, bytes, "fmi2SerializeFMUstate")
        || !is_state(instance, state, "fmi2SerializeFMUstate"))
        return fmi2Error;
    if (size < state_bytes())
        return report(instance, fmi2Error, LOG_ERROR, "fmi2SerializeFMUstate: %zu bytes are given, %zu are needed",
                      size, state_bytes());
    Head *head = state;
    head->checksum = checksum(head);
    memcpy(bytes, head, state_bytes());
    return fmi2OK;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component component, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state)
{
    Instance *instance = expect(component, ANY_PHASE, "fmi2DeSerializeFMUstate");
    if (!instance || missing(instance, bytes, "fmi2DeSerializeFMUstate")
        || missing(instance, state, "fmi2DeSerializeFMUstate"))
        return fmi2Error;
    if (size != state_bytes())
        return report(instance, fmi2Error, LOG_ERROR,
                      "fmi2DeSerializeFMUstate: %zu bytes are given, a state of %s has %zu", size, model.name,
                      state_bytes());
    Head *copy = malloc(size);
    if (!copy) return report(instance, fmi2Error, LOG_ERROR, "fmi2DeSerializeFMUstate: out of memory");
    memcpy(copy, bytes, size);
    fmi2Status status = fmi2OK;
    if (!is_state(instance, copy, "fmi2DeSerializeFMUstate"))
        status = fmi2Error;
    else if (copy->checksum != checksum(copy))
        status = report(instance, fmi2Error, LOG_ERROR, "fmi2DeSerializeFMUstate: the bytes are damaged");
    else {
        Head *head = obtain(instance, state, "fmi2DeSerializeFMUstate");
        if (head) memcpy(head, copy, size);
        else status = fmi2Error;
    }
    free(copy);
    return status;
}
