#ifndef DEHUSK_HIDDEN_H
#define DEHUSK_HIDDEN_H

#include "bytes.h"

/* The flags of a node (see scan.h) that an element hands on, with what its own attributes hide.

   What is hidden until found can be found by a reader. A dialogue and a popover open when a script says so.
   `hidden` counts whatever the style says, since sites that use both mean it so; that of `<body>` and `<html>`
   counts as a style: scripts reveal such a page. */
uint8_t add_hiding(Bytes source, int16_t tag, size_t start, size_t stop, uint8_t flags);

#endif
