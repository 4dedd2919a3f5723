/* Rows of alike siblings, such as comments and teasers: the twin of `dehusk.methods.auto.rows`. */

#include "reading.h"

#include <math.h>
#include <stdlib.h>

#define MIN_ROW 4
#define MAX_MEMBER 0.5
#define TOLD 8

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
    const PageTree *page;
    const Blocks *blocks;
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

static int32_t parent_of(const PageTree *page, int32_t node)
{
    return page->parent[node] < 0 ? 0 : page->parent[node];
}

/* The elements around any block that may be members: siblings that hold several blocks. */
static void find_members(Rows *rows)
{
    const PageTree *page = rows->page;
    const Blocks *blocks = rows->blocks;
    memset(rows->seen, 0, page->count);
    memset(rows->lines, 0, page->count * sizeof(int32_t));
    for (size_t i = 0; i < blocks->count; i++) {
        int32_t node = blocks->container[i];
        rows->lines[node]++;
        for (int level = 0; level < FARTHEST; level++, node = parent_of(page, node))
            rows->seen[node] = 1;
    }
    int is_first = 1;
    for (size_t i = 0; i < page->count; i++) {
        if (!rows->seen[i])
            continue;
        int32_t low = blocks->before[i], high = blocks->before[page->end[i]];
        if (!is_first && high - low >= 2 && rows->lines[i] < high - low)
            rows->members[rows->member_count++] = (Member){.node = (int32_t)i, .low = low, .high = high};
        is_first = 0;
    }
}

/* Number the rows, and drop the members of what is none. */
static void find_rows(Rows *rows)
{
    const PageTree *page = rows->page;
    const double *sums = rows->blocks->chars_sum;
    for (size_t i = 0; i < rows->member_count; i++) {
        int32_t node = rows->members[i].node;
        uint64_t above = mix((uint64_t)(int64_t)page->parent[node]);
        uint64_t key = mix(page->look[node] + above) + (uint64_t)(int64_t)page->tag[node];
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
    const Blocks *blocks = rows->blocks;
    memset(rows->rows, 0, rows->row_count * sizeof(Row));
    rows->sums[0] = 0;
    for (size_t i = 0; i < blocks->count; i++)
        rows->sums[i + 1] = rows->sums[i] + (blocks->link_chars[i] > 0.8 * blocks->chars[i]);
    for (size_t i = 0; i < rows->member_count; i++) {
        Member *member = &rows->members[i];
        Row *row = &rows->rows[member->row];
        double size = blocks->chars_sum[member->high] - blocks->chars_sum[member->low];
        if (row->count == 0)
            row->low = member->low;
        member->place = (int32_t)row->count;
        row->count += 1;
        row->chars += size;
        row->squares += size * size;
        row->linked += blocks->link_sum[member->high] - blocks->link_sum[member->low];
        row->with_link += rows->sums[member->high] - rows->sums[member->low] > 0;
        row->running += blocks->running_sum[member->high] - blocks->running_sum[member->low];
        rows->member_of[member->node] = (int32_t)i;
    }
}

/* Of each block, its member of the longest row it stands in, the innermost of equal ones. */
static void find_inside(Rows *rows)
{
    const Blocks *blocks = rows->blocks;
    for (size_t i = 0; i < blocks->count; i++) {
        int32_t node = blocks->container[i];
        double longest = 0;
        rows->inside[i] = -1;
        for (int level = 0; level < FARTHEST; level++, node = parent_of(rows->page, node)) {
            int32_t member = rows->member_of[node];
            if (member < 0 || rows->rows[rows->members[member].row].count <= longest)
                continue;
            longest = rows->rows[rows->members[member].row].count;
            rows->inside[i] = member;
        }
    }
}

static double at_least(double value, double least)
{
    return value > least ? value : least;
}

static void tell_member(const Rows *rows, const Member *member, float *to)
{
    const Row *row = &rows->rows[member->row];
    size_t count = rows->blocks->count;
    double spread = sqrt(at_least(row->squares * row->count / (row->chars * row->chars) - 1, 0));
    to[0] = (float)log1p_steps(row->count);
    to[1] = (float)log1p_steps(row->chars / row->count);
    to[2] = (float)(spread < 3 ? spread : 3);
    to[3] = (float)(row->linked / row->chars);
    to[4] = (float)(row->with_link / row->count);
    to[5] = (float)(row->chars / at_least(rows->blocks->chars_sum[count], 1));
    to[6] = (float)(row->running / at_least(rows->blocks->running_sum[count], 1));
    to[7] = (float)log1p_steps(member->place);
}

static void tell_blocks(Rows *rows, float *looks)
{
    const Blocks *blocks = rows->blocks;
    size_t count = blocks->count;
    double total = at_least(blocks->running_sum[count], 1), largest = 0;
    rows->sums[0] = 0;
    for (size_t i = 0; i < count; i++)
        rows->sums[i + 1] = rows->sums[i] + (rows->inside[i] < 0 ? blocks->running[i] : 0);
    for (size_t i = 0; i < rows->row_count; i++)
        largest = at_least(rows->rows[i].running, largest);
    double alone = rows->sums[count];
    for (size_t i = 0; i < count; i++) {
        float *to = looks + i * LOOKS + ROWS_AT;
        size_t begin = i;
        if (rows->inside[i] >= 0) {
            const Member *member = &rows->members[rows->inside[i]];
            tell_member(rows, member, to);
            begin = (size_t)rows->rows[member->row].low;
        }
        double before = rows->sums[begin];
        to[TOLD] = (float)(before / total);
        to[TOLD + 1] = (float)(log1p_steps(before) / 8);
        to[TOLD + 2] = (float)(alone / total);
        to[TOLD + 3] = (float)(log1p_steps(alone) / 8);
        to[TOLD + 4] = (float)(largest / total);
    }
}

int fill_rows(const PageTree *page, const Blocks *blocks, float *looks)
{
    size_t nodes = page->count + 1, count = blocks->count + 1;
    size_t elements = nodes < FARTHEST * count ? nodes : FARTHEST * count;
    Rows rows = {.page = page, .blocks = blocks};
    rows.members = malloc(elements * sizeof(Member));
    rows.rows = malloc(elements * sizeof(Row));
    rows.member_of = malloc(nodes * sizeof(int32_t));
    rows.lines = malloc(nodes * sizeof(int32_t));
    rows.seen = malloc(nodes);
    rows.items = malloc(elements * sizeof(Keyed));
    rows.spare = malloc(elements * sizeof(Keyed));
    rows.inside = malloc(count * sizeof(int32_t));
    rows.sums = malloc(count * sizeof(double));
    int is_done = rows.members && rows.rows && rows.member_of && rows.lines && rows.seen &&
                  rows.items && rows.spare && rows.inside && rows.sums;
    if (is_done) {
        memset(rows.member_of, 0xFF, nodes * sizeof(int32_t));
        find_members(&rows);
        find_rows(&rows);
        sum_rows(&rows);
        find_inside(&rows);
        tell_blocks(&rows, looks);
    }
    free(rows.members);
    free(rows.rows);
    free(rows.member_of);
    free(rows.lines);
    free(rows.seen);
    free(rows.items);
    free(rows.spare);
    free(rows.inside);
    free(rows.sums);
    return is_done;
}
