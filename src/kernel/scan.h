/* Canonical HTML to the nodes of its tree, in one pass. */

#ifndef DEHUSK_SCAN_H
#define DEHUSK_SCAN_H

#include "tags.h"

/* What is known of a node. The first five go on to all that stands in an element. */
enum {
    NODE_HIDDEN = 1,          /* Never shown, whatever else is known. */
    NODE_IN_NOSCRIPT = 2,
    NODE_STYLED_AWAY = 4,     /* An inline style hides it with all that is in it. */
    NODE_UNSEEN = 8,          /* An inline style hides it, unless another shows what is in it. */
    NODE_IN_LINK = 16,
    NODE_RAW = 32,
    NODE_TEXT = 64,
};

typedef struct {
    uint64_t own, path;
    int32_t parent, end, depth, start, stop, close;
    int32_t length; /* Characters of a text, shown or not. */
    int16_t tag;
    uint8_t flags;
} Node;

/* What canonical HTML does not tell; without it a page that needs it gives SCAN_ASKS. */
typedef struct {
    int is_given;
    Bytes raws;             /* By rank among the tags that look raw: is it SVG or MathML? */
    Bytes voids;            /* The same of those that look void. */
    Bytes eaters;           /* The same of those that look as if they ate a newline. */
    const int64_t *lengths; /* By rank among the tags that look raw: bytes of text. */
    size_t length_count;
} Foreign;

typedef enum { SCAN_DONE, SCAN_ASKS, SCAN_NO_MEMORY } ScanEnd;

typedef struct {
    Node *nodes;
    size_t count;
    uint8_t flags; /* Those of any node. */
} ScanResult;

#define MAX_SCAN_DEPTH 512

/* The nodes of a page, to be freed by the caller. Lengths are those of the texts alone. */
ScanEnd scan(Bytes source, const TagNames *names, const Foreign *foreign, int max_depth,
             ScanResult *result);

#endif
