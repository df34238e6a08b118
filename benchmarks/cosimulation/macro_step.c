/* The same ring in C: the reference for the compiled loop of the master.
 * usage: macro_step LIBRARY GUID INSTANCES CHANNELS STEPS H -> microseconds per macro step, last y[1] of instance 0 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct {
    void (*logger)(void *, const char *, int, const char *, const char *, ...);
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*finished)(void *, int);
    void *environment;
} Callbacks;

static void say(void *e, const char *n, int s, const char *c, const char *m, ...) {
    (void)e, (void)c;
    fprintf(stderr, "%s %d %s\n", n, s, m);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * t.tv_sec + 1e-3 * t.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc != 7) return 2;
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
    int count = atoi(argv[3]), n = atoi(argv[4]), steps = atoi(argv[5]);
    double h = atof(argv[6]);
    void *(*instantiate)(const char *, int, const char *, const char *, const Callbacks *, int, int) =
        dlsym(library, "fmi2Instantiate");
    int (*get)(void *, const unsigned *, size_t, double *) = dlsym(library, "fmi2GetReal");
    int (*set)(void *, const unsigned *, size_t, const double *) = dlsym(library, "fmi2SetReal");
    int (*step)(void *, double, double, int) = dlsym(library, "fmi2DoStep");
    int (*simple[2])(void *) = {dlsym(library, "fmi2EnterInitializationMode"), dlsym(library, "fmi2ExitInitializationMode")};
    static const Callbacks callbacks = {say, calloc, free, 0, 0};
    void **c = calloc(count, sizeof *c);
    double *y = calloc(count * n, sizeof *y), *u = calloc(count * n, sizeof *u);
    unsigned *inputs = calloc(n, sizeof *inputs), *outputs = calloc(n, sizeof *outputs), gain = 2 * n;
    for (int k = 0; k < n; k++) inputs[k] = k, outputs[k] = n + k;
    for (int i = 0; i < count; i++) {
        double value = 1.0 + i;
        if (!(c[i] = instantiate("lag", 1, argv[2], "", &callbacks, 0, 0))) return 1;
        set(c[i], &gain, 1, &value);
        for (int k = 0; k < 2; k++) simple[k](c[i]);
        get(c[i], outputs, n, y + i * n);
    }
    double start = now();
    for (int s = 0; s < steps; s++) {
        for (int i = 0; i < count; i++) {
            const double *from = y + ((i + count - 1) % count) * n;
            for (int k = 0; k < n; k++) u[i * n + k] = from[k] + (i == 0);
        }
        for (int i = 0; i < count; i++) if (set(c[i], inputs, n, u + i * n) > 1) return 1;
        for (int i = 0; i < count; i++) if (step(c[i], s * h, h, 1) > 1) return 1;
        for (int i = 0; i < count; i++) if (get(c[i], outputs, n, y + i * n) > 1) return 1;
    }
    printf("%.6f %.17g\n", (now() - start) / steps, y[0]);
    return 0;
}
