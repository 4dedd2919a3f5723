/* What comes between the texts of a page that are rendered. */

#ifndef DEHUSK_GAPS_H
#define DEHUSK_GAPS_H

#include "tags.h"

/* The sets that say something of the text around an element. */
#define GAP_SETS (BREAKS | SET_CELL | SET_ROW | SET_ANCHOR | SET_PREFORMATTED | SET_THING)

/* What stands between a text and the one before it; nothing before the first. */
typedef struct {
    int is_line, is_spaced, is_cut;
    int32_t cells; /* How many cells begin, in the row that the text before stands in. */
} Gap;

/* An element that has not ended. */
typedef struct {
    int32_t end;
    uint32_t sets;
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
static inline void pass_edge(Gaps *gaps, uint32_t sets)
{
    gaps->line_moves |= (sets & BREAKS) != 0;
    gaps->cell_moves |= (sets & SET_CELL) != 0;
    gaps->row_moves |= (sets & SET_ROW) != 0;
    gaps->is_cut |= (sets & SET_THING) != 0;
}

/* Leave the elements that end before a node. */
static inline void leave_elements(Gaps *gaps, size_t node)
{
    while (gaps->level && (size_t)gaps->open[gaps->level - 1].end <= node) {
        uint32_t sets = gaps->open[--gaps->level].sets;
        pass_edge(gaps, sets);
        gaps->links -= (sets & SET_ANCHOR) != 0;
        gaps->fixed -= (sets & SET_PREFORMATTED) != 0;
    }
}

static inline void enter_element(Gaps *gaps, int32_t end, uint32_t sets)
{
    if (!(sets & GAP_SETS))
        return;
    pass_edge(gaps, sets);
    gaps->cells += (sets & SET_CELL) != 0;
    gaps->is_new_link |= (sets & SET_ANCHOR) != 0;
    gaps->links += (sets & SET_ANCHOR) != 0;
    gaps->fixed += (sets & SET_PREFORMATTED) != 0;
    gaps->open[gaps->level++] = (Open){end, sets};
}

/* How many cells begin before a text, in a row whose cells so far have one line each. A cell behind one of
   several lines begins a line of its own: such tables lay out a page. */
static inline int32_t new_cells(Gaps *gaps)
{
    gaps->breaks += gaps->line_moves && !gaps->cell_moves;
    if (gaps->row_moves)
        gaps->row_breaks = gaps->breaks;
    return gaps->row_moves || gaps->breaks != gaps->row_breaks ? 0 : gaps->cells;
}

/* The gap before a text that is rendered; the next one begins behind it. Links that touch are set apart by
   style sheets, not by white space: on every corpus tried, words of the content were glued together without
   this, and none came apart with it. */
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
