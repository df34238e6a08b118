/* What Windows' own C library leaves to whoever links for it.

   Its DLLs are on every machine, but they lack the start of a library, the probe of the stack that LLVM calls, `sincos`,
   and the functions that its headers once wrote inline. The MinGW library has all that among 430 files, which zig
   compiles for two minutes before it first links; these lines take none of it. */
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

int32_t __stdcall DllMainCRTStartup(void *library, uint32_t reason, void *reserved);
void sincos(double angle, double *sine, double *cosine);

/* Windows calls it when a library is loaded: there is nothing to prepare. */
int32_t __stdcall DllMainCRTStartup(void *library, uint32_t reason, void *reserved)
{
    (void)library;
    (void)reason;
    (void)reserved;
    return 1;
}

/* LLVM makes one call of the sine and the cosine of an angle; volatile, so that it does not do so here. */
void sincos(double angle, double *sine, double *cosine)
{
    volatile double same = angle;
    *sine = sin(angle);
    *cosine = cos(same);
}

/* A frame of rax bytes, more than a page: touch each page in turn, since Windows grows a stack by the next page only.
   All registers are kept. */
__asm__(".globl ___chkstk_ms\n"
        "___chkstk_ms:\n"
        "    push %rcx\n"
        "    push %rax\n"
        "    lea 24(%rsp), %rcx\n"
        "1:  cmp $0x1000, %rax\n"
        "    jbe 2f\n"
        "    sub $0x1000, %rcx\n"
        "    test %rcx, (%rcx)\n"
        "    sub $0x1000, %rax\n"
        "    jmp 1b\n"
        "2:  sub %rax, %rcx\n"
        "    test %rcx, (%rcx)\n"
        "    pop %rax\n"
        "    pop %rcx\n"
        "    ret\n");

/* MinGW takes Windows' own for data, as it has another with a global sign. */
extern double (*__imp_lgamma)(double);
double lgamma(double number)
{
    return __imp_lgamma(number);
}

/* The macros of math.h, `isfinite` among them, call it. */
int __fpclassify(double number)
{
    return __builtin_fpclassify(FP_NAN, FP_INFINITE, FP_NORMAL, FP_SUBNORMAL, FP_ZERO, number);
}

int vsnprintf(char *text, size_t size, const char *format, va_list arguments)
{
    return __stdio_common_vsprintf(_CRT_INTERNAL_PRINTF_STANDARD_SNPRINTF_BEHAVIOR, text, size, format, NULL,
                                   arguments);
}

int snprintf(char *text, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, size, format, arguments);
    va_end(arguments);
    return length;
}
