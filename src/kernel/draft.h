/* What of a page goes into its Markdown, for other parts of the kernel. */

#ifndef DEHUSK_DRAFT_H
#define DEHUSK_DRAFT_H

#include "kernel.h"

typedef struct {
    Bytes source;
    const int16_t *tag;
    const int32_t *parent, *end, *start, *stop, *close, *text_length;
    const uint8_t *shown;
    const int8_t *labels;
    Bytes text_kinds, kinds;
    const int32_t *permalinks, *images;
    size_t permalink_count, image_count;
    size_t count;
} DraftPage;

/* What is found out, laid out as `plan.plan_of` reads it: numbers first, then flags. */
typedef struct {
    int32_t *ends, *nodes, *cells, *dropped, *spaced_texts;
    uint8_t *kept, *inked, *is_line, *is_spaced, *is_cut;
    size_t texts, drops, spaces;
} Drafted;

/* Memory of so many bytes for each node, laid out. */
#define DRAFTED_BYTES (5 * 4 + 5)
Drafted drafted_in(void *memory, size_t nodes);

/* Do all nodes lie in the tree and in the source, one behind another? 0 with an exception set. */
int is_tree(const DraftPage *page);

/* Fill what was laid out for a page that is a tree; 0 with an exception set. */
int draft_page(const DraftPage *page, Drafted *found);

#endif
