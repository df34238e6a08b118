/* Tables of the component, which are read from files under fmuResourceLocation at instantiation. */
#include "instance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(_WIN32)
#include <windows.h>
#endif

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* The path of `file` in the folder `location`, a file URI with percent-encoding (or a plain path, which some importers
   pass), in newly allocated memory. NULL if the scheme is not `file` or memory is exhausted. */
static char *path_of(const char *location, const char *file)
{
    int encoded = strncmp(location, "file:", 5) == 0;
    if (encoded) {
        location += 5;
        if (strncmp(location, "//", 2) == 0) {
            location += 2;
            if (strncmp(location, "localhost/", 10) == 0) location += 9;
        }
        /* file:///C:/folder */
        if (location[0] == '/' && location[1] && location[2] == ':') location++;
    } else if (strstr(location, "://")) {
        return NULL;
    }
    char *path = malloc(strlen(location) + strlen(file) + 2);
    if (!path) return NULL;
    char *end = path;
    for (const char *c = location; *c; c++) {
        if (encoded && *c == '%' && hex_digit(c[1]) >= 0 && hex_digit(c[2]) >= 0) {
            *end++ = (char)(16 * hex_digit(c[1]) + hex_digit(c[2]));
            c += 2;
        } else {
            *end++ = *c;
        }
    }
    if (end > path && end[-1] != '/' && end[-1] != '\\') *end++ = '/';
    strcpy(end, file);
    return path;
}

static FILE *open_file(const char *path)
{
#if defined(_WIN32)
    wchar_t wide[32768];
    if (!MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, sizeof wide / sizeof *wide)) return NULL;
    return _wfopen(wide, L"rb");
#else
    return fopen(path, "rb");
#endif
}

/* The hosts that FMUs are built for are little-endian, as the files are. */
static int load(Instance *instance, const Resource *resource, const char *path)
{
    double *first = instance->memory + resource->first;
    FILE *stream = open_file(path);
    if (!stream) {
        report(instance, fmi2Error, LOG_ERROR, "fmi2Instantiate: cannot open the resource %s", path);
        return 0;
    }
    size_t count = fread(first, sizeof *first, resource->count, stream);
    int more = fgetc(stream) != EOF;
    fclose(stream);
    if (count != resource->count || more) {
        report(instance, fmi2Error, LOG_ERROR, "fmi2Instantiate: the resource %s holds %s than the %u values expected",
               path, more ? "more" : "less", resource->count);
        return 0;
    }
    for (uint32_t i = 0; i < resource->count; i++) {
        if (isfinite(first[i])) continue;
        report(instance, fmi2Error, LOG_ERROR, "fmi2Instantiate: value %u in the resource %s is not finite", i + 1,
               path);
        return 0;
    }
    return 1;
}

int load_resources(Instance *instance, fmi2String location)
{
    for (uint32_t i = 0; i < model.resource_count; i++) {
        const Resource *resource = &model.resources[i];
        char *path = location ? path_of(location, resource->file) : NULL;
        if (!path) {
            report(instance, fmi2Error, LOG_ERROR, "fmi2Instantiate: no resource %s at the location %s",
                   resource->file, location ? location : "NULL");
            return 0;
        }
        int loaded = load(instance, resource, path);
        free(path);
        if (!loaded) return 0;
    }
    return 1;
}
