/* `map_large` and `trim`: what the C library does with memory that was freed. Elsewhere than with glibc, nothing. */

#include "kernel.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

/* What is larger has a mapping of its own, which ends when it is freed. Of itself the library raises this to the
   largest piece that was ever freed, up to 32 MB: behind the first large page, those that follow stand among what
   sites have taught, and leave holes there. Over 8,217 pages of up to 5 MB they came to 40 MB. */
#define LARGE (512 * 1024)
#define MOST_FREE (4 * 1024 * 1024)

PyObject *kernel_map_large(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module, (void)arguments;
    if (!check_count("map_large", count, 0))
        return NULL;
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, LARGE);
    mallopt(M_TRIM_THRESHOLD, MOST_FREE);
#endif
    Py_RETURN_NONE;
}

PyObject *kernel_trim(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module, (void)arguments;
    if (!check_count("trim", count, 0))
        return NULL;
#ifdef __GLIBC__
    malloc_trim(0);
#endif
    Py_RETURN_NONE;
}
