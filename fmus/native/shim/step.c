/* fmi2DoStep, the derivatives of inputs that it uses, and the queries of its status. */
#include "instance.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A step must begin where the last one ended. Importers compute the time in their own ways (sums, multiples, integer
   nanoseconds); a thousandth of a step is far beyond their rounding and far below a mistake. */
static int same_time(double given, double own, double step)
{
    return fabs(given - own) <= 1e-3 * step + 4.0 * DBL_EPSILON * fabs(own);
}

/* Set the inputs that are applied as a mean to their mean over the coming step. */
static void apply_slopes(Instance *instance, double h)
{
    for (uint32_t k = 0; k < model.averaged_count; k++)
        instance->memory[model.averaged[k]] += 0.5 * h * instance->slope[k];
}

/* After the step, restore for each input the value that was set, kept in `scratch`, and no derivative. */
static void remove_slopes(Instance *instance)
{
    for (uint32_t k = 0; k < model.averaged_count; k++) {
        instance->memory[model.averaged[k]] = instance->scratch[k];
        instance->slope[k] = 0.0;
    }
    instance->progress.slopes_set = 0;
}

fmi2Status fmi2DoStep(fmi2Component component, fmi2Real t, fmi2Real h, fmi2Boolean no_rollback)
{
    (void)no_rollback;
    Instance *instance = expect(component, STEP_COMPLETE, "fmi2DoStep");
    if (!instance) return fmi2Error;
    Progress *progress = &instance->progress;
    if (!(isfinite(h) && h > 0.0))
        return report(instance, fmi2Error, LOG_ERROR, "fmi2DoStep: the step size %g s is not positive", h);
    if (h > 0.0 && !(isnormal(h) && t + h > t))
        return report(instance, fmi2Error, LOG_ERROR, "fmi2DoStep: the step size %g s does not change t = %.9g s", h,
                      t);
    if (!(isfinite(t) && same_time(t, progress->time, h)))
        return report(instance, fmi2Error, LOG_ERROR,
                      "fmi2DoStep: the step begins at t = %.9g s, but the last one ended at t = %.9g s", t,
                      progress->time);
    if (progress->stop_time_defined && t + h > progress->stop_time && !same_time(t + h, progress->stop_time, h))
        return report(instance, fmi2Error, LOG_ERROR,
                      "fmi2DoStep: the step to t = %.9g s goes beyond the stop time %.9g s", t + h,
                      progress->stop_time);
    uint32_t with_slopes = progress->slopes_set;
    if (with_slopes) {
        for (uint32_t k = 0; k < model.averaged_count; k++)
            instance->scratch[k] = instance->memory[model.averaged[k]];
        apply_slopes(instance, h);
    }
    copy_spans(instance->before, instance->memory, model.changing, model.changing_count);
    int32_t code = run_step(instance, t, h);
    progress->code = code;
    if (code) {
        char where[96];
        snprintf(where, sizeof where, "step at t = %.9g s, h = %.9g s", t, h);
        fmi2Status status = explain(instance, code, 1, where);
        progress->phase = status == fmi2Discard ? STEP_FAILED : FAILED;
        return status;
    }
    if (with_slopes) remove_slopes(instance);
    progress->time = t + h;
    progress->step_start = t;
    progress->step_size = h;
    return fmi2OK;
}

static int by_value(const void *key, const void *element)
{
    uint32_t wanted = *(const uint32_t *)key, slot = *(const uint32_t *)element;
    return (wanted > slot) - (wanted < slot);
}

/* A derivative holds for the next step only. Inputs that the kernel takes at the start of a step need none. */
fmi2Status fmi2SetRealInputDerivatives(fmi2Component component, const fmi2ValueReference references[], size_t count,
                                       const fmi2Integer orders[], const fmi2Real values[])
{
    static const char function[] = "fmi2SetRealInputDerivatives";
    Instance *instance = expect_arrays(component, INSTANTIATED | INITIALIZATION_MODE | STEP_COMPLETE, function, count,
                                       references, values);
    if (!instance) return fmi2Error;
    if (count && !orders) return report(instance, fmi2Error, LOG_ERROR, "%s: the array of orders is NULL", function);
    for (size_t i = 0; i < count; i++) {
        if (!known(instance, references[i], function)) return fmi2Error;
        const char *name = variable_in(references[i])->name;
        if (!(model.access[references[i]] & CONTINUOUS_INPUT))
            return report(instance, fmi2Error, LOG_ERROR, "%s: %s is not a continuous input", function, name);
        if (orders[i] != 1)
            return report(instance, fmi2Error, LOG_ERROR, "%s: %s: order %d is not supported, only 1", function, name,
                          orders[i]);
        if (!isfinite(values[i]))
            return report(instance, fmi2Error, LOG_ERROR, "%s: derivative %g of %s is not finite", function, values[i],
                          name);
    }
    for (size_t i = 0; i < count; i++) {
        const uint32_t *place = bsearch(&references[i], model.averaged, model.averaged_count, sizeof *place, by_value);
        if (!place) continue;
        instance->slope[place - model.averaged] = values[i];
        instance->progress.slopes_set = 1;
    }
    return fmi2OK;
}

/* Steps are complete when fmi2DoStep returns (canRunAsynchronuously = false): there is never one to cancel. */
fmi2Status fmi2CancelStep(fmi2Component component)
{
    Instance *instance = component;
    if (!instance) return fmi2Error;
    return report(instance, fmi2Error, LOG_ERROR, "fmi2CancelStep: no step is pending; steps are not asynchronous");
}

enum { STEPPING = STEP_COMPLETE | STEP_FAILED | TERMINATED | FAILED };

/* The instance, if its status may be queried now and there is room for the answer. */
static Instance *queried(fmi2Component component, const void *value, const char *function)
{
    return expect_arrays(component, STEPPING, function, 1, value, value);
}

static fmi2Status unknown_kind(const Instance *instance, fmi2StatusKind kind, const char *function)
{
    return report(instance, fmi2Discard, LOG_DISCARD, "%s: there is no status of kind %d and this type", function,
                  (int)kind);
}

fmi2Status fmi2GetStatus(fmi2Component component, const fmi2StatusKind kind, fmi2Status *value)
{
    Instance *instance = queried(component, value, "fmi2GetStatus");
    if (!instance) return fmi2Error;
    if (kind != fmi2DoStepStatus) return unknown_kind(instance, kind, "fmi2GetStatus");
    *value = status_of(instance->progress.code);
    return fmi2OK;
}

fmi2Status fmi2GetRealStatus(fmi2Component component, const fmi2StatusKind kind, fmi2Real *value)
{
    Instance *instance = queried(component, value, "fmi2GetRealStatus");
    if (!instance) return fmi2Error;
    if (kind != fmi2LastSuccessfulTime) return unknown_kind(instance, kind, "fmi2GetRealStatus");
    *value = instance->progress.time;
    return fmi2OK;
}

fmi2Status fmi2GetIntegerStatus(fmi2Component component, const fmi2StatusKind kind, fmi2Integer *value)
{
    Instance *instance = queried(component, value, "fmi2GetIntegerStatus");
    return instance ? unknown_kind(instance, kind, "fmi2GetIntegerStatus") : fmi2Error;
}

fmi2Status fmi2GetBooleanStatus(fmi2Component component, const fmi2StatusKind kind, fmi2Boolean *value)
{
    Instance *instance = queried(component, value, "fmi2GetBooleanStatus");
    if (!instance) return fmi2Error;
    if (kind != fmi2Terminated) return unknown_kind(instance, kind, "fmi2GetBooleanStatus");
    *value = fmi2False; /* a component never ends a run by itself */
    return fmi2OK;
}

fmi2Status fmi2GetStringStatus(fmi2Component component, const fmi2StatusKind kind, fmi2String *value)
{
    Instance *instance = queried(component, value, "fmi2GetStringStatus");
    if (!instance) return fmi2Error;
    if (kind != fmi2PendingStatus) return unknown_kind(instance, kind, "fmi2GetStringStatus");
    *value = "no step is pending";
    return fmi2OK;
}
