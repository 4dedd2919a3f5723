/* What elements and attributes say, as Python's texts. */

#ifndef DEHUSK_STATED_H
#define DEHUSK_STATED_H

#include "attributes.h"
#include "tree.h"

/* An attribute's value as the page means it; NULL with an exception set. */
PyObject *meant_value(const Tree *page, const Attribute *attribute);

/* What is shown of the nodes from `first` to before `stop`, in one line, with spaces between elements; NULL with
   an exception set. */
PyObject *said_in_line(const Tree *page, size_t first, size_t stop);

#endif
