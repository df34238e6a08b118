/* A small importer of FMI 2.0 co-simulation FMUs: no Python, no XML, nothing but what the plan says.

       importer LIBRARY PLAN RESULT

   The plan is text (fmus/check/importer/program.py writes it): GUID and resource URI on a line each; then start time, step
   size, number of steps, number of cycles, whether states are saved; then the inputs and the outputs, each list as its
   length and pairs of type (r, i or b) and value reference; then a row of inputs for each step. RESULT gets a row of
   outputs after the initialisation and one after each step, as hexadecimal numbers, which are exact. Each cycle is the
   whole life of an instance. Times in seconds, each the shortest of all cycles, go to standard output as JSON. */
#include "fmi2.h"

#include <float.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#include <windows.h>
typedef HMODULE Library;
static Library load(const char *path) { return LoadLibraryA(path); }
static void unload(Library library) { FreeLibrary(library); }
static void *symbol(Library library, const char *name) { return (void *)(size_t)GetProcAddress(library, name); }
static double now(void)
{
    LARGE_INTEGER count, frequency;
    QueryPerformanceCounter(&count);
    QueryPerformanceFrequency(&frequency);
    return (double)count.QuadPart / (double)frequency.QuadPart;
}
#else
#include <dlfcn.h>
#include <time.h>
typedef void *Library;
static Library load(const char *path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL); }
static void unload(Library library) { dlclose(library); }
static void *symbol(Library library, const char *name) { return dlsym(library, name); }
static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
#endif

static void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

/* The functions of the library that are used. */
#define FUNCTIONS(USE)                                                                                                 \
    USE(GetVersion) USE(Instantiate) USE(FreeInstance) USE(SetupExperiment) USE(EnterInitializationMode)               \
    USE(ExitInitializationMode) USE(Terminate) USE(Reset) USE(DoStep) USE(GetReal) USE(GetInteger) USE(GetBoolean)     \
    USE(SetReal) USE(SetInteger) USE(SetBoolean) USE(GetFMUstate) USE(SetFMUstate) USE(FreeFMUstate)                   \
    USE(SerializedFMUstateSize) USE(SerializeFMUstate) USE(DeSerializeFMUstate)

#define DECLARE(name) __typeof__(fmi2##name) *name;
static struct { FUNCTIONS(DECLARE) } fmi;

static void find_functions(Library library)
{
#define FIND(name)                                                                                                     \
    if (!(fmi.name = (__typeof__(fmi2##name) *)symbol(library, "fmi2" #name))) fail("there is no fmi2" #name);
    FUNCTIONS(FIND)
}

typedef struct {
    size_t count;
    char *types;
    fmi2ValueReference *references;
} Variables;

static struct {
    char guid[256], resources[4096];
    double start, step;
    size_t steps, cycles;
    int states;
    Variables inputs, outputs;
    double *values; /* steps rows of inputs */
} plan;

static void *room(size_t count, size_t size)
{
    void *block = calloc(count ? count : 1, size);
    if (!block) fail("out of memory");
    return block;
}

static void read_line(FILE *file, char *text, int size)
{
    if (!fgets(text, size, file)) fail("the plan is damaged");
    text[strcspn(text, "\r\n")] = 0;
}

static Variables read_variables(FILE *file)
{
    Variables read;
    if (fscanf(file, "%zu", &read.count) != 1) fail("the plan is damaged");
    read.types = room(read.count, 1);
    read.references = room(read.count, sizeof *read.references);
    for (size_t i = 0; i < read.count; i++)
        if (fscanf(file, " %c %u", &read.types[i], &read.references[i]) != 2) fail("the plan is damaged");
    return read;
}

static void read_plan(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) fail("there is no plan %s", path);
    read_line(file, plan.guid, sizeof plan.guid);
    read_line(file, plan.resources, sizeof plan.resources);
    if (fscanf(file, "%lf %lf %zu %zu %d", &plan.start, &plan.step, &plan.steps, &plan.cycles, &plan.states) != 5)
        fail("the plan is damaged");
    plan.inputs = read_variables(file);
    plan.outputs = read_variables(file);
    size_t count = plan.steps * plan.inputs.count;
    plan.values = room(count, sizeof *plan.values);
    for (size_t i = 0; i < count; i++)
        if (fscanf(file, "%lf", &plan.values[i]) != 1) fail("the plan is damaged");
    fclose(file);
}

static double simulated; /* time of the instance, s */

static void expect(fmi2Status status, const char *function)
{
    if (status > fmi2Warning) fail("%s gave status %d at t = %.9g s", function, (int)status, simulated);
}

static void set_inputs(fmi2Component instance, size_t row)
{
    for (size_t i = 0; i < plan.inputs.count; i++) {
        const fmi2ValueReference *reference = &plan.inputs.references[i];
        fmi2Real value = plan.values[row * plan.inputs.count + i];
        fmi2Integer whole = plan.inputs.types[i] == 'r' ? 0 : (fmi2Integer)value;
        switch (plan.inputs.types[i]) {
        case 'r': expect(fmi.SetReal(instance, reference, 1, &value), "fmi2SetReal"); break;
        case 'i': expect(fmi.SetInteger(instance, reference, 1, &whole), "fmi2SetInteger"); break;
        default: expect(fmi.SetBoolean(instance, reference, 1, &whole), "fmi2SetBoolean");
        }
    }
}

static void get_outputs(fmi2Component instance, double *values)
{
    for (size_t i = 0; i < plan.outputs.count; i++) {
        const fmi2ValueReference *reference = &plan.outputs.references[i];
        fmi2Integer whole = 0;
        switch (plan.outputs.types[i]) {
        case 'r': expect(fmi.GetReal(instance, reference, 1, &values[i]), "fmi2GetReal"); continue;
        case 'i': expect(fmi.GetInteger(instance, reference, 1, &whole), "fmi2GetInteger"); break;
        default: expect(fmi.GetBoolean(instance, reference, 1, &whole), "fmi2GetBoolean");
        }
        values[i] = whole;
    }
}

/* Continue from a state that was serialised and deserialised. */
static void save_and_restore(fmi2Component instance)
{
    fmi2FMUstate state = NULL, copy = NULL;
    size_t size = 0;
    expect(fmi.GetFMUstate(instance, &state), "fmi2GetFMUstate");
    expect(fmi.SerializedFMUstateSize(instance, state, &size), "fmi2SerializedFMUstateSize");
    fmi2Byte *bytes = room(size, 1);
    expect(fmi.SerializeFMUstate(instance, state, bytes, size), "fmi2SerializeFMUstate");
    expect(fmi.FreeFMUstate(instance, &state), "fmi2FreeFMUstate");
    expect(fmi.DeSerializeFMUstate(instance, bytes, size, &copy), "fmi2DeSerializeFMUstate");
    free(bytes);
    expect(fmi.SetFMUstate(instance, copy), "fmi2SetFMUstate");
    expect(fmi.FreeFMUstate(instance, &copy), "fmi2FreeFMUstate");
}

static void write_row(FILE *result, const double *values)
{
    for (size_t i = 0; i < plan.outputs.count; i++) fprintf(result, "%a ", values[i]);
    fputc('\n', result);
}

static void log_message(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
                        fmi2String message, ...)
{
    (void)environment;
    if (status <= fmi2OK) return;
    va_list arguments;
    fprintf(stderr, "%s [%s] ", name, category);
    va_start(arguments, message);
    vfprintf(stderr, message, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

static double least(double a, double b) { return a < b ? a : b; }

int main(int count, char **arguments)
{
    if (count != 4) fail("usage: importer LIBRARY PLAN RESULT");
    read_plan(arguments[2]);
    double began = now();
    Library library = load(arguments[1]);
    if (!library) fail("%s cannot be loaded", arguments[1]);
    find_functions(library);
    double loading = now() - began, instantiating = DBL_MAX, initializing = DBL_MAX, stepping = DBL_MAX;
    if (strcmp(fmi.GetVersion(), "2.0") != 0) fail("the library says FMI %s", fmi.GetVersion());

    fmi2CallbackFunctions callbacks = {log_message, calloc, free, NULL, NULL};
    double *values = room(plan.outputs.count, sizeof *values);
    for (size_t cycle = 0; cycle < plan.cycles; cycle++) {
        FILE *result = fopen(arguments[3], "w");
        if (!result) fail("%s cannot be written", arguments[3]);
        simulated = plan.start;
        began = now();
        fmi2Component instance =
            fmi.Instantiate("imported", fmi2CoSimulation, plan.guid, plan.resources, &callbacks, fmi2False, fmi2True);
        if (!instance) fail("fmi2Instantiate gave no component");
        instantiating = least(instantiating, now() - began);
        set_inputs(instance, 0);
        began = now();
        expect(fmi.SetupExperiment(instance, 0, 0.0, plan.start, 0, 0.0), "fmi2SetupExperiment");
        expect(fmi.EnterInitializationMode(instance), "fmi2EnterInitializationMode");
        expect(fmi.ExitInitializationMode(instance), "fmi2ExitInitializationMode");
        initializing = least(initializing, now() - began);
        get_outputs(instance, values);
        write_row(result, values);
        double all_steps = 0.0;
        for (size_t k = 0; k < plan.steps; k++) {
            simulated = plan.start + (double)k * plan.step;
            if (plan.states && k == plan.steps / 2) save_and_restore(instance);
            set_inputs(instance, k);
            began = now();
            expect(fmi.DoStep(instance, simulated, plan.step, fmi2True), "fmi2DoStep");
            all_steps += now() - began;
            get_outputs(instance, values);
            write_row(result, values);
        }
        if (plan.steps > 0) stepping = least(stepping, all_steps / (double)plan.steps);
        expect(fmi.Terminate(instance), "fmi2Terminate");
        expect(fmi.Reset(instance), "fmi2Reset");
        fmi.FreeInstance(instance);
        fclose(result);
    }
    free(values);
    free(plan.values);
    free(plan.inputs.types);
    free(plan.inputs.references);
    free(plan.outputs.types);
    free(plan.outputs.references);
    unload(library);
    printf("{\"load\": %.9g, \"instantiate\": %.9g, \"initialize\": %.9g, \"step\": %.9g}\n", loading, instantiating,
           initializing, plan.steps > 0 ? stepping : 0.0);
    return 0;
}
