/* A small FMI 2.0 co-simulation FMU as somebody else might write it: x' = A x + b u + c s(t), y = O x with three states,
 * two outputs and a square wave s = +-1 that changes its sign at every multiple of `period`. A step that would pass such
 * an instant is discarded, unless it begins at most `window` before. The input may be a line over the step.
 *
 * Real      0 input u, 1 and 2 outputs y, 3 slope of u in the last step, 4 period (0: s = 1), 5 window, 6 state x,
 *           9 A by rows, 18 b, 21 c, 24 O by rows, 30 x'
 * Integer   0 output: steps done, 1 times that a step was discarded (no part of the state),
 *           2 parameter: number of the function that fails (1 fmi2GetRealOutputDerivatives,
 *           2 fmi2SetRealInputDerivatives), 3 parameter: its status
 * Boolean   0 parameter: fmi2GetRealStatus tells the last successful time
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

typedef int Status;
typedef unsigned Ref;
typedef const char *Str;
enum { OK, WARNING, DISCARD, ERROR };
enum { U, Y, SLOPE = 3, PERIOD, WINDOW, X, A = 9, B = 18, C = 21, O = 24, DX = 30, REALS = 33 };
enum { STEPS, DISCARDED, FAILS, STATUS, INTEGERS };
enum { OUTPUT_DERIVATIVES = 1, INPUT_DERIVATIVES };

typedef struct {
    void (*logger)(void *, Str, Status, Str, Str, ...);
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*step_finished)(void *, Status);
    void *environment;
} Callbacks;

typedef struct {
    double real[REALS], next_slope, time;
    int steps;
} State;

typedef struct {
    State state;
    int integer[INTEGERS], boolean[1];
    double reached;
    const Callbacks *callbacks;
    char name[64];
} Model;

static double wave(const double *p, double t)
{
    return p[PERIOD] > 0.0 && ((long)floor((t + p[WINDOW]) / p[PERIOD])) % 2 ? -1.0 : 1.0;
}

static void rate(const double *p, const double *x, double u, double s, double *dx)
{
    for (int i = 0; i < 3; i++) {
        dx[i] = p[B + i] * u + p[C + i] * s;
        for (int j = 0; j < 3; j++) dx[i] += p[A + 3 * i + j] * x[j];
    }
}

static double row(const double *p, int i, const double *x)
{
    return p[O + 3 * i] * x[0] + p[O + 3 * i + 1] * x[1] + p[O + 3 * i + 2] * x[2];
}

static void runge_kutta(double *p, double u, double slope, double s, double h)
{
    double k[4][3], at[3], *x = p + X;
    const double share[4] = {0.0, 0.5, 0.5, 1.0};
    for (int n = 0; n < 4; n++) {
        for (int i = 0; i < 3; i++) at[i] = x[i] + (n ? share[n] * h * k[n - 1][i] : 0.0);
        rate(p, at, u + share[n] * h * slope, s, k[n]);
    }
    for (int i = 0; i < 3; i++) x[i] += h / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]);
}

static Status fault(Model *m, int function, Str name)
{
    if (m->integer[FAILS] != function) return OK;
    m->callbacks->logger(m->callbacks->environment, m->name, m->integer[STATUS], "logStatusError", "%s fails on purpose", name);
    return m->integer[STATUS];
}

EXPORT Str fmi2GetTypesPlatform(void) { return "default"; }
EXPORT Str fmi2GetVersion(void) { return "2.0"; }
EXPORT Status fmi2SetDebugLogging(void *c, int on, size_t n, const Str *categories)
{
    (void)c, (void)on, (void)n, (void)categories;
    return OK;
}
EXPORT void *fmi2Instantiate(Str name, int type, Str guid, Str resources, const Callbacks *callbacks, int visible, int log)
{
    (void)resources, (void)visible, (void)log;
    if (type != 1 || strcmp(guid, "linear")) return NULL;
    Model *m = callbacks->allocate(1, sizeof *m);
    m->callbacks = callbacks;
    m->boolean[0] = 1;
    m->state.real[WINDOW] = 1e-9;
    snprintf(m->name, sizeof m->name, "%s", name);
    return m;
}
EXPORT void fmi2FreeInstance(void *c) { ((Model *)c)->callbacks->release(c); }
EXPORT Status fmi2SetupExperiment(void *c, int defined, double tolerance, double start, int has_stop, double stop)
{
    (void)defined, (void)tolerance, (void)has_stop, (void)stop;
    ((Model *)c)->state.time = start;
    return OK;
}
EXPORT Status fmi2EnterInitializationMode(void *c) { (void)c; return OK; }
EXPORT Status fmi2ExitInitializationMode(void *c) { (void)c; return OK; }
EXPORT Status fmi2Terminate(void *c) { (void)c; return OK; }
EXPORT Status fmi2Reset(void *c) { (void)c; return ERROR; }

static void outputs(Model *m)
{
    double *p = m->state.real;
    for (int i = 0; i < 2; i++) p[Y + i] = row(p, i, p + X);
    rate(p, p + X, p[U], wave(p, m->state.time), p + DX);
    m->integer[STEPS] = m->state.steps;
}

#define ACCESS(KIND, TYPE, FIELD, COUNT)                                                               \
    EXPORT Status fmi2Get##KIND(void *c, const Ref r[], size_t n, TYPE v[])                            \
    {                                                                                                  \
        outputs(c);                                                                                    \
        for (size_t i = 0; i < n; i++) {                                                               \
            if (r[i] >= COUNT) return ERROR;                                                           \
            v[i] = ((Model *)c)->FIELD[r[i]];                                                          \
        }                                                                                              \
        return OK;                                                                                     \
    }                                                                                                  \
    EXPORT Status fmi2Set##KIND(void *c, const Ref r[], size_t n, const TYPE v[])                      \
    {                                                                                                  \
        for (size_t i = 0; i < n; i++) {                                                               \
            if (r[i] >= COUNT) return ERROR;                                                           \
            ((Model *)c)->FIELD[r[i]] = v[i];                                                          \
        }                                                                                              \
        return OK;                                                                                     \
    }
ACCESS(Real, double, state.real, REALS)
ACCESS(Integer, int, integer, INTEGERS)
ACCESS(Boolean, int, boolean, 1)
EXPORT Status fmi2GetString(void *c, const Ref r[], size_t n, Str v[]) { (void)c, (void)r, (void)v; return n ? ERROR : OK; }
EXPORT Status fmi2SetString(void *c, const Ref r[], size_t n, const Str v[]) { (void)c, (void)r, (void)v; return n ? ERROR : OK; }

EXPORT Status fmi2SetRealInputDerivatives(void *c, const Ref r[], size_t n, const int order[], const double v[])
{
    Model *m = c;
    for (size_t i = 0; i < n; i++) {
        if (r[i] != U || order[i] != 1) return ERROR;
        m->state.next_slope = v[i];
    }
    return fault(m, INPUT_DERIVATIVES, "fmi2SetRealInputDerivatives");
}
EXPORT Status fmi2GetRealOutputDerivatives(void *c, const Ref r[], size_t n, const int order[], double v[])
{
    Model *m = c;
    const double *p = m->state.real;
    double dx[3];
    rate(p, p + X, p[U], wave(p, m->state.time), dx);
    for (size_t i = 0; i < n; i++) {
        if (r[i] - Y > 1 || order[i] != 1) return ERROR;
        v[i] = row(p, (int)r[i] - Y, dx);
    }
    return fault(m, OUTPUT_DERIVATIVES, "fmi2GetRealOutputDerivatives");
}

EXPORT Status fmi2DoStep(void *c, double t, double h, int no_set_state_prior)
{
    (void)no_set_state_prior;
    Model *m = c;
    double *p = m->state.real;
    m->state.time = t;
    if (p[PERIOD] > 0.0) {
        m->reached = p[PERIOD] * (floor((t + p[WINDOW]) / p[PERIOD]) + 1.0);
        if (m->reached < t + h - 1e-12) {
            m->integer[DISCARDED]++;
            return DISCARD;
        }
    }
    int parts = (int)ceil(h / 1e-3 - 1e-9);
    p[SLOPE] = m->state.next_slope;
    for (int k = 0; k < parts; k++)
        runge_kutta(p, p[U] + k * (h / parts) * p[SLOPE], p[SLOPE], wave(p, t), h / parts);
    m->state.next_slope = 0.0;
    m->state.steps++;
    m->state.time = t + h;
    return OK;
}
EXPORT Status fmi2CancelStep(void *c) { (void)c; return ERROR; }
EXPORT Status fmi2GetStatus(void *c, int kind, Status *v) { (void)c, (void)kind, (void)v; return DISCARD; }
EXPORT Status fmi2GetRealStatus(void *c, int kind, double *v)
{
    Model *m = c;
    if (kind != 2 || !m->boolean[0]) return DISCARD;
    *v = m->reached;
    return OK;
}
EXPORT Status fmi2GetIntegerStatus(void *c, int kind, int *v) { (void)c, (void)kind, (void)v; return DISCARD; }
EXPORT Status fmi2GetBooleanStatus(void *c, int kind, int *v) { (void)c, (void)kind; *v = 0; return OK; }
EXPORT Status fmi2GetStringStatus(void *c, int kind, Str *v) { (void)c, (void)kind, (void)v; return DISCARD; }
EXPORT Status fmi2GetDirectionalDerivative(void *c, const Ref z[], size_t nz, const Ref v[], size_t nv, const double dv[], double dz[])
{
    const double *p = ((Model *)c)->state.real;
    double dx[3] = {0.0, 0.0, 0.0}, du = 0.0;
    for (size_t k = 0; k < nv; k++) {
        if (v[k] == U) du += dv[k];
        else if (v[k] - X < 3) dx[v[k] - X] += dv[k];
        else return ERROR;
    }
    for (size_t i = 0; i < nz; i++) {
        if (z[i] - Y < 2) dz[i] = row(p, (int)z[i] - Y, dx);
        else if (z[i] - DX < 3) {
            const double *a = p + A + 3 * (z[i] - DX);
            dz[i] = a[0] * dx[0] + a[1] * dx[1] + a[2] * dx[2] + p[B + z[i] - DX] * du;
        } else return ERROR;
    }
    return OK;
}

EXPORT Status fmi2GetFMUstate(void *c, void **state)
{
    if (!*state) *state = malloc(sizeof(State));
    *(State *)*state = ((Model *)c)->state;
    return OK;
}
EXPORT Status fmi2SetFMUstate(void *c, void *state) { ((Model *)c)->state = *(State *)state; return OK; }
EXPORT Status fmi2FreeFMUstate(void *c, void **state) { (void)c; free(*state); *state = NULL; return OK; }
EXPORT Status fmi2SerializedFMUstateSize(void *c, void *state, size_t *n) { (void)c, (void)state, (void)n; return ERROR; }
EXPORT Status fmi2SerializeFMUstate(void *c, void *state, char b[], size_t n) { (void)c, (void)state, (void)b, (void)n; return ERROR; }
EXPORT Status fmi2DeSerializeFMUstate(void *c, const char b[], size_t n, void **state) { (void)c, (void)b, (void)n, (void)state; return ERROR; }
