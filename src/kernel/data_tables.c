/* Which rows of tables of data the blocks of a page stand in. */

#include "reading.h"

#include "tags.h"

/* With fewer rows it may be the links to the pages before and behind, around the title. */
enum { MIN_ROWS = 3, MIN_FULL = 2 };

/* A table that may be one of data, as far as it has been looked at. */
typedef struct {
    int32_t node, end, row, row_end; /* Ends are -1 without one. */
    size_t first; /* The first block of it. */
    int32_t row_count, full, fullest; /* Rows, and cells with text: of this row, and the most of a row. */
} Seen;

/* The table is over, or is none of data. */
static void leave_table(Seen *seen, int32_t *rows, int32_t *tables, size_t block)
{
    for (size_t i = seen->first; i < block && (seen->row_count < MIN_ROWS || seen->fullest < MIN_FULL); i++)
        rows[i] = tables[i] = -1;
    *seen = (Seen){.end = -1, .row_end = -1, .first = block};
}

/* What an element says of the table that it begins, or stands in; 0 if that is none of data. */
static int look_at(Seen *seen, const Tree *tree, size_t node)
{
    int16_t tag = tree->tag[node];
    if (tag == TAG_tr) {
        seen->row = (int32_t)node;
        seen->row_end = tree->end[node];
        seen->row_count++;
        seen->full = 0;
    } else if (tag_sets[tag] & SET_CELL) {
        seen->full++;
        seen->fullest = seen->full > seen->fullest ? seen->full : seen->fullest;
    }
    return !(tag_sets[tag] & SET_STRUCTURE) && !(tag_sets[tag] & SET_CELL && tree->text_length[node] > MAX_CELL_LENGTH);
}

void find_table_rows(const Reading *reading, int32_t *rows, int32_t *tables)
{
    const Tree *tree = reading->tree;
    Seen seen = {.end = -1, .row_end = -1};
    size_t block = 0;
    for (size_t i = 0; i < tree->count && block < reading->blocks; i++) {
        if (seen.end >= 0 && (size_t)seen.end <= i)
            leave_table(&seen, rows, tables, block);
        int is_element = tree->tag[i] != TAG_TEXT && tree->shown[i] && tree->text_length[i];
        if (is_element && seen.end >= 0 && !look_at(&seen, tree, i)) {
            seen.row_count = 0;
            leave_table(&seen, rows, tables, block);
        }
        if (is_element && tree->tag[i] == TAG_table)
            seen = (Seen){.node = (int32_t)i, .end = tree->end[i], .row_end = -1, .first = block};
        if (reading->segments[reading->first[block]] != (int32_t)i)
            continue;
        int is_in_row = (int32_t)i < seen.row_end;
        rows[block] = is_in_row ? seen.row : -1;
        tables[block++] = is_in_row ? seen.node : -1;
    }
    leave_table(&seen, rows, tables, block);
}
