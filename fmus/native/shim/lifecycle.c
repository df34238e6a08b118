/* Creation, initialisation, termination of an instance, and its logging. */
#include "instance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *fmi2GetTypesPlatform(void)
{
    return "default";
}

const char *fmi2GetVersion(void)
{
    return "2.0";
}

/* Set everything to its start value except the tables, which are filled once, at instantiation. */
static void start_over(Instance *instance)
{
    memset(instance->memory, 0, model.state_size * sizeof(double));
    memcpy(instance->memory, model.start,
           (model.start_count < model.state_size ? model.start_count : model.state_size) * sizeof(double));
    memset(instance->slope, 0, model.averaged_count * sizeof(double));
    memset(&instance->progress, 0, sizeof instance->progress);
    instance->progress.phase = INSTANTIATED;
    instance->progress.initialize_needed = 1;
}

static double *slots(uint32_t count)
{
    return calloc(count ? count : 1, sizeof(double));
}

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging)
{
    (void)visible;
    Instance *instance = calloc(1, sizeof *instance);
    if (!instance) return NULL;
    if (functions) instance->callbacks = *functions;
    instance->logged = logging ? LOG_ALL : 0;
    size_t length = name ? strlen(name) : 0;
    instance->name = calloc(length + 1, 1);
    instance->memory = slots(model.size);
    instance->before = slots(model.state_size);
    instance->slope = slots(model.averaged_count);
    instance->scratch = slots(model.state_size);
    if (!instance->name || !instance->memory || !instance->before || !instance->slope || !instance->scratch) {
        report(instance, fmi2Fatal, LOG_ERROR, "fmi2Instantiate: out of memory");
        goto refuse;
    }
    if (length) memcpy(instance->name, name, length);
    if (!functions) goto refuse;
    if (!length) {
        report(instance, fmi2Error, LOG_ERROR, "fmi2Instantiate: the instance has no name");
        goto refuse;
    }
    if (type != fmi2CoSimulation) {
        report(instance, fmi2Error, LOG_ERROR, "fmi2Instantiate: this FMU is for co-simulation only");
        goto refuse;
    }
    if (!guid || strcmp(guid, model.guid) != 0) {
        report(instance, fmi2Error, LOG_ERROR,
               "fmi2Instantiate: the GUID %s of the model description is not %s, the GUID of this library",
               guid ? guid : "NULL", model.guid);
        goto refuse;
    }
    if (model.start_count > model.state_size)
        memcpy(instance->memory + model.state_size, model.start + model.state_size,
               (model.start_count - model.state_size) * sizeof(double));
    if (!load_resources(instance, resources)) goto refuse;
    start_over(instance);
    report(instance, fmi2OK, LOG_EVENTS, "instantiated");
    return instance;

refuse:
    fmi2FreeInstance(instance);
    return NULL;
}

void fmi2FreeInstance(fmi2Component component)
{
    Instance *instance = component;
    if (!instance) return;
    free(instance->name);
    free(instance->memory);
    free(instance->before);
    free(instance->slope);
    free(instance->scratch);
    free(instance);
}

fmi2Status fmi2SetDebugLogging(fmi2Component component, fmi2Boolean logging, size_t count,
                               const fmi2String categories[])
{
    Instance *instance = expect_arrays(component, ANY_PHASE, "fmi2SetDebugLogging", count, categories, categories);
    if (!instance) return fmi2Error;
    uint32_t chosen = count ? 0 : LOG_ALL;
    for (size_t i = 0; i < count; i++) {
        const char *name = categories[i] ? categories[i] : "NULL";
        if (!strcmp(name, "logEvents")) chosen |= LOG_EVENTS;
        else if (!strcmp(name, "logStatusDiscard")) chosen |= LOG_DISCARD;
        else if (!strcmp(name, "logStatusError")) chosen |= LOG_ERROR;
        else if (is_category(name)) chosen |= LOG_DISCARD | LOG_ERROR;
        else if (!strcmp(name, "logAll")) chosen |= LOG_ALL;
        else return report(instance, fmi2Error, LOG_ERROR, "fmi2SetDebugLogging: no category is called %s", name);
    }
    instance->logged = logging ? chosen : 0;
    return fmi2OK;
}

fmi2Status fmi2SetupExperiment(fmi2Component component, fmi2Boolean tolerance_defined, fmi2Real tolerance,
                               fmi2Real start_time, fmi2Boolean stop_time_defined, fmi2Real stop_time)
{
    (void)tolerance_defined;
    (void)tolerance;
    Instance *instance = expect(component, INSTANTIATED, "fmi2SetupExperiment");
    if (!instance) return fmi2Error;
    if (!isfinite(start_time))
        return report(instance, fmi2Error, LOG_ERROR, "fmi2SetupExperiment: an experiment cannot start at t = %.9g s",
                      start_time);
    if (stop_time_defined && !(isfinite(stop_time) && stop_time >= start_time))
        return report(instance, fmi2Error, LOG_ERROR,
                      "fmi2SetupExperiment: an experiment cannot run from t = %.9g s to t = %.9g s", start_time,
                      stop_time);
    Progress *progress = &instance->progress;
    progress->experiment_defined = 1;
    progress->start_time = start_time;
    progress->time = start_time;
    progress->stop_time_defined = stop_time_defined != fmi2False;
    progress->stop_time = stop_time_defined ? stop_time : 0.0;
    return fmi2OK;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component component)
{
    Instance *instance = expect(component, INSTANTIATED, "fmi2EnterInitializationMode");
    if (!instance) return fmi2Error;
    if (!instance->progress.experiment_defined)
        return report(instance, fmi2Error, LOG_ERROR,
                      "fmi2EnterInitializationMode: fmi2SetupExperiment has not been called");
    instance->progress.phase = INITIALIZATION_MODE;
    instance->progress.initialize_needed = 1;
    return fmi2OK;
}

fmi2Status fmi2ExitInitializationMode(fmi2Component component)
{
    Instance *instance = expect(component, INITIALIZATION_MODE, "fmi2ExitInitializationMode");
    if (!instance) return fmi2Error;
    fmi2Status status = update(instance);
    if (status != fmi2OK) return status;
    instance->progress.phase = STEP_COMPLETE;
    copy_spans(instance->before, instance->memory, model.changing, model.changing_count);
    return report(instance, fmi2OK, LOG_EVENTS, "initialized at t = %.9g s", instance->progress.time);
}

fmi2Status fmi2Terminate(fmi2Component component)
{
    Instance *instance = expect(component, STEP_COMPLETE | STEP_FAILED, "fmi2Terminate");
    if (!instance) return fmi2Error;
    instance->progress.phase = TERMINATED;
    return report(instance, fmi2OK, LOG_EVENTS, "terminated at t = %.9g s", instance->progress.time);
}

fmi2Status fmi2Reset(fmi2Component component)
{
    Instance *instance = expect(component, ANY_PHASE, "fmi2Reset");
    if (!instance) return fmi2Error;
    start_over(instance);
    return report(instance, fmi2OK, LOG_EVENTS, "reset");
}
