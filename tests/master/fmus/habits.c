/* An FMU 2.0 with bad or rare habits, y' = 1; each habit is a bit of the parameter `habit` or, for what is done in
 * fmi2Instantiate, a letter of the environment variable HABITS.
 *
 * Real    0 output y, the time; 1 output stop, the stop time or -1; 2 parameter gain; 3 output sum = gain * count;
 *         4 output small, half of the smallest normal number; 5 output excess, t + h beyond the stop time, or with
 *         HELPER the version of libhelper.so
 * Integer 0 output count, the steps of all instances of this process; 1 parameter habit
 * String  0 output folder, the working directory; 1 output variable, the environment variable HABIT_ENVIRONMENT */
#define _GNU_SOURCE
#include <fenv.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#define EXPORT __attribute__((visibility("default")))
typedef int Status;
typedef unsigned Ref;
typedef const char *Str;
enum { OK, WARNING, DISCARD, ERROR };
/* what is done where the environment variable HABIT_PLACE says: in fmi2GetReal, fmi2Terminate, fmi2FreeInstance or when the
 * library is unloaded ("get", "terminate", "free", "unload") */
static void disturb(Str place)
{
    Str chosen = getenv("HABIT_PLACE");
    if (!chosen || strcmp(chosen, place)) return;
    (void)!chdir("/");
    umask(0377);
    fesetround(FE_UPWARD);
}
__attribute__((destructor)) static void unload(void) { disturb("unload"); }

/* bits of `habit`: ask for the end at 0.5 s, need a stop time, refuse what lies beyond it, change the directory in the
 * step at 0.3 s, change the rounding there, say a NUL there, fail after saying it, refuse a second instance,
 * change the handler of SIGINT there, fail with an error from 0.6 s on, end the process at 0.3 s, let a copy of the
 * process go on there, leave a thread or a timer of its own running there, read standard input there,
 * end the process there without any word, by _exit() */
enum { ENDS = 1, NEEDS_STOP = 2, STRICT = 4, CHANGES_FOLDER = 8, ROUNDS = 16, NUL = 32, FAILS = 64, SIGNALS = 128,
    LATER = 256, EXITS = 512, FORKS = 1024, THREAD = 2048, TIMER = 4096, READS = 8192, QUITS = 16384 };

typedef struct {
    void (*logger)(void *, Str, Status, Str, Str, ...);
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*step_finished)(void *, Status);
    void *environment;
} Callbacks;
typedef struct {
    double y, start, stop, gain, excess;
    int habit, terminated;
    const Callbacks *callbacks;
    char name[64], folder[1024];
} Model;

static int count, instances;
#ifdef HELPER
int helper_version(void);
#endif

static void ignore(int number) { (void)number; }
#define SAY(m, status, ...) (m)->callbacks->logger((m)->callbacks->environment, (m)->name, status, "all", __VA_ARGS__)

EXPORT Str fmi2GetTypesPlatform(void) { return "default"; }
EXPORT Str fmi2GetVersion(void) { return "2.0"; }
EXPORT Status fmi2SetDebugLogging(void *c, int on, size_t n, const Str *k) { (void)c, (void)on, (void)n, (void)k; return OK; }

EXPORT void *fmi2Instantiate(Str name, int type, Str guid, Str resources, const Callbacks *callbacks, int visible, int log)
{
    (void)type, (void)guid, (void)resources, (void)visible, (void)log;
    Str habits = getenv("HABITS");
    Model *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    if (!habits) habits = "";
    m->callbacks = callbacks;
    m->gain = 1.0;
    m->stop = -1.0;
    snprintf(m->name, sizeof m->name, "%s", name);
    if (strchr(habits, 'o') && instances++) {
        SAY(m, ERROR, "only once per process");
        free(m);
        return NULL;
    }
    if (strchr(habits, 'c') && chdir("/")) return NULL;
    if (strchr(habits, 'u')) umask(0377);
    if (strchr(habits, 'l')) setlocale(LC_ALL, "C.UTF-8");
    if (strchr(habits, 'e')) setenv("HABIT_ENVIRONMENT", "set", 1);
    if (strchr(habits, 'r')) fesetround(FE_UPWARD);
#if defined(__x86_64__)
    if (strchr(habits, 'd')) _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
    if (strchr(habits, 'f')) {
        struct rlimit files;
        getrlimit(RLIMIT_NOFILE, &files);
        files.rlim_cur /= 2;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    if (strchr(habits, 'p')) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(sched_getcpu(), &set);
        sched_setaffinity(0, sizeof set, &set);
    }
    if (strchr(habits, 's')) signal(SIGINT, ignore), signal(SIGTERM, SIG_IGN);
    return m;
}

static void *wait_for_ever(void *none)
{
    struct timespec moment = {0, 1000000};
    for (;;) nanosleep(&moment, NULL);
    return none;
}

EXPORT void fmi2FreeInstance(void *c) { disturb("free"); free(c); }
EXPORT Status fmi2SetupExperiment(void *c, int has_tolerance, double tolerance, double start, int has_stop, double stop)
{
    Model *m = c;
    (void)has_tolerance, (void)tolerance;
    m->y = m->start = start;
    m->stop = has_stop ? stop : -1.0;
    if (has_stop || !(m->habit & NEEDS_STOP)) return OK;
    SAY(m, ERROR, "the stop time is needed");
    return ERROR;
}
EXPORT Status fmi2EnterInitializationMode(void *c) { (void)c; return OK; }
EXPORT Status fmi2ExitInitializationMode(void *c) { (void)c; return OK; }
EXPORT Status fmi2Terminate(void *c) { (void)c; disturb("terminate"); return OK; }
EXPORT Status fmi2Reset(void *c) { (void)c; return ERROR; }

EXPORT Status fmi2DoStep(void *c, double t, double h, int prior)
{
    Model *m = c;
    (void)prior;
    if (t + h > m->stop && m->stop >= 0.0) {
        m->excess = t + h - m->stop;
        if (m->habit & STRICT) {
            SAY(m, ERROR, "%.17g lies beyond the stop time %.17g", t + h, m->stop);
            return ERROR;
        }
    }
    if ((m->habit & ENDS) && t + h >= 0.5 - 1e-9) {
        m->y = 0.5;
        m->terminated = 1;
        SAY(m, OK, "the ground is reached");
        return DISCARD;
    }
    if (t < 0.3 - 1e-9 && t + h >= 0.3 - 1e-9) {
        if ((m->habit & CHANGES_FOLDER) && chdir("/")) return ERROR;
        if (m->habit & ROUNDS) fesetround(FE_UPWARD);
        if (m->habit & SIGNALS) signal(SIGINT, ignore);
        if (m->habit & EXITS) exit(0);
        if (m->habit & QUITS) _exit(0);
        if (m->habit & FORKS) fork();
        if (m->habit & READS && getchar() != EOF) return ERROR;
        if (m->habit & THREAD) {
            pthread_t thread;
            pthread_create(&thread, NULL, wait_for_ever, NULL);
        }
        if (m->habit & TIMER) {
            struct itimerval often = {{0, 1000}, {0, 1000}};
            signal(SIGALRM, ignore);
            setitimer(ITIMER_REAL, &often, NULL);
        }
        if (m->habit & NUL) {
            SAY(m, m->habit & FAILS ? ERROR : WARNING, "mode %c%s", 0, " entered");
            if (m->habit & FAILS) return ERROR;
        }
    }
    if ((m->habit & LATER) && t >= 0.6 - 1e-9) {
        SAY(m, ERROR, "the state is lost");
        return ERROR;
    }
    int warns = (m->habit & NUL) && t < 0.3 - 1e-9 && t + h >= 0.3 - 1e-9;
    m->y = t + h;
    count++;
    return warns ? WARNING : OK;
}

EXPORT Status fmi2GetReal(void *c, const Ref r[], size_t n, double v[])
{
    Model *m = c;
    disturb("get");
    volatile double least = 2.2250738585072014e-308;
    for (size_t k = 0; k < n; k++) {
#ifdef HELPER
        m->excess = helper_version();
#endif
        double values[] = {m->y, m->stop, m->gain, m->gain * count, 0.5 * least, m->excess};
        v[k] = values[r[k]];
    }
    return OK;
}
EXPORT Status fmi2SetReal(void *c, const Ref r[], size_t n, const double v[])
{
    for (size_t k = 0; k < n; k++) if (r[k] == 2) ((Model *)c)->gain = v[k];
    return OK;
}
EXPORT Status fmi2GetInteger(void *c, const Ref r[], size_t n, int v[])
{
    for (size_t k = 0; k < n; k++) v[k] = r[k] ? ((Model *)c)->habit : count;
    return OK;
}
EXPORT Status fmi2SetInteger(void *c, const Ref r[], size_t n, const int v[])
{
    for (size_t k = 0; k < n; k++) if (r[k] == 1) ((Model *)c)->habit = v[k];
    return OK;
}
EXPORT Status fmi2GetString(void *c, const Ref r[], size_t n, Str v[])
{
    Model *m = c;
    Str variable = getenv("HABIT_ENVIRONMENT");
    if (!getcwd(m->folder, sizeof m->folder)) m->folder[0] = 0;
    for (size_t k = 0; k < n; k++) v[k] = r[k] ? (variable ? variable : "") : m->folder;
    return OK;
}

EXPORT Status fmi2GetFMUstate(void *c, void **s)
{
    if (!*s) *s = malloc(sizeof(Model));
    if (*s) memcpy(*s, c, sizeof(Model));
    return *s ? OK : ERROR;
}
EXPORT Status fmi2SetFMUstate(void *c, void *s)
{
    const Callbacks *callbacks = ((Model *)c)->callbacks;
    memcpy(c, s, sizeof(Model));
    ((Model *)c)->callbacks = callbacks;
    return OK;
}
EXPORT Status fmi2FreeFMUstate(void *c, void **s) { (void)c; free(*s); *s = NULL; return OK; }
EXPORT Status fmi2SerializedFMUstateSize(void *c, void *s, size_t *n) { (void)c, (void)s; *n = sizeof(Model); return OK; }
EXPORT Status fmi2SerializeFMUstate(void *c, void *s, char b[], size_t n) { (void)c; memcpy(b, s, n); return OK; }
EXPORT Status fmi2DeSerializeFMUstate(void *c, const char b[], size_t n, void **s)
{
    (void)c;
    *s = malloc(n);
    if (*s) memcpy(*s, b, n);
    return *s ? OK : ERROR;
}
EXPORT Status fmi2GetRealStatus(void *c, int kind, double *v) { *v = ((Model *)c)->y; return kind == 2 ? OK : DISCARD; }
EXPORT Status fmi2GetBooleanStatus(void *c, int kind, int *v)
{
    *v = ((Model *)c)->terminated;
    return kind == 3 ? OK : DISCARD;
}

#define MISSING(name, ...) EXPORT Status name(void *c, __VA_ARGS__)
MISSING(fmi2SetBoolean, const Ref r[], size_t n, const int v[]) { (void)c, (void)r, (void)v; return n ? ERROR : OK; }
MISSING(fmi2GetBoolean, const Ref r[], size_t n, int v[]) { (void)c, (void)r, (void)v; return n ? ERROR : OK; }
MISSING(fmi2SetString, const Ref r[], size_t n, const Str v[]) { (void)c, (void)r, (void)v; return n ? ERROR : OK; }
MISSING(fmi2GetDirectionalDerivative, const Ref u[], size_t nu, const Ref k[], size_t nk, const double d[], double v[])
{
    (void)c, (void)u, (void)nu, (void)k, (void)nk, (void)d, (void)v;
    return ERROR;
}
MISSING(fmi2SetRealInputDerivatives, const Ref r[], size_t n, const int o[], const double v[])
{
    (void)c, (void)r, (void)n, (void)o, (void)v;
    return ERROR;
}
MISSING(fmi2GetRealOutputDerivatives, const Ref r[], size_t n, const int o[], double v[])
{
    (void)c, (void)r, (void)n, (void)o, (void)v;
    return ERROR;
}
EXPORT Status fmi2CancelStep(void *c) { (void)c; return ERROR; }
MISSING(fmi2GetStatus, int kind, int *v) { (void)c, (void)kind; *v = OK; return OK; }
MISSING(fmi2GetIntegerStatus, int kind, int *v) { (void)c, (void)kind, (void)v; return DISCARD; }
MISSING(fmi2GetStringStatus, int kind, Str *v) { (void)c, (void)kind; *v = ""; return DISCARD; }
