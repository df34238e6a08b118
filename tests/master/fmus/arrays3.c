/* An FMI 3.0 co-simulation FMU as somebody else might write it: arrays, every type, and faults on demand.
 *
 * y[n]' = gain (u[n] - y[n]) by explicit Euler; through[n] = 2 u[n]; rows[2] = sums of the rows of matrix[2,3];
 * outputs of every other type repeat their inputs. `fault` (from fault_time on): 1 early return in the middle of
 * steps longer than 6 ms, 2 terminateSimulation, 3 eventHandlingNeeded, 4 fmi3Discard, 5 fmi3Error, 6 fmi3Fatal, 7 a crash,
 * 8 (at any time) no value of bias is given before initialisation. bias[n] begins as 7, 8, 9, ..., whatever n is. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef int Status;
typedef uint32_t Ref;
typedef const char *Str;
typedef void Log(void *, Status, Str, Str);
enum { OK, WARNING, DISCARD, ERROR, FATAL };
enum { MOST = 16, TIME = 0, N, U, Y, THROUGH, MATRIX, ROWS, GAIN, FAULT_TIME, FAULT, FLOAT_IN, FLOAT_OUT, WIDE, BIAS,
       IN = 20, OUT = 40, LABEL = 60, ECHO, NAMES, JOINED };

typedef struct {
    double time, u[MOST], y[MOST], bias[MOST], matrix[6], gain, fault_time;
    float single;
    uint64_t n;
    int64_t whole[12];
    int32_t fault, steps;
    bool configuration, initializing, stepping;
    char label[64], names[2][32];
    bool refused;
} State;

typedef struct {
    State s;
    Log *log;
    void *environment;
    char echo[96], joined[96];
} Model;

static Status say(Model *m, Status status, Str text)
{
    m->log(m->environment, status, "logStatusError", text);
    return status;
}

static void begin(State *s)
{
    memset(s, 0, sizeof *s);
    s->n = 3;
    s->gain = 1.0;
    s->fault_time = 1e300;
    for (int k = 0; k < 6; k++) s->matrix[k] = k + 1;
    for (int k = 0; k < MOST; k++) s->bias[k] = 7.0 + k;
    strcpy(s->names[0], "a");
    strcpy(s->names[1], "b");
    strcpy(s->label, "none");
    s->whole[9] = 1; /* the enumeration */
}

EXPORT Str fmi3GetVersion(void) { return "3.0"; }
EXPORT Status fmi3SetDebugLogging(void *c, bool on, size_t n, const Str *v) { (void)c, (void)on, (void)n, (void)v; return OK; }

EXPORT void *fmi3InstantiateCoSimulation(Str name, Str token, Str resources, bool visible, bool logging, bool events,
                                         bool early, const Ref *required, size_t required_count, void *environment,
                                         Log *log, void *update)
{
    (void)name, (void)visible, (void)logging, (void)required, (void)required_count, (void)update;
    if (strcmp(token, "arrays") || events || early || !resources || resources[strlen(resources) - 1] != '/') {
        log(environment, ERROR, "logStatusError", "the token is not arrays, or the arguments are strange");
        return NULL;
    }
    Model *m = calloc(1, sizeof *m);
    m->log = log;
    m->environment = environment;
    begin(&m->s);
    return m;
}

EXPORT void fmi3FreeInstance(void *c) { free(c); }
EXPORT Status fmi3EnterConfigurationMode(void *c) { ((Model *)c)->s.configuration = true; return OK; }
EXPORT Status fmi3ExitConfigurationMode(void *c)
{
    Model *m = c;
    if (m->s.refused) return say(m, ERROR, "fmi3ExitConfigurationMode after an error");
    m->s.configuration = false;
    return OK;
}
EXPORT Status fmi3EnterInitializationMode(void *c, bool defined, double tolerance, double start, bool has_stop, double stop)
{
    (void)defined, (void)tolerance, (void)has_stop, (void)stop;
    ((Model *)c)->s.time = start;
    ((Model *)c)->s.initializing = true;
    return OK;
}
EXPORT Status fmi3ExitInitializationMode(void *c) { ((Model *)c)->s.stepping = true; return OK; }
EXPORT Status fmi3Terminate(void *c) { (void)c; return OK; }
EXPORT Status fmi3Reset(void *c) { begin(&((Model *)c)->s); return OK; }

/* Where the Float64 variables lie; NULL for those that are not kept. */
static double *place(Model *m, Ref r, size_t *count)
{
    *count = r == MATRIX ? 6 : r == U || r == Y || r == BIAS ? m->s.n : 1;
    switch (r) {
    case TIME: return &m->s.time;
    case U: return m->s.u;
    case Y: return m->s.y;
    case BIAS: return m->s.bias;
    case MATRIX: return m->s.matrix;
    case GAIN: return &m->s.gain;
    case FAULT_TIME: return &m->s.fault_time;
    default: return NULL;
    }
}

EXPORT Status fmi3GetFloat64(void *c, const Ref r[], size_t n, double v[], size_t total)
{
    Model *m = c;
    size_t at = 0, count;
    for (size_t i = 0; i < n; i++) {
        double *from = place(m, r[i], &count);
        if (r[i] == BIAS && m->s.fault == 8 && !m->s.initializing) return say(m, ERROR, "bias is not known yet");
        if (from) memcpy(v + at, from, count * sizeof *v);
        else if (r[i] == THROUGH) {
            count = m->s.n;
            for (size_t k = 0; k < count; k++) v[at + k] = 2.0 * m->s.u[k];
        } else if (r[i] == ROWS) {
            count = 2;
            for (size_t k = 0; k < 2; k++) v[at + k] = m->s.matrix[3 * k] + m->s.matrix[3 * k + 1] + m->s.matrix[3 * k + 2];
        } else return say(m, ERROR, "fmi3GetFloat64: no such variable");
        at += count;
    }
    return at == total ? OK : say(m, ERROR, "fmi3GetFloat64: nValues is wrong");
}

EXPORT Status fmi3SetFloat64(void *c, const Ref r[], size_t n, const double v[], size_t total)
{
    size_t at = 0, count;
    for (size_t i = 0; i < n; i++) {
        double *to = place(c, r[i], &count);
        if (!to) return say(c, ERROR, "fmi3SetFloat64: no such variable");
        memcpy(to, v + at, count * sizeof *v);
        at += count;
    }
    return at == total ? OK : say(c, ERROR, "fmi3SetFloat64: nValues is wrong");
}

EXPORT Status fmi3GetFloat32(void *c, const Ref r[], size_t n, float v[], size_t total)
{
    for (size_t i = 0; i < n; i++) v[i] = r[i] == FLOAT_OUT ? 2.0f * ((Model *)c)->s.single : ((Model *)c)->s.single;
    return n == total ? OK : ERROR;
}
EXPORT Status fmi3SetFloat32(void *c, const Ref r[], size_t n, const float v[], size_t total)
{
    for (size_t i = 0; i < n; i++) {
        if (r[i] != FLOAT_IN) return ERROR;
        ((Model *)c)->s.single = v[i];
    }
    return n == total ? OK : ERROR;
}

/* inputs IN, IN + 1, ... and outputs OUT, OUT + 1, ... of one type each */
#define WHOLE(KIND, TYPE, NUMBER)                                                                                      \
    EXPORT Status fmi3Get##KIND(void *c, const Ref r[], size_t n, TYPE v[], size_t total)                              \
    {                                                                                                                  \
        Model *m = c;                                                                                                  \
        for (size_t i = 0; i < n; i++)                                                                                 \
            v[i] = r[i] == N ? (TYPE)m->s.n : r[i] == FAULT ? (TYPE)m->s.fault : r[i] == WIDE ? (TYPE)(1LL << 40)       \
                                                                               : (TYPE)m->s.whole[r[i] % 20];          \
        return n == total ? OK : ERROR;                                                                                \
    }                                                                                                                  \
    EXPORT Status fmi3Set##KIND(void *c, const Ref r[], size_t n, const TYPE v[], size_t total)                        \
    {                                                                                                                  \
        Model *m = c;                                                                                                  \
        for (size_t i = 0; i < n; i++) {                                                                               \
            if (r[i] == N && !m->s.configuration) return say(m, ERROR, "n is for configuration mode");                 \
            if (r[i] == N && (uint64_t)v[i] > MOST) {                                                                  \
                m->s.refused = true;                                                                                   \
                return say(m, ERROR, "n is too large");                                                                \
            }                                                                                                          \
            if (r[i] == N) m->s.n = (uint64_t)v[i];                                                                    \
            else if (r[i] == FAULT) m->s.fault = (int32_t)v[i];                                                        \
            else if (r[i] == IN + NUMBER || (NUMBER == 6 && r[i] == IN + 9)) m->s.whole[r[i] - IN] = (int64_t)v[i];    \
            else return say(m, ERROR, "fmi3Set" #KIND ": no such variable");                                           \
        }                                                                                                              \
        return n == total ? OK : ERROR;                                                                                \
    }
WHOLE(Int8, int8_t, 0)
WHOLE(UInt8, uint8_t, 1)
WHOLE(Int16, int16_t, 2)
WHOLE(UInt16, uint16_t, 3)
WHOLE(Int32, int32_t, 4)
WHOLE(UInt32, uint32_t, 5)
WHOLE(Int64, int64_t, 6)
WHOLE(UInt64, uint64_t, 7)
WHOLE(Boolean, bool, 8)

EXPORT Status fmi3GetString(void *c, const Ref r[], size_t n, Str v[], size_t total)
{
    Model *m = c;
    size_t at = 0;
    snprintf(m->echo, sizeof m->echo, "%s %d", m->s.label, (int)m->s.steps);
    snprintf(m->joined, sizeof m->joined, "%s+%s", m->s.names[0], m->s.names[1]);
    for (size_t i = 0; i < n; i++) {
        if (r[i] == NAMES) v[at++] = m->s.names[0];
        v[at++] = r[i] == LABEL ? m->s.label : r[i] == ECHO ? m->echo : r[i] == JOINED ? m->joined : m->s.names[1];
    }
    return at == total ? OK : ERROR;
}
EXPORT Status fmi3SetString(void *c, const Ref r[], size_t n, const Str v[], size_t total)
{
    Model *m = c;
    size_t at = 0;
    for (size_t i = 0; i < n; i++)
        if (r[i] == LABEL) snprintf(m->s.label, sizeof m->s.label, "%s", v[at++]);
        else
            for (int k = 0; k < 2; k++) snprintf(m->s.names[k], sizeof m->s.names[k], "%s", v[at++]);
    return at == total ? OK : ERROR;
}

EXPORT Status fmi3DoStep(void *c, double t, double h, bool final, bool *event, bool *terminate, bool *early, double *last)
{
    Model *m = c;
    (void)final;
    *event = *terminate = *early = false;
    *last = t;
    int fault = t >= m->s.fault_time ? m->s.fault : 0;
    if (fault == 7) abort();
    if (fault >= 4) return say(m, fault - 2, "a fault on purpose");
    *early = fault == 1 && h > 6e-3;
    if (*early) h *= 0.5;
    for (size_t k = 0; k < m->s.n; k++) m->s.y[k] += h * m->s.gain * (m->s.u[k] - m->s.y[k]);
    m->s.time = *last = t + h;
    m->s.steps++;
    *terminate = fault == 2;
    *event = fault == 3;
    return OK;
}

EXPORT Status fmi3GetFMUState(void *c, void **state)
{
    if (!*state) *state = malloc(sizeof(State));
    memcpy(*state, &((Model *)c)->s, sizeof(State));
    return OK;
}
EXPORT Status fmi3SetFMUState(void *c, void *state) { memcpy(&((Model *)c)->s, state, sizeof(State)); return OK; }
EXPORT Status fmi3FreeFMUState(void *c, void **state) { (void)c; free(*state); *state = NULL; return OK; }
EXPORT Status fmi3SerializedFMUStateSize(void *c, void *state, size_t *size) { (void)c, (void)state; *size = sizeof(State); return OK; }
EXPORT Status fmi3SerializeFMUState(void *c, void *state, char b[], size_t n) { (void)c; memcpy(b, state, n); return OK; }
EXPORT Status fmi3DeserializeFMUState(void *c, const char b[], size_t n, void **state)
{
    (void)c;
    *state = malloc(n);
    memcpy(*state, b, n);
    return OK;
}

/* d through / d u = 2 */
EXPORT Status fmi3GetDirectionalDerivative(void *c, const Ref unknowns[], size_t nu, const Ref knowns[], size_t nk,
                                           const double seed[], size_t seeds, double v[], size_t total)
{
    if (nu != 1 || nk != 1 || unknowns[0] != THROUGH || knowns[0] != U || seeds != ((Model *)c)->s.n || total != seeds)
        return say(c, ERROR, "no such derivative");
    for (size_t k = 0; k < total; k++) v[k] = 2.0 * seed[k];
    return OK;
}
EXPORT Status fmi3GetOutputDerivatives(void *c, const Ref r[], size_t n, const int32_t order[], double v[], size_t total)
{
    Model *m = c;
    if (n != 1 || r[0] != Y || order[0] != 1 || total != m->s.n) return say(m, ERROR, "no such derivative");
    for (size_t k = 0; k < total; k++) v[k] = m->s.gain * (m->s.u[k] - m->s.y[k]);
    return OK;
}
