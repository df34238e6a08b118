#include "instance.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE_SIZE = 2048 };

static const char *category_name(Category category)
{
    switch (category) {
    case LOG_EVENTS: return "logEvents";
    case LOG_DISCARD: return "logStatusDiscard";
    default: return "logStatusError";
    }
}

/* Send the text as a message of the category `name`. */
static fmi2Status send(const Instance *instance, fmi2Status status, const char *name, const char *text)
{
    char escaped[2 * MESSAGE_SIZE];
    /* The message is a format string of printf to some importers and plain text to others; doubled per cent signs
       and no arguments serve both. */
    char *end = escaped;
    for (const char *c = text; *c; c++) {
        if (*c == '%') *end++ = '%';
        *end++ = *c;
    }
    *end = 0;
    instance->callbacks.logger(instance->callbacks.componentEnvironment, instance->name ? instance->name : "", status,
                               name, escaped);
    return status;
}

static int is_logged(const Instance *instance, Category category)
{
    return instance->callbacks.logger && (category == LOG_ERROR || (instance->logged & category));
}

fmi2Status report(const Instance *instance, fmi2Status status, Category category, const char *format, ...)
{
    char text[MESSAGE_SIZE];
    va_list arguments;
    if (!is_logged(instance, category)) return status;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return send(instance, status, category_name(category), text);
}

const char *phase_name(uint32_t phase)
{
    switch (phase) {
    case INSTANTIATED: return "before initialization mode";
    case INITIALIZATION_MODE: return "in initialization mode";
    case STEP_COMPLETE: return "between steps";
    case STEP_FAILED: return "after a discarded step";
    case TERMINATED: return "after termination";
    default: return "after an error";
    }
}

/* Codes without a message: a kernel raised a Python exception, or computed a value that is not finite. */
enum { RAISED = INT32_MIN, NOT_FINITE };

/* The highest bit is set if `value` is infinite or NaN: its exponent has only ones, and adding one overflows. */
static uint64_t overflow(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits & 0x7ff0000000000000u) + 0x0010000000000000u;
}

static int is_finite(double value)
{
    return overflow(value) >> 63 == 0;
}

/* The code of a kernel, given the status of its call, or one of the above. */
static int32_t result_of(const Instance *instance, int32_t status, int32_t code)
{
    if (status != 0 && status != -2) return RAISED;
    if (code) return code;
    uint64_t seen = 0;
    for (uint32_t k = 0; k < model.computed_count; k++) seen |= overflow(instance->memory[model.computed[k]]);
    return seen >> 63 ? NOT_FINITE : 0;
}

static const Message *message_of(int32_t code)
{
    for (uint32_t i = 0; i < model.message_count; i++)
        if (model.messages[i].code == code) return &model.messages[i];
    return NULL;
}

/* Write the meaning of a code into `text`, with the values in memory. */
static void describe(const Instance *instance, int32_t code, char *text, size_t size)
{
    const Message *message = message_of(code);
    for (uint32_t k = 0; code == NOT_FINITE && k < model.computed_count; k++)
        if (!is_finite(instance->memory[model.computed[k]])) {
            snprintf(text, size, "%s = %g is not finite", variable_in(model.computed[k])->name,
                     instance->memory[model.computed[k]]);
            return;
        }
    if (!message) {
        snprintf(text, size, "the component returned the unknown status %d", (int)code);
        return;
    }
    size_t used = 0;
    text[0] = 0;
    for (uint32_t k = 0; k < message->piece_count && used < size; k++) {
        const Piece *piece = &message->pieces[k];
        used += (size_t)snprintf(text + used, size - used, "%s", piece->text);
        if (!piece->format || used >= size) continue;
        double value = instance->memory[piece->slot];
        if (value >= 1.0 && value <= (double)piece->name_count)
            used += (size_t)snprintf(text + used, size - used, "%s", piece->names[(uint32_t)value - 1]);
        else
            used += (size_t)snprintf(text + used, size - used, piece->format, value);
    }
}

Instance *expect(fmi2Component component, int phases, const char *function)
{
    Instance *instance = component;
    if (!instance) return NULL;
    const Progress *progress = &instance->progress;
    if (progress->phase & (uint32_t)phases) return instance;
    char reason[MESSAGE_SIZE] = "";
    if (progress->phase & (STEP_FAILED | FAILED)) describe(instance, progress->code, reason, sizeof reason);
    report(instance, fmi2Error, LOG_ERROR, "%s: must not be called %s%s%s%s", function, phase_name(progress->phase),
           *reason ? " (" : "", reason, *reason ? ")" : "");
    return NULL;
}

Instance *expect_arrays(fmi2Component component, int phases, const char *function, size_t count, const void *first,
                        const void *second)
{
    Instance *instance = expect(component, phases, function);
    if (!instance || count == 0 || (first && second)) return instance;
    report(instance, fmi2Error, LOG_ERROR, "%s: an array of %zu elements is NULL", function, count);
    return NULL;
}

static int by_slot(const void *key, const void *element)
{
    uint32_t wanted = *(const uint32_t *)key, slot = ((const Variable *)element)->slot;
    return (wanted > slot) - (wanted < slot);
}

const Variable *variable_in(fmi2ValueReference slot)
{
    return bsearch(&slot, model.variables, model.variable_count, sizeof *model.variables, by_slot);
}

int known(const Instance *instance, fmi2ValueReference reference, const char *function)
{
    if (reference < model.state_size && model.access[reference]) return 1;
    report(instance, fmi2Error, LOG_ERROR, "%s: no variable has the value reference %u", function, reference);
    return 0;
}

void copy_spans(double *to, const double *from, const Span *spans, uint32_t count)
{
    for (const Span *span = spans; span < spans + count; span++)
        memcpy(to + span->first, from + span->first, span->count * sizeof *to);
}

int32_t run_initialize(Instance *instance)
{
    int32_t code = 0;
    void *exception = NULL;
    for (uint32_t slot = 0; slot < model.state_size; slot++)
        if (!(model.access[slot] & SET_BEFORE_STEPS))
            instance->memory[slot] = slot < model.start_count ? model.start[slot] : 0.0;
    if (model.start_time != NO_SLOT) instance->memory[model.start_time] = instance->progress.start_time;
    int32_t status = kernel_initialize(&code, &exception, instance->memory);
    return result_of(instance, status, code);
}

int32_t run_step(Instance *instance, double t, double h)
{
    int32_t code = 0;
    void *exception = NULL;
    int32_t status = kernel_step(&code, &exception, instance->memory, t, h);
    return result_of(instance, status, code);
}

int is_category(const char *name)
{
    for (uint32_t i = 0; i < model.message_count; i++)
        if (model.messages[i].category && !strcmp(model.messages[i].category, name)) return 1;
    return 0;
}

fmi2Status status_of(int32_t code)
{
    const Message *message = message_of(code);
    if (code == 0) return fmi2OK;
    return message && message->discard ? fmi2Discard : fmi2Error;
}

fmi2Status explain(const Instance *instance, int32_t code, int in_step, const char *where)
{
    int discard = in_step && status_of(code) == fmi2Discard;
    fmi2Status status = discard ? fmi2Discard : fmi2Error;
    Category category = discard ? LOG_DISCARD : LOG_ERROR;
    const Message *message = message_of(code);
    char text[MESSAGE_SIZE];
    if (!is_logged(instance, category)) return status;
    int used = snprintf(text, sizeof text, "%s: ", where);
    if (used > 0 && (size_t)used < sizeof text) describe(instance, code, text + used, sizeof text - (size_t)used);
    return send(instance, status, message && message->category ? message->category : category_name(category), text);
}

fmi2Status update(Instance *instance)
{
    Progress *progress = &instance->progress;
    if (progress->phase != INITIALIZATION_MODE || !progress->initialize_needed) return fmi2OK;
    int32_t code = run_initialize(instance);
    progress->code = code;
    if (code) {
        char where[64];
        snprintf(where, sizeof where, "initialization at t = %.9g s", progress->start_time);
        progress->phase = FAILED;
        return explain(instance, code, 0, where);
    }
    progress->initialize_needed = 0;
    return fmi2OK;
}
