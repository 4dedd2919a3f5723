/* What comes between the texts of a page that are rendered: the twin of `dehusk.render.nodes.run`. */

#ifndef DEHUSK_GAPS_H
#define DEHUSK_GAPS_H

#include "kernel.h"

/* What a tag is to the text around it, by its number: the bits of `nodes.TEXT_KINDS`. */
enum { BREAKS = 1, IS_CELL = 2, IS_ROW = 4, IS_LINK = 8, IS_PREFORMATTED = 16,
       IS_THING = 32 };

/* What stands between a text and the one before it; nothing before the first. */
typedef struct {
    int is_line, is_spaced, is_cut;
    int32_t cells; /* How many cells begin, in the row that the text before stands in. */
} Gap;

/* An element that has not ended. */
typedef struct {
    int32_t end;
    uint8_t kind;
} Open;

typedef struct {
    Open *open; /* The innermost last; room for all nodes. */
    size_t level;
    int32_t links, fixed; /* How many of them are links, or preformatted. */
    int line_moves, cell_moves, row_moves, is_spaced, is_cut, is_new_link;
    int32_t cells;
    int was_linked, is_begun;
    int32_t breaks, row_breaks;
} Gaps;


/* The edge of an element, its start or its end. */
static inline void pass_edge(Gaps *gaps, uint8_t kind)
{
    gaps->line_moves |= kind & BREAKS;
    gaps->cell_moves |= kind & IS_CELL;
    gaps->row_moves |= kind & IS_ROW;
    gaps->is_cut |= kind & IS_THING;
}

/* Leave the elements that end before a node. */
static inline void leave_elements(Gaps *gaps, size_t node)
{
    while (gaps->level && (size_t)gaps->open[gaps->level - 1].end <= node) {
        uint8_t kind = gaps->open[--gaps->level].kind;
        pass_edge(gaps, kind);
        gaps->links -= (kind & IS_LINK) != 0;
        gaps->fixed -= (kind & IS_PREFORMATTED) != 0;
    }
}

static inline void enter_element(Gaps *gaps, int32_t end, uint8_t kind)
{
    if (!kind)
        return;
    pass_edge(gaps, kind);
    gaps->cells += (kind & IS_CELL) != 0;
    gaps->is_new_link |= (kind & IS_LINK) != 0;
    gaps->links += (kind & IS_LINK) != 0;
    gaps->fixed += (kind & IS_PREFORMATTED) != 0;
    gaps->open[gaps->level++] = (Open){end, kind};
}

/* How many cells begin before a text, in a row whose cells so far have one line each. */
static inline int32_t new_cells(Gaps *gaps)
{
    gaps->breaks += gaps->line_moves && !gaps->cell_moves;
    if (gaps->row_moves)
        gaps->row_breaks = gaps->breaks;
    return gaps->row_moves || gaps->breaks != gaps->row_breaks ? 0 : gaps->cells;
}

/* The gap before a text that is rendered; the next one begins behind it. */
static inline Gap take_gap(Gaps *gaps)
{
    Gap gap = {0};
    if (gaps->is_begun) {
        gap.cells = new_cells(gaps);
        gap.is_line = (gaps->line_moves || gaps->cell_moves) && !gap.cells;
        gap.is_spaced = gaps->is_spaced || (gaps->is_new_link && gaps->links && gaps->was_linked);
        gap.is_cut = gaps->is_cut != 0;
    }
    gaps->line_moves = gaps->cell_moves = gaps->row_moves = 0;
    gaps->is_spaced = gaps->is_cut = gaps->is_new_link = 0;
    gaps->cells = 0;
    gaps->was_linked = gaps->links > 0;
    gaps->is_begun = 1;
    return gap;
}

#endif
