/* One instance of the FMU, and what the functions of the standard have in common. */
#ifndef INSTANCE_H
#define INSTANCE_H

#include "fmi2.h"
#include "model.h"

/* The phase of an instance in the state machine of the standard (section 4.2.4); bits, to form sets of phases. */
typedef enum {
    INSTANTIATED = 1,
    INITIALIZATION_MODE = 2,
    STEP_COMPLETE = 4,
    STEP_FAILED = 8,
    TERMINATED = 16,
    FAILED = 32 /* "error" in the standard */
} Phase;

enum { ANY_PHASE = INSTANTIATED | INITIALIZATION_MODE | STEP_COMPLETE | STEP_FAILED | TERMINATED | FAILED };

/* Categories of messages, as bits. */
typedef enum { LOG_EVENTS = 1, LOG_DISCARD = 2, LOG_ERROR = 4, LOG_ALL = 7 } Category;

/* The part of the saved state that does not belong to the component. It holds no pointers and no padding. */
typedef struct {
    uint32_t phase;
    uint32_t experiment_defined;
    uint32_t initialize_needed; /* something was set since `initialize` ran last */
    uint32_t slopes_set;        /* derivatives of inputs are to be used in the next step */
    int32_t code;               /* returned by the last call of a kernel: the reason, if it failed */
    uint32_t stop_time_defined;
    double start_time, stop_time;
    double time;       /* end of the last successful step */
    double step_start; /* its beginning */
    double step_size;  /* its size; 0 before the first */
} Progress;

typedef struct {
    Progress progress;
    double *memory; /* model.size slots: the record of the component */
    double *before;  /* model.state_size slots: the changing ones as the last step began, with the inputs it used */
    double *slope;   /* model.averaged_count values: derivatives of these inputs for the next step */
    double *scratch; /* model.state_size slots */
    char *name;
    fmi2CallbackFunctions callbacks;
    uint32_t logged; /* categories */
} Instance;

/* Send a message to the importer; failures always, others if their category is logged. Returns `status`. */
fmi2Status report(const Instance *instance, fmi2Status status, Category category, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 4, 5)))
#endif
    ;

/* The instance behind `component` if the function may be called in this phase. Otherwise NULL, after a message that
   names the `function` and, if a kernel has failed, repeats the reason. */
Instance *expect(fmi2Component component, int phases, const char *function);

/* As `expect`, also checking that none of the arrays of `count` elements is missing. */
Instance *expect_arrays(fmi2Component component, int phases, const char *function, size_t count, const void *first,
                        const void *second);

const char *phase_name(uint32_t phase);

/* The public variable in `slot`, or NULL. */
const Variable *variable_in(fmi2ValueReference slot);

/* Is there a public variable with this value reference? If not, report that. */
int known(const Instance *instance, fmi2ValueReference reference, const char *function);

/* Copy some slots of one block of memory to their places in another. */
void copy_spans(double *to, const double *from, const Span *spans, uint32_t count);

/* Set every slot except the parameters and inputs to its start value, and run the component's `initialize`. */
int32_t run_initialize(Instance *instance);

/* Run the component's `step` from the state in memory. */
int32_t run_step(Instance *instance, double t, double h);

/* Do messages of failures have this category of their own? */
int is_category(const char *name);

/* Report why a kernel failed, and return the status for the importer: fmi2Discard, if `in_step`, for a failure that a
   shorter step could avoid, else fmi2Error. */
fmi2Status explain(const Instance *instance, int32_t code, int in_step, const char *where);

/* The status that a code of a kernel means for a step. */
fmi2Status status_of(int32_t code);

/* Bring the outputs up to date in initialisation mode. If the component fails, the instance fails. */
fmi2Status update(Instance *instance);

/* Fill the tables of the component from its resources; 0 after a message that names the file. */
int load_resources(Instance *instance, fmi2String location);

#endif
