/* fmi2GetDirectionalDerivative and fmi2GetRealOutputDerivatives. */
#include "instance.h"

#include <float.h>
#include <math.h>

enum { STEPPED = STEP_COMPLETE | STEP_FAILED | TERMINATED | FAILED };

/* Can these variables be the unknowns and knowns of a directional derivative now? If not, report why. */
static int differentiable(const Instance *instance, const fmi2ValueReference unknowns[], size_t unknown_count,
                          const fmi2ValueReference knowns[], size_t known_count, const fmi2Real direction[])
{
    static const char function[] = "fmi2GetDirectionalDerivative";
    int wanted = instance->progress.phase == INITIALIZATION_MODE ? SET_BEFORE_STEPS : SET_BETWEEN_STEPS;
    for (size_t i = 0; i < unknown_count; i++) {
        if (!known(instance, unknowns[i], function)) return 0;
        int access = model.access[unknowns[i]];
        if ((access & TYPE_MASK) != TYPE_REAL || (access & SET_BEFORE_STEPS)) {
            report(instance, fmi2Error, LOG_ERROR, "%s: %s is not a computed Real", function,
                   variable_in(unknowns[i])->name);
            return 0;
        }
    }
    for (size_t j = 0; j < known_count; j++) {
        if (!known(instance, knowns[j], function)) return 0;
        int access = model.access[knowns[j]];
        if ((access & TYPE_MASK) != TYPE_REAL || !(access & wanted) || !isfinite(direction[j])) {
            report(instance, fmi2Error, LOG_ERROR, "%s: %s is not a Real that can vary now, or not by %g", function,
                   variable_in(knowns[j])->name, direction[j]);
            return 0;
        }
    }
    return 1;
}

/* How far the known variables, now at `base`, can move along `sign` times the direction: at most `step`, less if a
   variable would leave its range. */
static double reach(const double *base, const fmi2ValueReference knowns[], size_t count, const fmi2Real direction[],
                    double sign, double step)
{
    for (size_t j = 0; j < count; j++) {
        double rate = sign * direction[j];
        if (rate == 0.0 || !(model.access[knowns[j]] & BOUNDED)) continue;
        const Variable *variable = variable_in(knowns[j]);
        double room = ((rate > 0.0 ? variable->maximum : variable->minimum) - base[knowns[j]]) / rate;
        if (room < step) step = room > 0.0 ? room : 0.0;
    }
    return step;
}

/* A step along the direction: 1.5e-8 of the nominal value, so that a port moves by far less than the depth of a
   contact. The present value of a variable counts only as much as its rounding requires: a position far from the origin
   is moved no further. */
static double balanced_step(const double *base, const fmi2ValueReference knowns[], size_t count,
                            const fmi2Real direction[])
{
    double largest = 0.0;
    for (size_t j = 0; j < count; j++) {
        double scale = fmax(1e-3 * fabs(base[knowns[j]]), variable_in(knowns[j])->nominal);
        largest = fmax(largest, fabs(direction[j]) / scale);
    }
    return largest > 0.0 ? sqrt(DBL_EPSILON) / largest : 0.0;
}

/* Keep the saved slots in `scratch` during trial runs of kernels. */
static void keep(Instance *instance)
{
    copy_spans(instance->scratch, instance->memory, model.saved, model.saved_count);
}

static void restore(Instance *instance)
{
    copy_spans(instance->memory, instance->scratch, model.saved, model.saved_count);
}

/* Run `initialize`, or repeat the last step, from `base` with the knowns moved by `distance` times the direction. */
static int32_t rerun(Instance *instance, const double *base, const fmi2ValueReference knowns[], size_t count,
                     const fmi2Real direction[], double distance)
{
    const Progress *progress = &instance->progress;
    restore(instance);
    if (base != instance->scratch) copy_spans(instance->memory, base, model.changing, model.changing_count);
    for (size_t j = 0; j < count; j++) instance->memory[knowns[j]] += distance * direction[j];
    if (progress->phase == INITIALIZATION_MODE || progress->step_size == 0.0) return run_initialize(instance);
    return run_step(instance, progress->step_start, progress->step_size);
}

/* Derivative of outputs along a direction of inputs and parameters, by central differences (one-sided at the end of a
   parameter's range) with two trial runs of the kernel. In initialization mode it is the derivative of `initialize`;
   afterwards that of the last step, with respect to the inputs and tunable parameters that it used: outputs at its end
   depend on them, and on nothing that is set later. */
fmi2Status fmi2GetDirectionalDerivative(fmi2Component component, const fmi2ValueReference unknowns[],
                                        size_t unknown_count, const fmi2ValueReference knowns[], size_t known_count,
                                        const fmi2Real direction[], fmi2Real derivative[])
{
    static const char function[] = "fmi2GetDirectionalDerivative";
    Instance *instance =
        expect_arrays(component, INITIALIZATION_MODE | STEPPED, function, unknown_count, unknowns, derivative);
    if (!instance || !expect_arrays(component, INITIALIZATION_MODE | STEPPED, function, known_count, knowns, direction)
        || update(instance) != fmi2OK
        || !differentiable(instance, unknowns, unknown_count, knowns, known_count, direction))
        return fmi2Error;
    keep(instance);
    const double *base =
        instance->progress.phase == INITIALIZATION_MODE ? instance->scratch : instance->before;
    double step = balanced_step(base, knowns, known_count, direction);
    double forward = reach(base, knowns, known_count, direction, 1.0, step);
    double backward = reach(base, knowns, known_count, direction, -1.0, step);
    if (forward + backward == 0.0) {
        for (size_t i = 0; i < unknown_count; i++) derivative[i] = 0.0;
        return fmi2OK;
    }
    int32_t code = rerun(instance, base, knowns, known_count, direction, forward);
    for (size_t i = 0; i < unknown_count; i++) derivative[i] = instance->memory[unknowns[i]];
    if (!code) code = rerun(instance, base, knowns, known_count, direction, -backward);
    for (size_t i = 0; i < unknown_count; i++)
        derivative[i] = (derivative[i] - instance->memory[unknowns[i]]) / (forward + backward);
    fmi2Status status = code ? explain(instance, code, 0, function) : fmi2OK;
    restore(instance);
    return status;
}

/* Do these variables have derivatives of these orders? If not, report why. */
static int ratable(const Instance *instance, const fmi2ValueReference references[], size_t count,
                   const fmi2Integer orders[], const char *function)
{
    if (count && !orders) {
        report(instance, fmi2Error, LOG_ERROR, "%s: the array of orders is NULL", function);
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (!known(instance, references[i], function)) return 0;
        const char *name = variable_in(references[i])->name;
        int access = model.access[references[i]];
        if ((access & TYPE_MASK) != TYPE_REAL || !(access & IS_OUTPUT)) {
            report(instance, fmi2Error, LOG_ERROR, "%s: %s is not a Real output", function, name);
            return 0;
        }
        if (orders[i] != 1) {
            report(instance, fmi2Error, LOG_ERROR, "%s: %s: order %d is not supported, only 1", function, name,
                   orders[i]);
            return 0;
        }
    }
    return 1;
}

/* Mean rate of change of outputs over the last step. Before the first step, over a trial step of the default experiment
   with the present inputs, which leaves no trace. */
fmi2Status fmi2GetRealOutputDerivatives(fmi2Component component, const fmi2ValueReference references[], size_t count,
                                        const fmi2Integer orders[], fmi2Real values[])
{
    static const char function[] = "fmi2GetRealOutputDerivatives";
    Instance *instance = expect_arrays(component, STEPPED, function, count, references, values);
    if (!instance || !ratable(instance, references, count, orders, function)) return fmi2Error;
    const Progress *progress = &instance->progress;
    const double *before = instance->before;
    double h = progress->step_size;
    int trial = h == 0.0 && count > 0;
    fmi2Status status = fmi2OK;
    if (trial) {
        if (progress->phase & (STEP_FAILED | FAILED))
            return report(instance, fmi2Discard, LOG_DISCARD, "%s: the first step has failed", function);
        keep(instance);
        before = instance->scratch;
        h = model.step;
        int32_t code = run_step(instance, progress->time, h);
        if (code) status = explain(instance, code, 1, function);
    }
    if (status == fmi2OK)
        for (size_t i = 0; i < count; i++)
            values[i] = (instance->memory[references[i]] - before[references[i]]) / h;
    if (trial) restore(instance);
    return status;
}
