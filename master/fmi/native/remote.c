/* Calls of an FMU that runs in another process, one at a time, through memory that both share. The FMU may write
 * anything there: the master takes values from it, but no address, no length, and no status that FMI does not have.
 *
 * The master's side has the functions of FMI 2.0 that a compiled loop calls; their component is a Link. The worker's
 * side is `remote_serve`. Who waits looks at the memory for a while, which is fast, and then sleeps in the kernel. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

typedef int Status;
typedef uint32_t Ref;
enum { OK, WARNING, DISCARD, ERROR, FATAL, PENDING };
enum { MASTER, WORKER };
enum { ALIVE, ENDED, TIMED_OUT, GARBLED };

static const int64_t SPIN_NS = 30000, LOOK_NS = 20000000;

/* X(name): the functions that the worker calls, in the order of the table that it is given. PYTHON is not among them:
   a message for the program around `remote_serve`. */
#define FUNCTIONS(X)                                                                                                   \
    X(fmi2GetReal) X(fmi2GetInteger) X(fmi2GetBoolean) X(fmi2SetReal) X(fmi2SetInteger) X(fmi2SetBoolean)              \
    X(fmi2DoStep) X(fmi2GetFMUstate) X(fmi2SetFMUstate) X(fmi2FreeFMUstate) X(fmi2GetDirectionalDerivative)            \
    X(fmi2SetRealInputDerivatives) X(fmi2GetRealOutputDerivatives) X(fmi2GetRealStatus) X(fmi2GetBooleanStatus)
#define NUMBER(NAME) NUMBER_##NAME,
#define NAME(NAME) #NAME,
enum { FUNCTIONS(NUMBER) PYTHON };
EXPORT const char *const remote_function_names[] = {FUNCTIONS(NAME) NULL};

typedef struct {
    _Atomic uint32_t turn;      /* who may touch what follows */
    _Atomic uint32_t asleep[2]; /* of each side: whether it sleeps */
    int32_t luck[2]; /* of each side, which alone touches it: how often more it looks for long */
    int32_t function, status, flag;
    uint64_t count[2];
    uint64_t state, size; /* size: bytes of a message in `body` */
    double t, h;
    char said[2][2048]; /* what the FMU said last, and its last warning; written by the worker at any time */
    _Alignas(64) unsigned char body[];
} Mailbox;

typedef struct {
    Mailbox *box;
    size_t capacity; /* of the body */
    pid_t pid;
    double timeout;
    int lost;
} Link;

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void pause_a_little(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static void hand_over(Mailbox *box, uint32_t to)
{
    atomic_store(&box->turn, to);
    if (atomic_load(&box->asleep[to])) syscall(SYS_futex, &box->turn, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static int my_turn(Mailbox *box, uint32_t me) { return atomic_load_explicit(&box->turn, memory_order_acquire) == me; }

/* Look for a while; only a short one where looking was in vain before, because the other one has no processor. */
static int spin(Mailbox *box, uint32_t me)
{
    int64_t end = now_ns() + (box->luck[me] > 0 ? SPIN_NS : SPIN_NS / 16);
    do {
        for (int round = 0; round < 16; round++) {
            if (my_turn(box, me)) {
                box->luck[me] = 4;
                return 1;
            }
            pause_a_little();
        }
    } while (now_ns() < end);
    box->luck[me] -= box->luck[me] > 0;
    return 0;
}

/* Sleep until it is my turn, or for LOOK_NS. */
static void sleep_until(Mailbox *box, uint32_t me)
{
    struct timespec look = {0, LOOK_NS};
    atomic_store(&box->asleep[me], 1);
    if (!my_turn(box, me)) syscall(SYS_futex, &box->turn, FUTEX_WAIT, !me, &look, NULL, 0);
    atomic_store(&box->asleep[me], 0);
}

static int ended(pid_t pid)
{
    siginfo_t info = {0};
    int failed = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
    return failed ? errno == ECHILD : info.si_pid != 0;
}

/* The answer's status, read once: it may change under our eyes. */
static Status answered(Link *link)
{
    Status status = *(volatile int32_t *)&link->box->status;
    if (status < OK || status > PENDING) link->lost = GARBLED;
    return link->lost ? FATAL : status;
}

static Status call(Link *link, int function)
{
    Mailbox *box = link->box;
    if (link->lost) return FATAL;
    box->function = function;
    hand_over(box, WORKER);
    if (spin(box, MASTER)) return answered(link);
    int64_t end = link->timeout > 0.0 && link->timeout < 1e9 ? now_ns() + (int64_t)(1e9 * link->timeout) : INT64_MAX;
    while (!my_turn(box, MASTER)) {
        sleep_until(box, MASTER);
        if (my_turn(box, MASTER)) break;
        if (ended(link->pid)) link->lost = ENDED;
        else if (now_ns() > end) link->lost = TIMED_OUT;
        if (link->lost) return FATAL;
    }
    return answered(link);
}

EXPORT Link *remote_open(Mailbox *box, size_t size, int pid, double timeout)
{
    Link *link = calloc(1, sizeof *link);
    if (link) *link = (Link){.box = box, .capacity = size - sizeof *box, .pid = pid, .timeout = timeout};
    return link;
}

EXPORT void remote_close(Link *link) { free(link); }
EXPORT void remote_set_timeout(Link *link, double timeout) { link->timeout = timeout; }
EXPORT int remote_lost(const Link *link) { return link->lost; }
EXPORT char *remote_said(Mailbox *box) { return box->said[0]; }
EXPORT size_t remote_capacity(const Mailbox *box, size_t size) { return size - sizeof *box; }
EXPORT unsigned char *remote_body(Mailbox *box) { return box->body; }
EXPORT uint64_t *remote_size(Mailbox *box) { return &box->size; }

/* Hand the message in `body` to the worker's program and wait for the answer there. */
EXPORT Status remote_ask(Link *link) { return call(link, PYTHON); }

/* The next `bytes` of the body, which start at a multiple of 8. */
static void *piece(unsigned char **at, size_t bytes)
{
    void *here = *at;
    *at += (bytes + 7) & ~(size_t)7;
    return here;
}

static void *piece_with(unsigned char **at, const void *content, size_t bytes)
{
    void *here = piece(at, bytes);
    if (bytes) memcpy(here, content, bytes);
    return here;
}

static int fits(const Link *link, size_t numbers) { return 8 * (numbers + 4) <= link->capacity; }

static Status read_values(Link *link, int function, const Ref r[], size_t n, void *values, size_t width)
{
    unsigned char *at = link->box->body;
    if (!fits(link, 2 * n)) return ERROR;
    link->box->count[0] = n;
    piece_with(&at, r, n * sizeof *r);
    void *found = piece(&at, n * width);
    Status status = call(link, function);
    if (status <= WARNING && n) memcpy(values, found, n * width);
    return status;
}

static Status write_values(Link *link, int function, const Ref r[], size_t n, const void *values, size_t width)
{
    unsigned char *at = link->box->body;
    if (!fits(link, 2 * n)) return ERROR;
    link->box->count[0] = n;
    piece_with(&at, r, n * sizeof *r);
    piece_with(&at, values, n * width);
    return call(link, function);
}

#define GETTER(KIND, TYPE)                                                                                             \
    EXPORT Status fmi2Get##KIND(Link *c, const Ref r[], size_t n, TYPE v[])                                            \
    {                                                                                                                  \
        return read_values(c, NUMBER_fmi2Get##KIND, r, n, v, sizeof *v);                                               \
    }
#define SETTER(KIND, TYPE)                                                                                             \
    EXPORT Status fmi2Set##KIND(Link *c, const Ref r[], size_t n, const TYPE v[])                                      \
    {                                                                                                                  \
        return write_values(c, NUMBER_fmi2Set##KIND, r, n, v, sizeof *v);                                              \
    }
GETTER(Real, double)
GETTER(Integer, int32_t)
GETTER(Boolean, int32_t)
SETTER(Real, double)
SETTER(Integer, int32_t)
SETTER(Boolean, int32_t)

EXPORT Status fmi2DoStep(Link *c, double t, double h, int no_set_state_prior)
{
    c->box->t = t;
    c->box->h = h;
    c->box->flag = no_set_state_prior;
    return call(c, NUMBER_fmi2DoStep);
}

/* States stay where they are; the master has their addresses there. */
static Status pass_state(Link *c, int function, void **state)
{
    c->box->state = (uint64_t)(uintptr_t)*state;
    Status status = call(c, function);
    *state = (void *)(uintptr_t)c->box->state;
    return status;
}

EXPORT Status fmi2GetFMUstate(Link *c, void **state) { return pass_state(c, NUMBER_fmi2GetFMUstate, state); }
EXPORT Status fmi2SetFMUstate(Link *c, void *state) { return pass_state(c, NUMBER_fmi2SetFMUstate, &state); }
EXPORT Status fmi2FreeFMUstate(Link *c, void **state) { return pass_state(c, NUMBER_fmi2FreeFMUstate, state); }

EXPORT Status fmi2GetDirectionalDerivative(Link *c, const Ref unknowns[], size_t nu, const Ref knowns[], size_t nk,
                                           const double seed[], double sensitivity[])
{
    unsigned char *at = c->box->body;
    if (!fits(c, 2 * (nu + nk))) return ERROR;
    c->box->count[0] = nu;
    c->box->count[1] = nk;
    piece_with(&at, unknowns, nu * sizeof *unknowns);
    piece_with(&at, knowns, nk * sizeof *knowns);
    piece_with(&at, seed, nk * sizeof *seed);
    double *found = piece(&at, nu * sizeof *found);
    Status status = call(c, NUMBER_fmi2GetDirectionalDerivative);
    if (status <= WARNING && nu) memcpy(sensitivity, found, nu * sizeof *found);
    return status;
}

EXPORT Status fmi2SetRealInputDerivatives(Link *c, const Ref r[], size_t n, const int32_t order[], const double v[])
{
    unsigned char *at = c->box->body;
    if (!fits(c, 3 * n)) return ERROR;
    c->box->count[0] = n;
    piece_with(&at, r, n * sizeof *r);
    piece_with(&at, order, n * sizeof *order);
    piece_with(&at, v, n * sizeof *v);
    return call(c, NUMBER_fmi2SetRealInputDerivatives);
}

EXPORT Status fmi2GetRealOutputDerivatives(Link *c, const Ref r[], size_t n, const int32_t order[], double v[])
{
    unsigned char *at = c->box->body;
    if (!fits(c, 3 * n)) return ERROR;
    c->box->count[0] = n;
    piece_with(&at, r, n * sizeof *r);
    piece_with(&at, order, n * sizeof *order);
    double *found = piece(&at, n * sizeof *found);
    Status status = call(c, NUMBER_fmi2GetRealOutputDerivatives);
    if (status <= WARNING && n) memcpy(v, found, n * sizeof *v);
    return status;
}

EXPORT Status fmi2GetRealStatus(Link *c, int kind, double *value)
{
    c->box->flag = kind;
    Status status = call(c, NUMBER_fmi2GetRealStatus);
    *value = c->box->t;
    return status;
}

EXPORT Status fmi2GetBooleanStatus(Link *c, int kind, int *value)
{
    c->box->flag = kind;
    Status status = call(c, NUMBER_fmi2GetBooleanStatus);
    *value = c->box->flag;
    return status;
}

/* One call in the worker, of a function whose arguments are in the mailbox. */
static Status serve_one(Mailbox *box, void *function, int number, void *component)
{
    typedef Status Access(void *, const Ref[], size_t, void *);
    typedef Status Derivatives(void *, const Ref[], size_t, const int32_t[], double[]);
    void *state = (void *)(uintptr_t)box->state;
    size_t n = box->count[0], more = box->count[1];
    unsigned char *at = box->body;
    Status status;
    switch (number) {
    case NUMBER_fmi2DoStep:
        return ((Status(*)(void *, double, double, int))function)(component, box->t, box->h, box->flag);
    case NUMBER_fmi2SetFMUstate: return ((Status(*)(void *, void *))function)(component, state);
    case NUMBER_fmi2GetFMUstate:
    case NUMBER_fmi2FreeFMUstate:
        status = ((Status(*)(void *, void **))function)(component, &state);
        box->state = (uint64_t)(uintptr_t)state;
        return status;
    case NUMBER_fmi2GetRealStatus:
        return ((Status(*)(void *, int, double *))function)(component, box->flag, &box->t);
    case NUMBER_fmi2GetBooleanStatus:
        return ((Status(*)(void *, int, int *))function)(component, box->flag, &box->flag);
    case NUMBER_fmi2GetDirectionalDerivative: {
        const Ref *unknowns = piece(&at, n * sizeof(Ref)), *knowns = piece(&at, more * sizeof(Ref));
        const double *seed = piece(&at, more * sizeof(double));
        return ((Status(*)(void *, const Ref[], size_t, const Ref[], size_t, const double[], double[]))function)(
            component, unknowns, n, knowns, more, seed, piece(&at, n * sizeof(double)));
    }
    case NUMBER_fmi2SetRealInputDerivatives:
    case NUMBER_fmi2GetRealOutputDerivatives: {
        const Ref *references = piece(&at, n * sizeof(Ref));
        const int32_t *order = piece(&at, n * sizeof *order);
        return ((Derivatives *)function)(component, references, n, order, piece(&at, n * sizeof(double)));
    }
    default: {
        const Ref *references = piece(&at, n * sizeof(Ref));
        return ((Access *)function)(component, references, n, piece(&at, 0));
    }
    }
}

/* Answer calls until one comes that is a message; `remote_answer` answers that. */
EXPORT void remote_serve(Mailbox *box, void *const functions[], void *component)
{
    pid_t own = getpid();
    for (;;) {
        if (!spin(box, WORKER))
            while (!my_turn(box, WORKER)) sleep_until(box, WORKER);
        int function = box->function;
        if (function == PYTHON) return;
        int known = function >= 0 && function < PYTHON && functions[function];
        box->status = known ? serve_one(box, functions[function], function, component) : ERROR;
        if (getpid() != own) _exit(0); /* a copy that the FMU has made by fork() must not answer too */
        hand_over(box, MASTER);
    }
}

EXPORT void remote_answer(Mailbox *box, Status status)
{
    box->status = status;
    hand_over(box, MASTER);
}
