/* fmi2GetXXX and fmi2SetXXX. A refused call changes nothing. */
#include "instance.h"

#include <math.h>

static const char *type_name(int type)
{
    switch (type) {
    case TYPE_REAL: return "Real";
    case TYPE_INTEGER: return "Integer or Enumeration";
    default: return "Boolean";
    }
}

enum { READABLE = INITIALIZATION_MODE | STEP_COMPLETE | STEP_FAILED | TERMINATED | FAILED };
enum { WRITABLE = INSTANTIATED | INITIALIZATION_MODE | STEP_COMPLETE };

static int readable(const Instance *instance, fmi2ValueReference reference, int type, const char *function)
{
    if (reference < model.state_size && (model.access[reference] & TYPE_MASK) == type) return 1;
    if (known(instance, reference, function))
        report(instance, fmi2Error, LOG_ERROR, "%s: %s is of type %s", function, variable_in(reference)->name,
               type_name(model.access[reference] & TYPE_MASK));
    return 0;
}

/* Can the variable `reference` of `type` be set to `value` now? If not, report why. */
static int acceptable(const Instance *instance, fmi2ValueReference reference, int type, double value,
                      const char *function)
{
    if (!readable(instance, reference, type, function)) return 0;
    int access = model.access[reference];
    int between_steps = instance->progress.phase == STEP_COMPLETE;
    if (!(access & (between_steps ? SET_BETWEEN_STEPS : SET_BEFORE_STEPS))) {
        report(instance, fmi2Error, LOG_ERROR, "%s: %s cannot be set %s", function, variable_in(reference)->name,
               access & SET_BEFORE_STEPS ? "after initialization" : "from outside");
        return 0;
    }
    if (!isfinite(value)) {
        report(instance, fmi2Error, LOG_ERROR, "%s: %s = %g is not finite", function, variable_in(reference)->name,
               value);
        return 0;
    }
    if (access & BOUNDED) {
        const Variable *variable = variable_in(reference);
        if (value < variable->minimum || value > variable->maximum) {
            report(instance, fmi2Error, LOG_ERROR, "%s: %s = %.9g lies outside [%.9g, %.9g]", function, variable->name,
                   value, variable->minimum, variable->maximum);
            return 0;
        }
    }
    return 1;
}

static void store(Instance *instance, fmi2ValueReference reference, double value)
{
    instance->memory[reference] = value;
    instance->progress.initialize_needed = 1;
}

fmi2Status fmi2GetReal(fmi2Component component, const fmi2ValueReference references[], size_t count, fmi2Real values[])
{
    Instance *instance = expect_arrays(component, READABLE, "fmi2GetReal", count, references, values);
    if (!instance || update(instance) != fmi2OK) return fmi2Error;
    for (size_t i = 0; i < count; i++) {
        if (!readable(instance, references[i], TYPE_REAL, "fmi2GetReal")) return fmi2Error;
        values[i] = instance->memory[references[i]];
    }
    return fmi2OK;
}

fmi2Status fmi2GetInteger(fmi2Component component, const fmi2ValueReference references[], size_t count,
                          fmi2Integer values[])
{
    Instance *instance = expect_arrays(component, READABLE, "fmi2GetInteger", count, references, values);
    if (!instance || update(instance) != fmi2OK) return fmi2Error;
    for (size_t i = 0; i < count; i++) {
        if (!readable(instance, references[i], TYPE_INTEGER, "fmi2GetInteger")) return fmi2Error;
        values[i] = (fmi2Integer)instance->memory[references[i]];
    }
    return fmi2OK;
}

fmi2Status fmi2GetBoolean(fmi2Component component, const fmi2ValueReference references[], size_t count,
                          fmi2Boolean values[])
{
    Instance *instance = expect_arrays(component, READABLE, "fmi2GetBoolean", count, references, values);
    if (!instance || update(instance) != fmi2OK) return fmi2Error;
    for (size_t i = 0; i < count; i++) {
        if (!readable(instance, references[i], TYPE_BOOLEAN, "fmi2GetBoolean")) return fmi2Error;
        values[i] = instance->memory[references[i]] != 0.0 ? fmi2True : fmi2False;
    }
    return fmi2OK;
}

/* Components have no variables of type String: only an empty array is accepted. */
static fmi2Status no_strings(const Instance *instance, const fmi2ValueReference references[], size_t count,
                             const char *function)
{
    if (!instance) return fmi2Error;
    if (count == 0) return fmi2OK;
    if (known(instance, references[0], function))
        report(instance, fmi2Error, LOG_ERROR, "%s: %s is of type %s", function, variable_in(references[0])->name,
               type_name(model.access[references[0]] & TYPE_MASK));
    return fmi2Error;
}

fmi2Status fmi2GetString(fmi2Component component, const fmi2ValueReference references[], size_t count,
                         fmi2String values[])
{
    return no_strings(expect_arrays(component, READABLE, "fmi2GetString", count, references, values), references,
                      count, "fmi2GetString");
}

fmi2Status fmi2SetReal(fmi2Component component, const fmi2ValueReference references[], size_t count,
                       const fmi2Real values[])
{
    Instance *instance = expect_arrays(component, WRITABLE, "fmi2SetReal", count, references, values);
    if (!instance) return fmi2Error;
    for (size_t i = 0; i < count; i++)
        if (!acceptable(instance, references[i], TYPE_REAL, values[i], "fmi2SetReal")) return fmi2Error;
    for (size_t i = 0; i < count; i++) store(instance, references[i], values[i]);
    return fmi2OK;
}

fmi2Status fmi2SetInteger(fmi2Component component, const fmi2ValueReference references[], size_t count,
                          const fmi2Integer values[])
{
    Instance *instance = expect_arrays(component, WRITABLE, "fmi2SetInteger", count, references, values);
    if (!instance) return fmi2Error;
    for (size_t i = 0; i < count; i++)
        if (!acceptable(instance, references[i], TYPE_INTEGER, values[i], "fmi2SetInteger")) return fmi2Error;
    for (size_t i = 0; i < count; i++) store(instance, references[i], values[i]);
    return fmi2OK;
}

fmi2Status fmi2SetBoolean(fmi2Component component, const fmi2ValueReference references[], size_t count,
                          const fmi2Boolean values[])
{
    Instance *instance = expect_arrays(component, WRITABLE, "fmi2SetBoolean", count, references, values);
    if (!instance) return fmi2Error;
    for (size_t i = 0; i < count; i++)
        if (!acceptable(instance, references[i], TYPE_BOOLEAN, values[i], "fmi2SetBoolean")) return fmi2Error;
    for (size_t i = 0; i < count; i++) store(instance, references[i], values[i] != fmi2False);
    return fmi2OK;
}

fmi2Status fmi2SetString(fmi2Component component, const fmi2ValueReference references[], size_t count,
                         const fmi2String values[])
{
    return no_strings(expect_arrays(component, WRITABLE, "fmi2SetString", count, references, values), references,
                      count, "fmi2SetString");
}
