/* Where the links of a page lead: `dehusk.page.urls.Base.absolute`, as far as that is simple. */

#ifndef DEHUSK_ADDRESSES_H
#define DEHUSK_ADDRESSES_H

#include "kernel.h"

#include "attributes.h"

/* Where addresses begin that need no more than writing one behind another; empty where unknown. */
typedef struct {
    Bytes origin, folder, here;
} Bases;

static inline PyObject *as_text(const uint8_t *bytes, size_t size)
{
    return PyUnicode_DecodeUTF8((const char *)bytes, (Py_ssize_t)size, "surrogatepass");
}

/* The bases of a page, as `dehusk.page.urls.Base.begins` gives them; 0 with an exception set. */
int read_bases(PyObject *begins, Bases *bases);

/* The value of an attribute of a start tag; 0 if it has none of that name. */
static inline int find_attribute(Bytes source, size_t start, size_t stop, const char *name,
                                 Attribute *found)
{
    size_t size = strlen(name);
    while (next_attribute(source, &start, stop, found))
        if (found->name_stop - found->name == size &&
            memcmp(source.bytes + found->name, name, size) == 0)
            return 1;
    return 0;
}

/* Where an address leads, as far as that is simple. */
typedef enum { NOWHERE, AS_WRITTEN, BEHIND_BASE, NOT_SIMPLE } Lead;

/* Does nobody follow addresses of its scheme, such as `javascript:`? */
int leads_nowhere(Bytes url);

/* How the address becomes absolute: where it stands behind a base, `url` is what is left to be written
   there; where it is not simple, it may be anything. */
Lead find_lead(Bytes *url, const Bases *bases, Bytes *base);

/* What the base makes of an address that is not simple: bytes, or None where it leads nowhere; NULL with an
   exception set. */
PyObject *ask_base(PyObject *absolute, Bytes url);

#endif
