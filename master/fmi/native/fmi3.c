/* An FMU of FMI 3.0 behind the functions of FMI 2.0, so that a master has to know only those.
 *
 * The value references here are numbers of elements: arrays of FMI 3.0 are taken apart, and put together again for the
 * calls, which know only whole arrays. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

typedef int Status;
typedef uint32_t Ref;
enum { OK, WARNING, DISCARD, ERROR };
enum { LAST_SUCCESSFUL_TIME = 2, TERMINATED = 3 };

/* X(name, C type) for each type that has fmi3Get... and fmi3Set... */
#define TYPES(X)                                                                                                       \
    X(Float64, double) X(Float32, float) X(Int8, int8_t) X(UInt8, uint8_t) X(Int16, int16_t) X(UInt16, uint16_t)       \
    X(Int32, int32_t) X(UInt32, uint32_t) X(Int64, int64_t) X(UInt64, uint64_t) X(Boolean, bool)                       \
    X(String, const char *)

#define NUMBER(NAME, TYPE) NAME,
enum { TYPES(NUMBER) TYPE_COUNT };
#define SIZE(NAME, TYPE) sizeof(TYPE),
static const size_t size_of[] = {TYPES(SIZE)};

typedef Status Access(void *, const Ref[], size_t, void *, size_t);

/* Functions of the FMU, in the order of `fmi3_function_names`. */
typedef struct {
    Access *get[TYPE_COUNT], *set[TYPE_COUNT];
    Status (*enter_configuration)(void *), (*exit_configuration)(void *);
    Status (*enter_initialization)(void *, bool, double, double, bool, double);
    Status (*do_step)(void *, double, double, bool, bool *, bool *, bool *, double *);
    Status (*set_logging)(void *, bool, size_t, const char *const[]);
    Status (*exit_initialization)(void *), (*terminate)(void *), (*reset)(void *);
    Status (*get_state)(void *, void **), (*set_state)(void *, void *), (*free_state)(void *, void **);
    Status (*state_size)(void *, void *, size_t *), (*serialize)(void *, void *, char[], size_t);
    Status (*deserialize)(void *, const char[], size_t, void **);
    Status (*directional)(void *, const Ref[], size_t, const Ref[], size_t, const double[], size_t, double[], size_t);
    Status (*output_derivatives)(void *, const Ref[], size_t, const int32_t[], double[], size_t);
    void (*free_instance)(void *);
} Functions;

#define GETTER(NAME, TYPE) "fmi3Get" #NAME,
#define SETTER(NAME, TYPE) "fmi3Set" #NAME,
EXPORT const char *const fmi3_function_names[] = {
    TYPES(GETTER) TYPES(SETTER) "fmi3EnterConfigurationMode", "fmi3ExitConfigurationMode",
    "fmi3EnterInitializationMode", "fmi3DoStep", "fmi3SetDebugLogging", "fmi3ExitInitializationMode", "fmi3Terminate",
    "fmi3Reset", "fmi3GetFMUState", "fmi3SetFMUState", "fmi3FreeFMUState", "fmi3SerializedFMUStateSize",
    "fmi3SerializeFMUState", "fmi3DeserializeFMUState", "fmi3GetDirectionalDerivative", "fmi3GetOutputDerivatives",
    "fmi3FreeInstance", NULL,
};

typedef struct {
    Ref reference;
    uint32_t type, first, size, structural;
    uint32_t known; /* whether the cache begins with its start values */
} Array;

/* Whether the FMU may hold other values than the cache: no; probably not, so that the cache serves where the FMU cannot
 * be read; yes. */
typedef enum { SURE, LIKELY, STALE } Doubt;

typedef void Say(void *environment, Status, const char *category, const char *text);

typedef struct {
    void *instance;
    Functions call;
    const Array *arrays;
    const uint32_t *owner;  /* of each element: its array */
    unsigned char *cache;   /* 8 bytes for each element: what it was last set to */
    unsigned char *first;   /* the cache as it was at first */
    unsigned char *stale;   /* of each array: a Doubt */
    unsigned char *given;   /* of each element: whether the present call sets it */
    uint32_t array_count, element_count;
    Ref *chosen;
    unsigned char *scratch;
    size_t chosen_capacity, scratch_capacity;
    double start, stop, tolerance, last_time;
    bool has_stop, has_tolerance, terminated;
    Say *say;
    void *environment;
} Component;

static Status complain(Component *c, Status status, const char *text)
{
    c->say(c->environment, status, "logStatusError", text);
    return status;
}

/* Strings in the cache are copies of our own; where an FMU gives none, it is the empty one. */
static void keep_text(unsigned char *slot, const char *text)
{
    if (!text) text = "";
    char *copy = malloc(strlen(text) + 1), *old;
    memcpy(&old, slot, sizeof old);
    free(old);
    if (copy) strcpy(copy, text);
    memcpy(slot, &copy, sizeof copy);
}

static void for_texts(const Component *c, unsigned char *cache, void (*act)(unsigned char *slot))
{
    for (const Array *array = c->arrays; array < c->arrays + c->array_count; array++)
        for (uint32_t k = 0; array->type == String && k < array->size; k++) act(cache + 8 * (array->first + k));
}

static void copy_text(unsigned char *slot)
{
    const char *given;
    memcpy(&given, slot, sizeof given);
    memset(slot, 0, sizeof given);
    keep_text(slot, given);
}

static void free_text(unsigned char *slot)
{
    char *text;
    memcpy(&text, slot, sizeof text);
    free(text);
}

/* The cache of an instance that has just been made or reset. */
static void begin(Component *c)
{
    for_texts(c, c->cache, free_text);
    memcpy(c->cache, c->first, 8 * (size_t)c->element_count);
    for_texts(c, c->cache, copy_text);
    for (uint32_t k = 0; k < c->array_count; k++) c->stale[k] = c->arrays[k].known ? SURE : STALE;
}

EXPORT Component *fmi3_wrap(void *instance, void *const functions[], const Array *arrays, uint32_t array_count,
                            const uint32_t *owner, uint32_t element_count, const unsigned char *cache, Say *say,
                            void *environment)
{
    Component *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->instance = instance;
    memcpy(&c->call, functions, sizeof c->call);
    c->arrays = arrays;
    c->array_count = array_count;
    c->owner = owner;
    c->say = say;
    c->environment = environment;
    c->element_count = element_count;
    c->cache = calloc((size_t)element_count + 1, 8);
    c->first = malloc(8 * (size_t)element_count + 1);
    c->stale = calloc(array_count + 1, 1);
    c->given = calloc((size_t)element_count + 1, 1);
    if (!c->cache || !c->first || !c->stale || !c->given) {
        free(c->cache);
        free(c->first);
        free(c->stale);
        free(c->given);
        free(c);
        return NULL;
    }
    memcpy(c->first, cache, 8 * (size_t)element_count);
    for_texts(c, c->first, copy_text);
    begin(c);
    return c;
}

EXPORT void fmi2FreeInstance(Component *c)
{
    c->call.free_instance(c->instance);
    for_texts(c, c->cache, free_text);
    for_texts(c, c->first, free_text);
    free(c->cache);
    free(c->first);
    free(c->stale);
    free(c->given);
    free(c->chosen);
    free(c->scratch);
    free(c);
}

static bool room(Component *c, size_t chosen, size_t bytes)
{
    if (chosen > c->chosen_capacity) {
        Ref *larger = realloc(c->chosen, chosen * sizeof *larger);
        if (!larger) return false;
        c->chosen = larger;
        c->chosen_capacity = chosen;
    }
    if (bytes > c->scratch_capacity) {
        unsigned char *larger = realloc(c->scratch, bytes);
        if (!larger) return false;
        c->scratch = larger;
        c->scratch_capacity = bytes;
    }
    return true;
}

/* Elements refs[0], refs[1], ... whose arrays one call can carry: of one type. */
typedef struct {
    size_t length;   /* elements */
    size_t arrays;   /* their arrays; one that comes twice in a row counts once */
    size_t elements; /* of these arrays */
    uint32_t type;
    bool structural;
} Run;

static Status find_run(Component *c, const Ref refs[], size_t n, Run *run)
{
    const Array *first = &c->arrays[c->owner[refs[0]]], *last = NULL;
    *run = (Run){.type = first->type, .structural = first->structural};
    for (; run->length < n; run->length++) {
        const Array *array = &c->arrays[c->owner[refs[run->length]]];
        if (array->type != first->type || array->structural != first->structural) break;
        if (array == last) continue;
        if (!room(c, run->arrays + 1, 0)) return complain(c, ERROR, "no memory left");
        c->chosen[run->arrays++] = array->reference;
        run->elements += array->size;
        last = array;
    }
    return room(c, 0, 8 * run->elements) ? OK : complain(c, ERROR, "no memory left");
}

/* Where the elements of a run lie in the concatenated arrays: call once for each in order. */
typedef struct {
    const Array *array;
    size_t at;
} Place;

static size_t next_place(const Component *c, Place *place, Ref element)
{
    const Array *array = &c->arrays[c->owner[element]];
    if (place->array != array) {
        place->at += place->array ? place->array->size : 0;
        place->array = array;
    }
    return place->at + (element - array->first);
}

typedef enum { AS_REAL, AS_INTEGER, AS_TEXT } Form;

static bool fits(int64_t value)
{
    return value >= INT32_MIN && value <= INT32_MAX;
}

/* One element from the types of FMI 3.0 to those of FMI 2.0; false where an integer is too large. */
static bool read_element(const unsigned char *scratch, uint32_t type, size_t at, Form form, void *values, size_t i)
{
    if (form == AS_TEXT) ((const char **)values)[i] = ((const char *const *)(const void *)scratch)[at];
    if (form == AS_REAL)
        ((double *)values)[i] = type == Float64 ? ((const double *)(const void *)scratch)[at]
                                                : (double)((const float *)(const void *)scratch)[at];
    if (form != AS_INTEGER) return true;
    int64_t value = 0;
    switch (type) {
#define CASE(NAME, TYPE)                                                                                               \
    case NAME: value = (int64_t)((const TYPE *)(const void *)scratch)[at]; break;
        CASE(Int8, int8_t) CASE(UInt8, uint8_t) CASE(Int16, int16_t) CASE(UInt16, uint16_t) CASE(Int32, int32_t)
        CASE(UInt32, uint32_t) CASE(Int64, int64_t) CASE(Boolean, bool)
#undef CASE
    case UInt64: {
        uint64_t wide = ((const uint64_t *)(const void *)scratch)[at];
        value = wide > INT32_MAX ? INT64_MAX : (int64_t)wide;
    }
    }
    ((int32_t *)values)[i] = (int32_t)value;
    return fits(value);
}

static Status get(Component *c, const Ref refs[], size_t n, void *values, Form form)
{
    Status worst = OK;
    for (size_t i = 0; i < n;) {
        Run run;
        if (find_run(c, refs + i, n - i, &run) != OK) return ERROR;
        Status status = c->call.get[run.type](c->instance, c->chosen, run.arrays, c->scratch, run.elements);
        if (status > WARNING) return status;
        worst = status > worst ? status : worst;
        Place place = {0};
        for (size_t end = i + run.length; i < end; i++)
            if (!read_element(c->scratch, run.type, next_place(c, &place, refs[i]), form, values, i))
                return complain(c, ERROR, "the value of an integer needs more than 32 bits, which this master has not");
    }
    return worst;
}

/* One element into the cache; false where a number does not fit its type. */
static bool write_element(unsigned char *cache, uint32_t type, Form form, const void *values, size_t i)
{
    if (form == AS_TEXT) {
        keep_text(cache, ((const char *const *)values)[i]);
        return true;
    }
    if (form == AS_REAL) {
        double real = ((const double *)values)[i];
        float single = (float)real;
        if (type == Float64) memcpy(cache, &real, sizeof real);
        else memcpy(cache, &single, sizeof single);
        return type == Float64 || isinf(real) || !isinf(single);
    }
    int32_t whole = ((const int32_t *)values)[i];
    switch (type) {
#define CASE(NAME, TYPE)                                                                                               \
    case NAME: {                                                                                                       \
        TYPE value = (TYPE)whole;                                                                                      \
        memcpy(cache, &value, sizeof value);                                                                           \
        return (int64_t)value == whole;                                                                                \
    }
        CASE(Int8, int8_t) CASE(UInt8, uint8_t) CASE(Int16, int16_t) CASE(UInt16, uint16_t) CASE(Int32, int32_t)
        CASE(UInt32, uint32_t) CASE(Int64, int64_t)
#undef CASE
    case UInt64: {
        uint64_t value = (uint64_t)whole;
        memcpy(cache, &value, sizeof value);
        return whole >= 0;
    }
    default: {
        bool value = whole != 0;
        memcpy(cache, &value, sizeof value);
        return true;
    }
    }
}

/* The cache of an array from the FMU, where the FMU may hold other values. */
static Status refresh(Component *c, const Array *array)
{
    size_t size = size_of[array->type];
    if (!room(c, 0, 8 * (size_t)array->size)) return complain(c, ERROR, "no memory left");
    Status status = c->call.get[array->type](c->instance, &array->reference, 1, c->scratch, array->size);
    for (size_t k = 0; status <= WARNING && k < array->size; k++) {
        unsigned char *slot = c->cache + 8 * (array->first + k);
        if (array->type == String) keep_text(slot, ((const char **)(void *)c->scratch)[k]);
        else memcpy(slot, c->scratch + size * k, size);
    }
    return status;
}

/* The caches of the arrays of which only some elements are set. */
static Status refresh_partial(Component *c, const Ref refs[], size_t n)
{
    Status worst = OK;
    for (size_t i = 0; i < n; i++) c->given[refs[i]] = 1;
    for (size_t i = 0; i < n && worst <= WARNING; i++) {
        const Array *array = &c->arrays[c->owner[refs[i]]];
        unsigned char *doubt = &c->stale[array - c->arrays];
        if (*doubt != SURE && memchr(c->given + array->first, 0, array->size)) {
            Status status = refresh(c, array);
            if (status > WARNING && *doubt == STALE)
                worst = complain(c, status, "the other elements of the array cannot be read at this moment; set all "
                                            "elements of the array");
        }
        *doubt = worst > WARNING ? STALE : SURE;
    }
    for (size_t i = 0; i < n; i++) c->given[refs[i]] = 0;
    return worst;
}

static Status set(Component *c, const Ref refs[], size_t n, const void *values, Form form)
{
    Status worst = OK;
    for (size_t i = 0; i < n;) {
        Run run;
        if (find_run(c, refs + i, n - i, &run) != OK) return ERROR;
        size_t first = i, end = i + run.length, size = size_of[run.type];
        if (refresh_partial(c, refs + first, run.length) > WARNING) return ERROR;
        for (; i < end; i++)
            if (!write_element(c->cache + 8 * refs[i], run.type, form, values, i))
                return complain(c, ERROR, "a number does not fit the type of the variable");
        Place place = {0};
        for (size_t k = first; k < end; k++) {
            next_place(c, &place, refs[k]);
            for (size_t e = 0; e < place.array->size; e++)
                memcpy(c->scratch + size * (place.at + e), c->cache + 8 * (place.array->first + e), size);
        }
        if (run.structural && c->call.enter_configuration(c->instance) > WARNING) return ERROR;
        Status status = c->call.set[run.type](c->instance, c->chosen, run.arrays, c->scratch, run.elements);
        /* after an error an FMU may only be reset or freed, and the reason that it gave must stay the last one */
        if (run.structural && status < ERROR && c->call.exit_configuration(c->instance) > WARNING) return ERROR;
        if (status > WARNING) return status;
        worst = status > worst ? status : worst;
        /* arrays may have other lengths now, and the FMU decides what is in them */
        for (uint32_t k = 0; run.structural && k < c->array_count; k++)
            if (!c->arrays[k].structural && c->stale[k] == SURE) c->stale[k] = LIKELY;
    }
    return worst;
}

EXPORT Status fmi2GetReal(Component *c, const Ref r[], size_t n, double v[]) { return get(c, r, n, v, AS_REAL); }
EXPORT Status fmi2GetInteger(Component *c, const Ref r[], size_t n, int32_t v[]) { return get(c, r, n, v, AS_INTEGER); }
EXPORT Status fmi2GetBoolean(Component *c, const Ref r[], size_t n, int32_t v[]) { return get(c, r, n, v, AS_INTEGER); }
EXPORT Status fmi2GetString(Component *c, const Ref r[], size_t n, const char *v[]) { return get(c, r, n, v, AS_TEXT); }
EXPORT Status fmi2SetReal(Component *c, const Ref r[], size_t n, const double v[]) { return set(c, r, n, v, AS_REAL); }
EXPORT Status fmi2SetInteger(Component *c, const Ref r[], size_t n, const int32_t v[])
{
    return set(c, r, n, v, AS_INTEGER);
}
EXPORT Status fmi2SetBoolean(Component *c, const Ref r[], size_t n, const int32_t v[])
{
    return set(c, r, n, v, AS_INTEGER);
}
EXPORT Status fmi2SetString(Component *c, const Ref r[], size_t n, const char *const v[])
{
    return set(c, r, n, v, AS_TEXT);
}

EXPORT Status fmi2SetupExperiment(Component *c, int has_tolerance, double tolerance, double start, int has_stop,
                                  double stop)
{
    c->has_tolerance = has_tolerance != 0;
    c->tolerance = tolerance;
    c->start = start;
    c->has_stop = has_stop != 0;
    c->stop = stop;
    return OK;
}

EXPORT Status fmi2EnterInitializationMode(Component *c)
{
    return c->call.enter_initialization(c->instance, c->has_tolerance, c->tolerance, c->start, c->has_stop, c->stop);
}

/* What FMI 3.0 tells besides the status becomes fmi2Discard, and is there for fmi2GetRealStatus and its kin. */
EXPORT Status fmi2DoStep(Component *c, double t, double h, int no_set_state_prior)
{
    bool event = false, early = false;
    c->last_time = t;
    c->terminated = false;
    Status status =
        c->call.do_step(c->instance, t, h, no_set_state_prior != 0, &event, &c->terminated, &early, &c->last_time);
    if (status > WARNING) return status;
    if (c->terminated) return DISCARD;
    if (early) return complain(c, DISCARD, "fmi3DoStep: earlyReturn, though it was not allowed");
    if (event) return complain(c, DISCARD, "fmi3DoStep: eventHandlingNeeded, though event mode is not used");
    return status;
}

EXPORT Status fmi2GetRealStatus(Component *c, int kind, double *value)
{
    *value = c->last_time;
    return kind == LAST_SUCCESSFUL_TIME ? OK : DISCARD;
}

EXPORT Status fmi2GetBooleanStatus(Component *c, int kind, int *value)
{
    *value = c->terminated;
    return kind == TERMINATED ? OK : DISCARD;
}

EXPORT Status fmi2SetDebugLogging(Component *c, int on, size_t n, const char *const categories[])
{
    return c->call.set_logging(c->instance, on != 0, n, categories);
}

EXPORT Status fmi2ExitInitializationMode(Component *c) { return c->call.exit_initialization(c->instance); }
EXPORT Status fmi2Terminate(Component *c) { return c->call.terminate(c->instance); }
EXPORT Status fmi2GetFMUstate(Component *c, void **state) { return c->call.get_state(c->instance, state); }
EXPORT Status fmi2FreeFMUstate(Component *c, void **state) { return c->call.free_state(c->instance, state); }
EXPORT Status fmi2SerializedFMUstateSize(Component *c, void *state, size_t *size)
{
    return c->call.state_size(c->instance, state, size);
}
EXPORT Status fmi2SerializeFMUstate(Component *c, void *state, char bytes[], size_t size)
{
    return c->call.serialize(c->instance, state, bytes, size);
}
EXPORT Status fmi2DeSerializeFMUstate(Component *c, const char bytes[], size_t size, void **state)
{
    return c->call.deserialize(c->instance, bytes, size, state);
}

EXPORT Status fmi2Reset(Component *c)
{
    begin(c);
    return c->call.reset(c->instance);
}

EXPORT Status fmi2SetFMUstate(Component *c, void *state)
{
    memset(c->stale, STALE, c->array_count);
    return c->call.set_state(c->instance, state);
}

/* Seeds of elements that are not asked for are zero. */
EXPORT Status fmi2GetDirectionalDerivative(Component *c, const Ref unknowns[], size_t unknown_count,
                                           const Ref knowns[], size_t known_count, const double seed[],
                                           double sensitivity[])
{
    Run known, unknown;
    if (find_run(c, knowns, known_count, &known) != OK) return ERROR;
    Ref *references = malloc((known.arrays + 1) * sizeof *references);
    double *seeds = calloc(known.elements + 1, sizeof *seeds);
    Status status = ERROR;
    if (references && seeds && known.length == known_count) {
        memcpy(references, c->chosen, known.arrays * sizeof *references);
        Place place = {0};
        for (size_t i = 0; i < known_count; i++) seeds[next_place(c, &place, knowns[i])] = seed[i];
        if (find_run(c, unknowns, unknown_count, &unknown) == OK && unknown.length == unknown_count)
            status = c->call.directional(c->instance, c->chosen, unknown.arrays, references, known.arrays, seeds,
                                         known.elements, (double *)(void *)c->scratch, unknown.elements);
        place = (Place){0};
        for (size_t i = 0; status <= WARNING && i < unknown_count; i++)
            sensitivity[i] = ((double *)(void *)c->scratch)[next_place(c, &place, unknowns[i])];
    }
    free(references);
    free(seeds);
    return status;
}

EXPORT Status fmi2GetRealOutputDerivatives(Component *c, const Ref refs[], size_t n, const int32_t order[],
                                           double values[])
{
    Run run;
    if (n == 0) return OK;
    if (find_run(c, refs, n, &run) != OK) return ERROR;
    for (size_t i = 1; i < n; i++)
        if (order[i] != order[0]) return complain(c, ERROR, "derivatives of different orders in one call");
    int32_t *orders = malloc(run.arrays * sizeof *orders);
    if (!orders || run.length != n) {
        free(orders);
        return complain(c, ERROR, "derivatives of variables of several types in one call");
    }
    for (size_t k = 0; k < run.arrays; k++) orders[k] = order[0];
    double *found = (double *)(void *)c->scratch;
    Status status = c->call.output_derivatives(c->instance, c->chosen, run.arrays, orders, found, run.elements);
    Place place = {0};
    for (size_t i = 0; status <= WARNING && i < n; i++) values[i] = found[next_place(c, &place, refs[i])];
    free(orders);
    return status;
}
