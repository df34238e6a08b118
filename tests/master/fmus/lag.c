/* A small FMI 2.0 co-simulation FMU as somebody else might write it: CHANNELS first-order lags y' = gain (u - y).
 *
 * Real      0..n-1 inputs u, n..2n-1 outputs y, 2n gain, 2n+1 time from which y[1] is NaN,
 *           2n+2 time from which `fail.function` returns `fail.status`, 2n+3 feed, 2n+4 bias,
 *           2n+5 output through = feed u[1] + bias, at once
 * Integer   0 input count_in, 1 output count = steps done + count_in, 2 fail.function (see FAULTS), 3 fail.status: a
 *           status of FMI, or 10 a bad address, 11 abort, 12 exit, 13 never return, 14 a flood of messages, 15 a message by a
 *           thread of its own, for which the call waits
 * Boolean   0 input enable (false: y holds), 1 output high = y[1] > 0.5
 * String    0 parameter label, 1 input text_in, 2 output text = label, steps done, text_in
 *
 * Each call is written to the file that the environment names by LAG_TRACE: the instance and the function.
 */
#define _DEFAULT_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
enum { OK, WARNING, DISCARD, ERROR, FATAL, PENDING, BAD_ADDRESS = 10, ABORT, EXIT, HANG, FLOOD, THREAD };
/* FAULTS: what fail.function counts from 1 */
enum { DO_STEP = 1, GET_REAL, SET_REAL, EXIT_INITIALIZATION, GET_BOOLEAN, SETUP, ENTER_INITIALIZATION, GET_INTEGER,
       SET_INTEGER, SET_BOOLEAN, GET_STRING, SET_STRING, TERMINATE, GET_STATE, SET_STATE, SERIALIZE, DESERIALIZE,
       FREE_STATE, STATE_SIZE, RESET, GET_STATUS };
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
    char text_in[64];
} State;

typedef struct {
    State state;
    char label[64], text[256];
    double pending[2];
    int polls;
    const Callbacks *callbacks;
    char name[64];
    FILE *trace;
} Lag;

static void trace(const Lag *lag, Str function) {
    if (!lag->trace) return;
    fprintf(lag->trace, "%s %s\n", lag->name, function);
    fflush(lag->trace);
}

static void *speak(void *c) {
    Lag *lag = c;
    lag->callbacks->logger(lag->callbacks->environment, lag->name, WARNING, "logStatusWarning", "by a thread");
    return NULL;
}

static Status in_a_thread(Lag *lag) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, speak, lag)) return ERROR;
    pthread_join(thread, NULL);
    return WARNING;
}

static Status fault(Lag *lag, int function, Str name) {
    State *s = &lag->state;
    trace(lag, name);
    if (s->integer[2] != function || s->time < s->real[FAIL_TIME]) return OK;
    Status status = s->integer[3];
    if (status == THREAD) return in_a_thread(lag);
    for (int i = 0; i < (status == FLOOD ? 20000 : 1); i++)
        lag->callbacks->logger(lag->callbacks->environment, lag->name, status > FATAL ? ERROR : status,
                               "logStatusError", "%s fails on purpose at %.3f s, #r%d# = %g", name, s->time, N,
                               s->real[N]);
    if (status == BAD_ADDRESS) *(volatile int *)8 = 1;
    if (status == ABORT) abort();
    if (status == EXIT) exit(3);
    while (status == HANG) usleep(1000);
    return status == FLOOD ? OK : status;
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
    if (getenv("LAG_TRACE")) lag->trace = fopen(getenv("LAG_TRACE"), "a");
    trace(lag, "fmi2Instantiate");
    return lag;
}

EXPORT void fmi2FreeInstance(void *c) {
    if (!c) return;
    trace(c, "fmi2FreeInstance");
    if (((Lag *)c)->trace) fclose(((Lag *)c)->trace);
    ((Lag *)c)->callbacks->release(c);
}

EXPORT Status fmi2SetupExperiment(void *c, int defined, double tolerance, double start, int has_stop, double stop) {
    (void)defined, (void)tolerance, (void)has_stop, (void)stop;
    ((Lag *)c)->state.time = start;
    return fault(c, SETUP, "fmi2SetupExperiment");
}
EXPORT Status fmi2EnterInitializationMode(void *c)
{
    return fault(c, ENTER_INITIALIZATION, "fmi2EnterInitializationMode");
}
EXPORT Status fmi2ExitInitializationMode(void *c)
{
    return fault(c, EXIT_INITIALIZATION, "fmi2ExitInitializationMode");
}
EXPORT Status fmi2Terminate(void *c) { return fault(c, TERMINATE, "fmi2Terminate"); }
EXPORT Status fmi2Reset(void *c) { return fault(c, RESET, "fmi2Reset"); }

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
        for (size_t i = 0; i < n; i++)                                                                 \
            if (r[i] >= COUNT) return unknown(lag, "fmi2Set" #KIND, r[i]);                             \
        Status found = SET_FAULT_##KIND;                                                               \
        /* what is discarded is not kept */                                                            \
        for (size_t i = 0; found != DISCARD && i < n; i++) lag->state.FIELD[r[i]] = v[i];              \
        return found;                                                                                  \
    }
#define LATER(NUMBER, NAME) (lag->state.steps ? fault(lag, NUMBER, NAME) : (trace(lag, NAME), OK))
#define GET_FAULT_Real fault(lag, GET_REAL, "fmi2GetReal")
#define SET_FAULT_Real LATER(SET_REAL, "fmi2SetReal")
#define GET_FAULT_Integer fault(lag, GET_INTEGER, "fmi2GetInteger")
#define SET_FAULT_Integer LATER(SET_INTEGER, "fmi2SetInteger")
#define GET_FAULT_Boolean fault(lag, GET_BOOLEAN, "fmi2GetBoolean")
#define SET_FAULT_Boolean LATER(SET_BOOLEAN, "fmi2SetBoolean")
ACCESS(Real, double, real, REALS)
ACCESS(Integer, int, integer, 4)
ACCESS(Boolean, int, boolean, 2)

EXPORT Status fmi2GetString(void *c, const Ref r[], size_t n, Str v[]) {
    Lag *lag = c;
    snprintf(lag->text, sizeof lag->text, "%s %d %s", lag->label, lag->state.steps, lag->state.text_in);
    for (size_t i = 0; i < n; i++) {
        if (r[i] > 2) return unknown(c, "fmi2GetString", r[i]);
        v[i] = r[i] == 0 ? lag->label : r[i] == 1 ? lag->state.text_in : lag->text;
    }
    return fault(lag, GET_STRING, "fmi2GetString");
}
EXPORT Status fmi2SetString(void *c, const Ref r[], size_t n, const Str v[]) {
    Lag *lag = c;
    for (size_t i = 0; i < n; i++) {
        if (r[i] > 1) return unknown(lag, "fmi2SetString", r[i]);
        snprintf(r[i] ? lag->state.text_in : lag->label, sizeof lag->label, "%s", v[i]);
    }
    return LATER(SET_STRING, "fmi2SetString");
}

static void advance(Lag *lag, double t, double h) {
    State *s = &lag->state;
    if (s->boolean[0])
        for (int i = 0; i < N; i++) s->real[N + i] += h * s->real[GAIN] * (s->real[i] - s->real[N + i]);
    s->time = t + h;
    if (s->time >= s->real[NAN_TIME]) s->real[N] = NAN;
    s->integer[1] = ++s->steps + s->integer[0];
    s->boolean[1] = s->real[N] > 0.5;
}

/* fmi2Pending: the step is done when its status has been asked for three times. */
EXPORT Status fmi2DoStep(void *c, double t, double h, int no_set_state_prior) {
    Lag *lag = c;
    (void)no_set_state_prior;
    lag->state.time = t;
    Status status = fault(lag, DO_STEP, "fmi2DoStep");
    if (status <= WARNING) advance(lag, t, h);
    lag->pending[0] = t;
    lag->pending[1] = h;
    lag->polls = 0;
    return status;
}
EXPORT Status fmi2GetStatus(void *c, int kind, Status *v) {
    Lag *lag = c;
    Status status = fault(lag, GET_STATUS, "fmi2GetStatus");
    if (kind != 0 || status > WARNING) return kind ? DISCARD : status;
    *v = ++lag->polls < 3 ? PENDING : OK;
    if (*v == OK) advance(lag, lag->pending[0], lag->pending[1]);
    return OK;
}

EXPORT Status fmi2GetFMUstate(void *c, void **state) {
    if (!*state) *state = malloc(sizeof(State));
    memcpy(*state, &((Lag *)c)->state, sizeof(State));
    return fault(c, GET_STATE, "fmi2GetFMUstate");
}
EXPORT Status fmi2SetFMUstate(void *c, void *state) {
    Status status = fault(c, SET_STATE, "fmi2SetFMUstate");
    memcpy(&((Lag *)c)->state, state, sizeof(State));
    return status;
}
EXPORT Status fmi2FreeFMUstate(void *c, void **state) {
    free(*state);
    *state = 0;
    return fault(c, FREE_STATE, "fmi2FreeFMUstate");
}
EXPORT Status fmi2SerializedFMUstateSize(void *c, void *state, size_t *n) {
    (void)state;
    *n = sizeof(State);
    return fault(c, STATE_SIZE, "fmi2SerializedFMUstateSize");
}
EXPORT Status fmi2SerializeFMUstate(void *c, void *state, char b[], size_t n) {
    memcpy(b, state, n);
    return fault(c, SERIALIZE, "fmi2SerializeFMUstate");
}
EXPORT Status fmi2DeSerializeFMUstate(void *c, const char b[], size_t n, void **state) {
    *state = malloc(sizeof(State));
    memcpy(*state, b, n);
    return fault(c, DESERIALIZE, "fmi2DeSerializeFMUstate");
}

/* what this FMU does not offer; its description says so */
EXPORT Status fmi2GetDirectionalDerivative(void *c) { (void)c; return ERROR; }
EXPORT Status fmi2SetRealInputDerivatives(void *c) { (void)c; return ERROR; }
EXPORT Status fmi2GetRealOutputDerivatives(void *c) { (void)c; return ERROR; }
EXPORT Status fmi2CancelStep(void *c) { (void)c; return ERROR; }
EXPORT Status fmi2GetRealStatus(void *c, int kind, double *v) {
    trace(c, "fmi2GetRealStatus");
    if (kind != 2) return DISCARD;
    *v = ((Lag *)c)->state.time;
    return OK;
}
EXPORT Status fmi2GetIntegerStatus(void *c, int kind, int *v) { (void)c, (void)kind, (void)v; return DISCARD; }
EXPORT Status fmi2GetBooleanStatus(void *c, int kind, int *v) {
    (void)kind;
    trace(c, "fmi2GetBooleanStatus");
    *v = 0;
    return OK;
}
EXPORT Status fmi2GetStringStatus(void *c, int kind, Str *v) { (void)c, (void)kind, (void)v; return DISCARD; }
