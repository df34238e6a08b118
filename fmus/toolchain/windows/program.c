/* What a program for Windows needs besides `library.c`: its start, and text to and from files. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { WITHOUT_WILDCARDS = 1 };

int main(int count, char **arguments);
int __cdecl _configure_narrow_argv(int mode); /* of a header that MinGW lacks */
void mainCRTStartup(void);
void __main(void);

/* Windows calls it when a program starts. */
void mainCRTStartup(void)
{
    _configure_narrow_argv(WITHOUT_WILDCARDS);
    exit(main(*__p___argc(), *__p___argv()));
}

/* clang calls it at the begin of `main`, for constructors of C++. */
void __main(void) {}

int vfprintf(FILE *file, const char *format, va_list arguments)
{
    return __stdio_common_vfprintf(0, file, format, NULL, arguments);
}

int fprintf(FILE *file, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vfprintf(file, format, arguments);
    va_end(arguments);
    return length;
}

int printf(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vfprintf(stdout, format, arguments);
    va_end(arguments);
    return length;
}

int fscanf(FILE *file, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int count = __stdio_common_vfscanf(0, file, format, NULL, arguments);
    va_end(arguments);
    return count;
}
