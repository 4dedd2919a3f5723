/* `judge` and `decide`: from what the page and the site say of each block to one number per block. */

#include "evidence.h"

#include <stdlib.h>

#include "threshold.h"

/* The site network is surer of itself than it is right: its logits are flattened before they count as
   probabilities. On held-out sites 0.5 instead gains 0.002 on docs-dev and 0.008 of the values of swde-dev, and
   loses 0.003 on news-dev, 0.001 on wcxb-dev and template of the samples. */
#define SCALE 0.6
#define LEAST 0.2 /* Less likely blocks are not kept beside better ones, nor on a page that says nothing new. */
#define SAID 0.9  /* The share of a page's text on other pages from which on it says nothing new. */

/* Rules for what the networks have seen too seldom, or cannot see block by block; what each is worth stands in
   tests/reference/judging.py. */
#define SAME_PAGES 4
#define SAME_CHARS 100
#define SAME_AROUND 0.97
#define SAME_TEXT 0.9
#define ROW_CHARS 300
#define TABLE_ROWS 3 /* Rows of two cells or more that make a table of data. */
#define LIST_ITEMS 3
#define HEADING 0.5
#define NEW 0.5 /* At most so many of the pages that have its place say the same as a headline. */

#define JUDGEMENT_COLUMNS(COLUMN)          \
    COLUMN(networks, double, "d", 0, 1)    \
    COLUMN(content, double, "d", 0, 1)     \
    COLUMN(scores, double, "d", 0, 1)      \
    COLUMN(evidence, float, "f", 0, EVIDENCE_COUNT)

typedef struct {
    Owner owner;
    JUDGEMENT_COLUMNS(COLUMN_POINTER)
    double threshold;
} Judgement;

#define OWNER Judgement

static const Column columns[] = {JUDGEMENT_COLUMNS(COLUMN_ENTRY) NO_COLUMN};

typedef struct {
    const Reading *reading;
    const float *evidence;
    double others; /* How many other pages the site has. */
} Judged;

/* The cells of a row of a table, as one. */
typedef struct {
    int32_t node, table;
    int is_row;
    double count, chars, linked, likely;
} Row;

typedef struct {
    Sorting sorting;
    double *sums;    /* One more than blocks. */
    Row *rows;
    int32_t *row_of; /* Of each cell, its row; of other blocks -1. */
    uint8_t *is_same;
} Room;

/* What a block's container may be. */
typedef enum { CELL, ITEM, TITLE } Kind;

static int is_kind(const Reading *reading, Kind kind, size_t block)
{
    const float *is = features_of(reading, block);
    switch (kind) {
    case CELL:
        return is[PAGE_CONTAINER_td] != 0 || is[PAGE_CONTAINER_th] != 0;
    case ITEM:
        return is[PAGE_CONTAINER_li] != 0 || is[PAGE_CONTAINER_dt] != 0 || is[PAGE_CONTAINER_dd] != 0;
    default:
        return is[PAGE_CONTAINER_h1] != 0 || is[PAGE_CONTAINER_h2] != 0 || is[PAGE_CONTAINER_h3] != 0 ||
               is[PAGE_CONTAINER_h4] != 0 || is[PAGE_CONTAINER_h5] != 0 || is[PAGE_CONTAINER_h6] != 0;
    }
}

static float evidence_of(const Judged *page, size_t block, size_t column)
{
    return page->evidence[block * EVIDENCE_COUNT + column];
}

/* Does other pages' text say nearly all that the page says? */
static int is_said(const Judged *page)
{
    double known = 0, chars = 0;
    for (size_t i = 0; i < page->reading->blocks; i++) {
        known += page->reading->chars[i] * evidence_of(page, i, EVIDENCE_KNOWN_ANYWHERE);
        chars += page->reading->chars[i];
    }
    return known / chars > SAID;
}

/* Does the block stand in a part that is the same on all pages that have it? Two to six levels up: a cell of a
   table needs four to get out of it, and what stands farther around is more than one part of the page. */
static int is_same(const Judged *page, const double *sums, size_t block)
{
    int is_part = 0;
    for (size_t level = 1; level < 5; level++)
        is_part |= evidence_of(page, block, EVIDENCE_GIVEN_PLACE_AROUND + level) > (float)SAME_AROUND &&
                   around(sums, page->reading, block, level) >= SAME_CHARS;
    return is_part && evidence_of(page, block, EVIDENCE_GIVEN_PLACE) > (float)SAME_TEXT &&
           evidence_of(page, block, EVIDENCE_PLACE_SHARE) * (float)page->others > (float)(SAME_PAGES - 0.5);
}

/* Drop what is the same everywhere, unless nothing else is likely. */
static void drop_same(const Judged *page, Room *room, double *site)
{
    int is_other_likely = 0;
    room->sums[0] = 0;
    for (size_t i = 0; i < page->reading->blocks; i++)
        room->sums[i + 1] = room->sums[i] + page->reading->chars[i];
    for (size_t i = 0; i < page->reading->blocks; i++) {
        room->is_same[i] = (uint8_t)is_same(page, room->sums, i);
        is_other_likely |= !room->is_same[i] && site[i] >= 0.5;
    }
    for (size_t i = 0; i < page->reading->blocks && is_other_likely; i++)
        if (room->is_same[i])
            site[i] = 0;
}

/* The blocks of a kind, by what their containers stand in; how many there are. */
static size_t sort_kind(const Judged *page, Kind kind, Sorting *sorting)
{
    size_t found = 0;
    for (size_t i = 0; i < page->reading->blocks; i++)
        if (is_kind(page->reading, kind, i))
            sorting->items[found++] = (Keyed){(uint64_t)page->reading->levels[i * LEVELS + 1], (int32_t)i};
    sort_keyed(sorting->items, sorting->spare, found);
    return found;
}

/* Add the cells up row by row, rows in the order of their nodes; how many there are. */
static size_t find_rows(const Judged *page, Room *room, const double *site)
{
    size_t cells = sort_kind(page, CELL, &room->sorting), rows = 0;
    const Keyed *items = room->sorting.items;
    for (size_t i = 0; i < page->reading->blocks; i++)
        room->row_of[i] = -1;
    for (size_t i = 0; i < cells; i++) {
        size_t block = (size_t)items[i].place;
        const int32_t *levels = page->reading->levels + block * LEVELS;
        if (!rows || room->rows[rows - 1].node != levels[1])
            room->rows[rows++] = (Row){.node = levels[1]};
        Row *row = &room->rows[rows - 1];
        row->table = levels[3];
        row->count += 1;
        row->chars += page->reading->chars[block];
        row->linked += page->reading->link_chars[block];
        row->likely = site[block] > row->likely ? site[block] : row->likely;
        room->row_of[block] = (int32_t)(rows - 1);
    }
    return rows;
}

/* Make rows as likely as the rows of their table on average. */
static void level_tables(Room *room, size_t count)
{
    Keyed *items = room->sorting.items;
    for (size_t i = 0; i < count; i++) {
        Row *row = &room->rows[i];
        row->is_row = row->count >= 2 && row->chars <= ROW_CHARS &&
                      row->linked < 0.5 * row->chars;
        items[i] = (Keyed){(uint64_t)row->table, (int32_t)i};
    }
    sort_keyed(items, room->sorting.spare, count);
    for (size_t start = 0, stop; start < count; start = stop) {
        double rows = 0, likely = 0;
        for (stop = start; stop < count && items[stop].key == items[start].key; stop++) {
            const Row *row = &room->rows[items[stop].place];
            rows += row->is_row;
            likely += row->likely * row->is_row;
        }
        double mean = likely / (rows > 1 ? rows : 1);
        for (size_t i = start; i < stop && rows >= TABLE_ROWS; i++) {
            Row *row = &room->rows[items[i].place];
            row->likely = mean > row->likely ? mean : row->likely;
        }
    }
}

/* Make the cells of a row as likely as the likeliest. */
static void level_rows(const Judged *page, Room *room, double *site)
{
    size_t rows = find_rows(page, room, site);
    level_tables(room, rows);
    for (size_t i = 0; i < page->reading->blocks && rows; i++) {
        if (room->row_of[i] < 0)
            continue;
        const Row *row = &room->rows[room->row_of[i]];
        if (row->is_row && row->likely > site[i])
            site[i] = row->likely;
    }
}

/* Make each item of a list at least as likely as the list on average. */
static void level_lists(const Judged *page, Room *room, double *site)
{
    size_t count = sort_kind(page, ITEM, &room->sorting);
    const Keyed *items = room->sorting.items;
    for (size_t start = 0, stop; start < count; start = stop) {
        double likely = 0, chars = 0;
        for (stop = start; stop < count && items[stop].key == items[start].key; stop++) {
            likely += page->reading->chars[items[stop].place] * site[items[stop].place];
            chars += page->reading->chars[items[stop].place];
        }
        double mean = likely / chars;
        for (size_t i = start; i < stop && stop - start >= LIST_ITEMS; i++) {
            size_t block = (size_t)items[i].place;
            float given_place = evidence_of(page, block, EVIDENCE_GIVEN_PLACE);
            if (mean > site[block] && given_place <= (float)SAME_TEXT)
                site[block] = mean;
        }
    }
}

/* Bring headings nearer to what they stand over. */
static void lift_headings(const Judged *page, double *site)
{
    for (size_t i = page->reading->blocks - 1; i-- > 0;)
        if (site[i + 1] > site[i] && is_kind(page->reading, TITLE, i))
            site[i] += HEADING * (site[i + 1] - site[i]);
}

/* Keep the headline where anything is kept. */
static void keep_headline(const Judged *page, double threshold, double *site)
{
    int is_kept = 0;
    size_t headline = page->reading->blocks;
    for (size_t i = 0; i < page->reading->blocks; i++) {
        is_kept |= site[i] >= threshold;
        const float *is = features_of(page->reading, i);
        if (headline == page->reading->blocks && is[PAGE_CONTAINER_h1] != 0 && is[PAGE_IN_TITLE] != 0 &&
            evidence_of(page, i, EVIDENCE_GIVEN_PLACE) < (float)NEW)
            headline = i;
    }
    if (is_kept && headline < page->reading->blocks && site[headline] < threshold)
        site[headline] = threshold;
}

static void put_scores(const double *site, size_t count, double threshold, double *scores)
{
    double room = 1 - threshold > 1e-9 ? 1 - threshold : 1e-9;
    for (size_t i = 0; i < count; i++) {
        double score = site[i] >= threshold ? 0.5 * (1 - site[i]) / room
                                            : 0.5 + 0.5 * (threshold - site[i]) / threshold;
        if (site[i] >= threshold && score > 0.5)
            score = 0.5;
        scores[i] = score < 0 ? 0 : score > 1 ? 1 : score;
    }
}

/* Probabilities out of the logits of the site network, which stand in their place; those by the rules, and the
   scores. */
static void decide(const Judged *page, double shift, Room *room, Judgement *to)
{
    size_t blocks = page->reading->blocks;
    for (size_t i = 0; i < blocks; i++)
        to->content[i] = to->networks[i] = probability_of(SCALE * to->networks[i] + shift);
    level_rows(page, room, to->content);
    level_lists(page, room, to->content);
    lift_headings(page, to->content);
    drop_same(page, room, to->content);
    to->threshold = find_threshold(to->content, page->reading->chars, blocks, &room->sorting);
    if (is_said(page) || room->sorting.likely[0] >= LEAST)
        to->threshold = at_least(to->threshold, LEAST);
    keep_headline(page, to->threshold, to->content);
    put_scores(to->content, blocks, to->threshold, to->scores);
}

/* Decide on a judgement whose evidence and logits are there; 0 without memory. */
static int finish(const Reading *reading, double others, double shift, Judgement *judgement)
{
    size_t blocks = reading->blocks + 1;
    Judged page = {reading, judgement->evidence, others};
    Room room = {.sums = malloc(blocks * (sizeof(Row) + sizeof(double) + sizeof(int32_t) + 1))};
    int is_done = room.sums && make_sorting(&room.sorting, blocks);
    if (is_done) {
        room.rows = (Row *)(room.sums + blocks);
        room.row_of = (int32_t *)(room.rows + blocks);
        room.is_same = (uint8_t *)(room.row_of + blocks);
        decide(&page, shift, &room, judgement);
        free(room.sorting.items);
    }
    free(room.sums);
    return is_done;
}

#define BATCH 32 /* Rows that are made, and read by the network, while they are in the nearest cache. */

/* The evidence, and what the site network says of each block, as logits; 0 without memory. */
static int run_site(const Asked *page, const Network *network, Judgement *to)
{
    Weighing room;
    float rows[BATCH * SITE_FEATURES];
    if (!make_weighing(page, &room))
        return 0;
    weigh(page, &room, to->evidence);
    int is_done = 1;
    for (size_t block = 0, count; block < page->reading->blocks && is_done; block += count) {
        count = page->reading->blocks - block < BATCH ? page->reading->blocks - block : BATCH;
        for (size_t i = 0; i < count; i++)
            put_features(page, &room, block + i, to->evidence + (block + i) * EVIDENCE_COUNT,
                         rows + i * SITE_FEATURES, rows + (i ? i - 1 : BATCH - 1) * SITE_FEATURES);
        is_done = run_network(network, rows, count, to->networks + block);
    }
    free(room.sums);
    return is_done;
}

/* The judgement, if it is done. */
static PyObject *done(Judgement *judgement, int is_done)
{
    if (judgement && !is_done) {
        Py_CLEAR(judgement);
        PyErr_NoMemory();
    }
    return (PyObject *)judgement;
}

PyObject *kernel_judge(PyObject *module, PyObject *arguments, PyObject *named)
{
    static char *names[] = {"reading", "opinion", "tables", "pages", "network", "shift", NULL};
    const Types *types = types_of(module);
    PyObject *objects[4];
    Asked page;
    long pages;
    double shift;
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "OOOlOd:judge", names, &objects[0], &objects[1],
                                     &objects[2], &pages, &objects[3], &shift) ||
        !given_asked(types, objects, pages, &page))
        return NULL;
    const Network *network = given_network(types, objects[3], SITE_FEATURES, 1);
    Judgement *to = network ? make_owner(types->judgement, columns, &page.reading->blocks, NULL) : NULL;
    return done(to, to && run_site(&page, network, to) && finish(page.reading, page.others, shift, to));
}

PyObject *kernel_decide(PyObject *module, PyObject *arguments, PyObject *named)
{
    static char *names[] = {"reading", "evidence", "logits", "others", "shift", NULL};
    static const Py_ssize_t sizes[] = {4 * EVIDENCE_COUNT, 8};
    const Types *types = types_of(module);
    PyObject *object, *arrays[2];
    double others, shift = 0;
    View views[2];
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "OOOd|d:decide", names, &object, &arrays[0], &arrays[1],
                                     &others, &shift))
        return NULL;
    const Reading *reading = given_owner(object, types->reading);
    Judgement *to = NULL;
    if (!reading || !open_views(views, arrays, "fd"))
        return NULL;
    if (!reading->blocks)
        PyErr_SetString(PyExc_ValueError, "decide: a page without text");
    else if (check_sizes("decide", views, sizes, 2, (Py_ssize_t)reading->blocks))
        to = make_owner(types->judgement, columns, &reading->blocks, NULL);
    if (to) {
        memcpy(to->evidence, views[0].buffer.buf, (size_t)views[0].buffer.len);
        memcpy(to->networks, views[1].buffer.buf, (size_t)views[1].buffer.len);
    }
    close_views(views, 2);
    return done(to, to && finish(reading, others, shift, to));
}

static PyObject *threshold_of(PyObject *self, void *closure)
{
    (void)closure;
    return PyFloat_FromDouble(((Judgement *)self)->threshold);
}

static PyGetSetDef attributes[] = {
    JUDGEMENT_COLUMNS(COLUMN_ATTRIBUTE)
    {"threshold", threshold_of, NULL, "From which probability on a block is kept.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    OWNER_SLOTS,
    {Py_tp_doc, "What page and site come to, block by block."},
    {Py_tp_getset, attributes},
    {0, NULL},
};

PyType_Spec judgement_spec = {"dehusk._kernel.Judgement", sizeof(Judgement), 0, OWNER_FLAGS, slots};
