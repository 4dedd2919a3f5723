/* Rows of alike siblings, such as comments and teasers. */

#include "reading.h"

#include <math.h>
#include <stdlib.h>

#define MIN_ROW 4      /* Alike siblings that make a row. */
#define MAX_MEMBER 0.5 /* The share of a row's text that one member may hold: the columns of a layout are no row. */

/* A member of a row: an element, the run of its blocks, and which row. */
typedef struct {
    int32_t node, low, high, row;
    int32_t place; /* Which member of its row this is. */
} Member;

typedef struct {
    double count, chars, squares, linked, with_link, running;
    int32_t low; /* Where its first member begins. */
} Row;

typedef struct {
    const Reading *reading;
    const Notes *notes;
    Member *members;
    Row *rows;
    size_t member_count, row_count;
    int32_t *member_of; /* By node; -1 for none. */
    int32_t *lines;     /* By node: the blocks whose container it is. */
    uint8_t *seen;      /* By node. */
    Keyed *items, *spare;
    int32_t *inside;    /* By block: its member; -1 for none. */
    double *sums;       /* One more than blocks. */
} Rows;

/* The elements around any block that may be members: siblings that hold several blocks. */
static void find_members(Rows *rows)
{
    const Reading *reading = rows->reading;
    const Tree *tree = reading->tree;
    memset(rows->seen, 0, tree->count);
    memset(rows->lines, 0, tree->count * sizeof(int32_t));
    for (size_t i = 0; i < reading->blocks; i++) {
        int32_t node = reading->container[i];
        rows->lines[node]++;
        for (int level = 0; level < FARTHEST; level++, node = parent_of(tree, node))
            rows->seen[node] = 1;
    }
    int is_first = 1;
    for (size_t i = 0; i < tree->count; i++) {
        if (!rows->seen[i])
            continue;
        int32_t low = rows->notes->before[i], high = rows->notes->before[tree->end[i]];
        if (!is_first && high - low >= 2 && rows->lines[i] < high - low)
            rows->members[rows->member_count++] = (Member){.node = (int32_t)i, .low = low, .high = high};
        is_first = 0;
    }
}

/* Number the rows, and drop the members of what is none. */
static void find_rows(Rows *rows)
{
    const Tree *tree = rows->reading->tree;
    const double *sums = rows->notes->sums.chars;
    for (size_t i = 0; i < rows->member_count; i++) {
        int32_t node = rows->members[i].node;
        uint64_t above = mix((uint64_t)(int64_t)tree->parent[node]);
        uint64_t key = mix(rows->notes->names.classes[node] + above) + (uint64_t)(int64_t)tree->tag[node];
        rows->items[i] = (Keyed){key, (int32_t)i};
        rows->members[i].row = -1;
    }
    sort_keyed(rows->items, rows->spare, rows->member_count);
    for (size_t start = 0, stop; start < rows->member_count; start = stop) {
        double chars = 0, largest = 0;
        for (stop = start; stop < rows->member_count && rows->items[stop].key == rows->items[start].key;
             stop++) {
            const Member *member = &rows->members[rows->items[stop].place];
            double size = sums[member->high] - sums[member->low];
            chars += size;
            largest = size > largest ? size : largest;
        }
        if (stop - start < MIN_ROW || largest > MAX_MEMBER * chars)
            continue;
        for (size_t i = start; i < stop; i++)
            rows->members[rows->items[i].place].row = (int32_t)rows->row_count;
        rows->row_count++;
    }
    size_t kept = 0;
    for (size_t i = 0; i < rows->member_count; i++)
        if (rows->members[i].row >= 0)
            rows->members[kept++] = rows->members[i];
    rows->member_count = kept;
}

/* Add the members up, row by row. */
static void sum_rows(Rows *rows)
{
    const Reading *reading = rows->reading;
    const Sums *sums = &rows->notes->sums;
    memset(rows->rows, 0, rows->row_count * sizeof(Row));
    rows->sums[0] = 0;
    for (size_t i = 0; i < reading->blocks; i++)
        rows->sums[i + 1] = rows->sums[i] + (reading->link_chars[i] > 0.8 * reading->chars[i]);
    for (size_t i = 0; i < rows->member_count; i++) {
        Member *member = &rows->members[i];
        Row *row = &rows->rows[member->row];
        double size = sums->chars[member->high] - sums->chars[member->low];
        if (row->count == 0)
            row->low = member->low;
        member->place = (int32_t)row->count;
        row->count += 1;
        row->chars += size;
        row->squares += size * size;
        row->linked += sums->link_chars[member->high] - sums->link_chars[member->low];
        row->with_link += rows->sums[member->high] - rows->sums[member->low] > 0;
        row->running += sums->running_chars[member->high] - sums->running_chars[member->low];
        rows->member_of[member->node] = (int32_t)i;
    }
}

/* Of each block, its member of the longest row it stands in, the innermost of equal ones. */
static void find_inside(Rows *rows)
{
    const Reading *reading = rows->reading;
    for (size_t i = 0; i < reading->blocks; i++) {
        int32_t node = reading->container[i];
        double longest = 0;
        rows->inside[i] = -1;
        for (int level = 0; level < FARTHEST; level++, node = parent_of(reading->tree, node)) {
            int32_t member = rows->member_of[node];
            if (member < 0 || rows->rows[rows->members[member].row].count <= longest)
                continue;
            longest = rows->rows[rows->members[member].row].count;
            rows->inside[i] = member;
        }
    }
}

static void fill_member(const Rows *rows, const Member *member, float *to)
{
    const Row *row = &rows->rows[member->row];
    const Sums *sums = &rows->notes->sums;
    size_t count = rows->reading->blocks;
    double spread = sqrt(at_least(row->squares * row->count / (row->chars * row->chars) - 1, 0));
    to[PAGE_ROW_MEMBERS] = (float)log1p_steps(row->count);
    to[PAGE_ROW_MEMBER_CHARS] = (float)log1p_steps(row->chars / row->count);
    to[PAGE_ROW_SPREAD] = (float)at_most(spread, 3);
    to[PAGE_ROW_LINK_SHARE] = (float)(row->linked / row->chars);
    to[PAGE_ROW_LINKED] = (float)(row->with_link / row->count);
    to[PAGE_ROW_PAGE_SHARE] = (float)(row->chars / at_least(sums->chars[count], 1));
    to[PAGE_ROW_RUNNING_SHARE] = (float)(row->running / at_least(sums->running_chars[count], 1));
    to[PAGE_ROW_PLACE] = (float)log1p_steps(member->place);
}

/* Running sums of the running text that stands in no row. */
static void sum_alone(Rows *rows)
{
    rows->sums[0] = 0;
    for (size_t i = 0; i < rows->reading->blocks; i++)
        rows->sums[i + 1] = rows->sums[i] + (rows->inside[i] < 0 ? rows->notes->sums.running[i] : 0);
}

static void fill_blocks(const Rows *rows)
{
    size_t count = rows->reading->blocks;
    double total = at_least(rows->notes->sums.running_chars[count], 1), largest = 0;
    for (size_t i = 0; i < rows->row_count; i++)
        largest = at_least(rows->rows[i].running, largest);
    double alone = rows->sums[count];
    for (size_t i = 0; i < count; i++) {
        float *to = features_of(rows->reading, i);
        size_t begin = i;
        if (rows->inside[i] >= 0) {
            const Member *member = &rows->members[rows->inside[i]];
            fill_member(rows, member, to);
            begin = (size_t)rows->rows[member->row].low;
        }
        double before = rows->sums[begin];
        to[PAGE_ALONE_BEFORE_SHARE] = (float)(before / total);
        to[PAGE_ALONE_BEFORE] = (float)(log1p_steps(before) / 8);
        to[PAGE_ALONE_SHARE] = (float)(alone / total);
        to[PAGE_ALONE] = (float)(log1p_steps(alone) / 8);
        to[PAGE_LARGEST_ROW_SHARE] = (float)(largest / total);
    }
}

int fill_rows(const Reading *reading, const Notes *notes)
{
    size_t nodes = reading->tree->count + 1, count = reading->blocks + 1;
    size_t elements = nodes < FARTHEST * count ? nodes : FARTHEST * count;
    char *memory = malloc(elements * (sizeof(Row) + 2 * sizeof(Keyed) + sizeof(Member)) +
                          count * (sizeof(double) + sizeof(int32_t)) + nodes * (2 * sizeof(int32_t) + 1));
    if (!memory)
        return 0;
    Rows rows = {.reading = reading, .notes = notes, .rows = (Row *)memory};
    rows.sums = (double *)(rows.rows + elements);
    rows.items = (Keyed *)(rows.sums + count);
    rows.spare = rows.items + elements;
    rows.members = (Member *)(rows.spare + elements);
    rows.inside = (int32_t *)(rows.members + elements);
    rows.member_of = rows.inside + count;
    rows.lines = rows.member_of + nodes;
    rows.seen = (uint8_t *)(rows.lines + nodes);
    memset(rows.member_of, 0xFF, nodes * sizeof(int32_t));
    find_members(&rows);
    find_rows(&rows);
    sum_rows(&rows);
    find_inside(&rows);
    sum_alone(&rows);
    fill_blocks(&rows);
    fill_main(reading, &notes->sums, find_main(reading, notes, rows.sums, rows.lines));
    free(memory);
    return 1;
}
