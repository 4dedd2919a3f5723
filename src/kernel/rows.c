/* Rows of alike siblings, such as comments and teasers. */

#include "reading.h"

#include <math.h>
#include <stdlib.h>

#include "tags.h"

#define MIN_ROW 3      /* Alike siblings that make a row. */
#define MAX_MEMBER 0.5 /* The share of a row's text that one member may hold: the columns of a layout are no row. */
#define DATE_CHARS 40  /* Characters of a short text. */
#define NESTS 2        /* Of `seen`: an element like it stands in it. */

/* What a member may have in it. */
enum { HEADING, PICTURE, TIME, FORM, DATE, NESTED, PARTS };

/* A member of a row: an element, the run of its blocks, and which row. */
typedef struct {
    int32_t node, low, high, row;
    int32_t place; /* Which member of its row this is. */
    uint32_t has;  /* Its parts, as bits. */
} Member;

typedef struct {
    double count, chars, squares, linked, with_link, running;
    double parts[PARTS]; /* Members that have them. */
    double behind;       /* Characters behind the main element. */
    int32_t low;         /* Where its first member begins. */
    int has_headline;
} Row;

typedef struct {
    const Reading *reading;
    const Notes *notes;
    Member *members;
    Row *rows;
    size_t member_count, row_count;
    int32_t *member_of; /* By node; -1 for none. */
    int32_t *lines;     /* By node: the blocks whose container it is. */
    uint8_t *seen;      /* By node: 1 for elements around a block, and `NESTS`. */
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

/* Which elements have one in them like themselves: classes tell. */
static void find_nested(Rows *rows)
{
    const Tree *tree = rows->reading->tree;
    const uint64_t *classes = rows->notes->names.classes;
    for (size_t i = 0; i < rows->member_count; i++) {
        int32_t node = rows->members[i].node, up = parent_of(tree, node);
        for (int level = 0; level < FARTHEST && classes[node]; level++, up = parent_of(tree, up))
            if (classes[up] == classes[node] && tree->tag[up] == tree->tag[node])
                rows->seen[up] |= NESTS;
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

/* Running sums of the blocks that are links. */
static void sum_links(Rows *rows)
{
    const Reading *reading = rows->reading;
    rows->sums[0] = 0;
    for (size_t i = 0; i < reading->blocks; i++)
        rows->sums[i + 1] = rows->sums[i] + (reading->link_chars[i] > 0.8 * reading->chars[i]);
}

/* Is it a short text with digits? */
static int is_date(const Rows *rows, int32_t block)
{
    return rows->reading->chars[block] <= DATE_CHARS && rows->notes->letters[block].counts[DIGIT] > 0;
}

/* Which parts the members have: each looks for the next of a kind, from the end of the page on. */
static void find_parts(Rows *rows)
{
    static const uint8_t kinds[TAG_COUNT] = {
        [TAG_h1] = 1 << HEADING,    [TAG_h2] = 1 << HEADING, [TAG_h3] = 1 << HEADING,    [TAG_h4] = 1 << HEADING,
        [TAG_h5] = 1 << HEADING,    [TAG_h6] = 1 << HEADING, [TAG_img] = 1 << PICTURE,   [TAG_video] = 1 << PICTURE,
        [TAG_picture] = 1 << PICTURE, [TAG_time] = 1 << TIME,  [TAG_form] = 1 << FORM,     [TAG_button] = 1 << FORM,
        [TAG_input] = 1 << FORM,    [TAG_select] = 1 << FORM, [TAG_textarea] = 1 << FORM,
    };
    const Tree *tree = rows->reading->tree;
    int32_t next[DATE] = {INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX}, date = INT32_MAX;
    int32_t block = (int32_t)rows->reading->blocks;
    size_t left = rows->member_count;
    for (size_t i = tree->count; i-- > 0 && left;) {
        for (uint32_t bits = kinds[tree->tag[i]]; bits; bits &= bits - 1)
            next[lowest_bit(bits)] = (int32_t)i;
        if (left && rows->members[left - 1].node == (int32_t)i) {
            Member *member = &rows->members[--left];
            while (block > member->low)
                date = is_date(rows, --block) ? block : date;
            for (size_t kind = 0; kind < DATE; kind++)
                member->has |= (uint32_t)(next[kind] < tree->end[i]) << kind;
            member->has |= (uint32_t)(date < member->high) << DATE | (uint32_t)(rows->seen[i] / NESTS) << NESTED;
        }
    }
}

/* Add the members up, row by row. */
static void sum_rows(Rows *rows)
{
    const Sums *sums = &rows->notes->sums;
    memset(rows->rows, 0, rows->row_count * sizeof(Row));
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
        for (size_t part = 0; part < PARTS; part++)
            row->parts[part] += member->has >> part & 1;
        rows->member_of[member->node] = (int32_t)i;
    }
}

static int holds(const Member *member, size_t block)
{
    return (size_t)member->low <= block && block < (size_t)member->high;
}

/* How the rows stand to the main element and to the headline. */
static void place_rows(Rows *rows, Main main, size_t headline)
{
    const double *chars = rows->notes->sums.chars;
    for (size_t i = 0; i < rows->member_count; i++) {
        Member *member = &rows->members[i];
        Row *row = &rows->rows[member->row];
        if (member->low >= main.high)
            row->behind += chars[member->high] - chars[member->low];
        if (holds(member, headline))
            row->has_headline = 1;
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

static void fill_member(const Rows *rows, const Member *member, size_t headline, float *to)
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
    for (size_t part = 0; part < PARTS; part++)
        to[PAGE_ROW_HEADED + part] = (float)(row->parts[part] / row->count);
    to[PAGE_ROW_BEHIND_MAIN] = (float)(row->behind / row->chars);
    to[PAGE_ROW_HEADLINE] = holds(member, headline) ? 1 : row->has_headline ? 0.5F : 0;
}

/* Running sums of the running text that stands in no row. */
static void sum_alone(Rows *rows)
{
    rows->sums[0] = 0;
    for (size_t i = 0; i < rows->reading->blocks; i++)
        rows->sums[i + 1] = rows->sums[i] + (rows->inside[i] < 0 ? rows->notes->sums.running[i] : 0);
}

static void fill_blocks(const Rows *rows, size_t headline)
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
            fill_member(rows, member, headline, to);
            begin = (size_t)rows->rows[member->row].low;
        }
        double before = rows->sums[begin];
        to[PAGE_ALONE_BEFORE_SHARE] = (float)(before / total);
        to[PAGE_ALONE_BEFORE] = (float)(log1p_steps(at_most(before, MUCH_TEXT)) / 8);
        to[PAGE_ALONE_SHARE] = (float)(alone / total);
        to[PAGE_ALONE] = (float)(log1p_steps(at_most(alone, MUCH_TEXT)) / 8);
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
    find_nested(&rows);
    find_rows(&rows);
    find_parts(&rows);
    sum_links(&rows);
    sum_rows(&rows);
    find_inside(&rows);
    sum_alone(&rows);
    Main main = find_main(reading, notes, rows.sums, rows.lines);
    size_t headline = find_headline(reading);
    place_rows(&rows, main, headline);
    fill_blocks(&rows, headline);
    fill_main(reading, &notes->sums, main);
    fill_further(reading, notes, headline);
    free(memory);
    return 1;
}
