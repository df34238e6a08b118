/* A small FMI 2.0 co-simulation FMU as somebody else might write it: CHANNELS first-order lags y' = gain (u - y).
 *
 * Real      0..n-1 inputs u, n..2n-1 outputs y, 2n gain, 2n+1 time from which y[1] is NaN,
 *           2n+2 time from which `fail.function` returns `fail.status`, 2n+3 feed, 2n+4 bias,
 *           2n+5 output through = feed u[1] + bias, at once
 * Integer   0 input count_in, 1 output count = steps done + count_in, 2 fail.function (1 fmi2DoStep, 2 fmi2GetReal,
 *           3 fmi2SetReal, 4 fmi2ExitInitializationMode, 5 fmi2GetBoolean), 3 fail.status
 * Boolean   0 input enable (false: y holds), 1 output high = y[1] > 0.5
 * String    0 parameter label
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef CHANNELS
#define CHANNELS 1
#endif
#ifndef GUID
#define GUID "lag"
#endif
#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

typedef int Status;
typedef unsigned Ref;
typedef const char *Str;
enum { OK, WARNING, DISCARD, ERROR, FATAL };
enum { N = CHANNELS, GAIN = 2 * N, NAN_TIME, FAIL_TIME, FEED, BIAS, THROUGH, REALS };

typedef struct {
    void (*logger)(void *, Str, Status, Str, Str, ...);
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*step_finished)(void *, Status);
    void *environment;
} Callbacks;

typedef struct {
    double real[REALS];
    int integer[4];
    int boolean[2];
    double time;
    int steps;
} State;

typedef struct {
    State state;
    char label[64];
    const Callbacks *callbacks;
    char name[64];
} Lag;

static Status fault(Lag *lag, int function, Str name) {
    State *s = &lag->state;
    if (s->integer[2] != function || s->time < s->real[FAIL_TIME]) return OK;
    lag->callbacks->logger(lag->callbacks->environment, lag->name, s->integer[3], "logStatusError",
                           "%s fails on purpose at %.3f s, #r%d# = %g", name, s->time, N, s->real[N]);
    return s->integer[3];
}

static Status unknown(Lag *lag, Str function, Ref reference) {
    lag->callbacks->logger(lag->callbacks->environment, lag->name, ERROR, "logStatusError",
                           "%s: no variable with reference %u", function, reference);
    return ERROR;
}

EXPORT Str fmi2GetTypesPlatform(void) { return "default"; }
EXPORT Str fmi2GetVersion(void) { return "2.0"; }
EXPORT Status fmi2SetDebugLogging(void *c, int on, size_t n, const Str *categories) {
    (void)c, (void)on, (void)n, (void)categories;
    return OK;
}

EXPORT void *fmi2Instantiate(Str name, int type, Str guid, Str resources, const Callbacks *callbacks, int visible, int log) {
    (void)resources, (void)visible, (void)log;
    if (type != 1) return 0;
    if (strcmp(guid, GUID)) {
        callbacks->logger(callbacks->environment, name, ERROR, "logStatusError", "GUID %s is not %s", guid, GUID);
        return 0;
    }
    Lag *lag = callbacks->allocate(1, sizeof *lag);
    lag->callbacks = callbacks;
    lag->state.real[GAIN] = 1.0;
    lag->state.real[NAN_TIME] = 1e300;
    lag->state.real[FAIL_TIME] = 0.0;
    lag->state.boolean[0] = 1;
    snprintf(lag->name, sizeof lag->name, "%s", name);
    return lag;
}

EXPORT void fmi2FreeInstance(void *c) {
    if (c) ((Lag *)c)->callbacks->release(c);
}

EXPORT Status fmi2SetupExperiment(void *c, int defined, double tolerance, double start, int has_stop, double stop) {
    (void)defined, (void)tolerance, (void)has_stop, (void)stop;
    ((Lag *)c)->state.time = start;
    return OK;
}
EXPORT Status fmi2EnterInitializationMode(void *c) { (void)c; return OK; }
EXPORT Status fmi2ExitInitializationMode(void *c) { return fault(c, 4, "fmi2ExitInitializationMode"); }
EXPORT Status fmi2Terminate(void *c) { (void)c; return OK; }
EXPORT Status fmi2Reset(void *c) { (void)c; return OK; }

#define ACCESS(KIND, TYPE, FIELD, COUNT)                                                               \
    EXPORT Status fmi2Get##KIND(void *c, const Ref r[], size_t n, TYPE v[]) {                          \
        Lag *lag = c;                                                                                  \
        double *real = lag->state.real;                                                                \
        real[THROUGH] = real[FEED] * real[0] + real[BIAS];                                             \
        for (size_t i = 0; i < n; i++) {                                                               \
            if (r[i] >= COUNT) return unknown(lag, "fmi2Get" #KIND, r[i]);                             \
            v[i] = lag->state.FIELD[r[i]];                                                             \
        }                                                                                              \
        return GET_FAULT_##KIND;                                                                       \
    }                                                                                                  \
    EXPORT Status fmi2Set##KIND(void *c, const Ref r[], size_t n, const TYPE v[]) {                    \
        Lag *lag = c;                                                                                  \
        for (size_t i = 0; i < n; i++) {                                                               \
            if (r[i] >= COUNT) return unknown(lag, "fmi2Set" #KIND, r[i]);                             \
            lag->state.FIELD[r[i]] = v[i];                                                             \
        }                                                                                              \
        return SET_FAULT_##KIND;                                                                       \
    }
#define GET_FAULT_Real fault(lag, 2, "fmi2GetReal")
#define SET_FAULT_Real (lag->state.steps ? fault(lag, 3, "fmi2SetReal") : OK)
#define GET_FAULT_Integer OK
#define SET_FAULT_Integer OK
#define GET_FAULT_Boolean fault(lag, 5, "fmi2GetBoolean")
#define SET_FAULT_Boolean OK
ACCESS(Real, double, real, REALS)
ACCESS(Integer, int, integer, 4)
ACCESS(Boolean, int, boolean, 2)

EXPORT Status fmi2GetString(void *c, const Ref r[], size_t n, Str v[]) {
    for (size_t i = 0; i < n; i++) {
        if (r[i] != 0) return unknown(c, "fmi2GetString", r[i]);
        v[i] = ((Lag *)c)->label;
    }
    return OK;
}
EXPORT Status fmi2SetString(void *c, const Ref r[], size_t n, const Str v[]) {
    Lag *lag = c;
    for (size_t i = 0; i < n; i++) {
        if (r[i] != 0) return unknown(lag, "fmi2SetString", r[i]);
        snprintf(lag->label, sizeof lag->label, "%s", v[i]);
    }
    return OK;
}

EXPORT Status fmi2DoStep(void *c, double t, double h, int no_set_state_prior) {
    Lag *lag = c;
    State *s = &lag->state;
    (void)no_set_state_prior;
    s->time = t;
    Status status = fault(lag, 1, "fmi2DoStep");
    if (status > WARNING) return status;
    if (s->boolean[0])
        for (int i = 0; i < N; i++) s->real[N + i] += h * s->real[GAIN] * (s->real[i] - s->real[N + i]);
    s->time = t + h;
    if (s->time >= s->real[NAN_TIME]) s->real[N] = NAN;
    s->integer[1] = ++s->steps + s->integer[0];
    s->boolean[1] = s->real[N] > 0.5;
    return status;
}

EXPORT Status fmi2GetFMUstate(void *c, void **state) {
    if (!*state) *state = malloc(sizeof(State));
    memcpy(*state, &((Lag *)c)->state, sizeof(State));
    return OK;
}
EXPORT Status fmi2SetFMUstate(void *c, void *state) { memcpy(&((Lag *)c)->state, state, sizeof(State)); return OK; }
EXPORT Status fmi2FreeFMUstate(void *c, void **state) { (void)c; free(*state); *state = 0; return OK; }
EXPORT Status fmi2SerializedFMUstateSize(void *c, void *state, size_t *n) { (void)c, (void)state; *n = sizeof(State); return OK; }
EXPORT Status fmi2SerializeFMUstate(void *c, void *state, char b[], size_t n) { (void)c; memcpy(b, state, n); return OK; }
EXPORT Status fmi2DeSerializeFMUstate(void *c, const char b[], size_t n, void **state) {
    (void)c;
    *state = malloc(sizeof(State));
    memcpy(*state, b, n);
    return OK;
}

/* what this FMU does not offer; its description says so */
EXPORT Status fmi2GetDirectionalDerivative(void *c) { (void)c; return ERROR; }
EXPORT Status fmi2SetRealInputDerivatives(void *c) { (void)c; return ERROR; }
EXPORT Status fmi2GetRealOutputDerivatives(void *c) { (void)c; return ERROR; }
EXPORT Status fmi2CancelStep(void *c) { (void)c; return ERROR; }
EXPORT Status fmi2GetStatus(void *c, int kind, Status *v) { (void)c, (void)kind, (void)v; return DISCARD; }
EXPORT Status fmi2GetRealStatus(void *c, int kind, double *v) {
    if (kind != 2) return DISCARD;
    *v = ((Lag *)c)->state.time;
    return OK;
}
EXPORT Status fmi2GetIntegerStatus(void *c, int kind, int *v) { (void)c, (void)kind, (void)v; return DISCARD; }
EXPORT Status fmi2GetBooleanStatus(void *c, int kind, int *v) { (void)c, (void)kind; *v = 0; return OK; }
EXPORT Status fmi2GetStringStatus(void *c, int kind, Str *v) { (void)c, (void)kind, (void)v; return DISCARD; }
