/* `judge`: what the site says of each block, and from that and the page to one number per block. The
   twin of `dehusk.methods.auto.judge.judge`. */

#include "kernel.h"

#include <stdlib.h>

#include "network.h"
#include "weigh.h"

/* What `judge._NUMBERS` holds, in its order. */
typedef struct {
    double scale, least, said, same_pages, same_chars, same_around, same_text, row_chars, table_rows,
        list_items, heading, is_new;
} Rules;

/* Columns of looks that say of what kind a block's container is. */
typedef struct {
    const int32_t *columns;
    size_t count;
} Kind;

typedef struct {
    const Rules *rules;
    const float *looks, *told;
    const double *chars, *link_chars;
    const int32_t *low, *high, *levels;
    size_t count;
    Kind cells, items, headings, headline;
    double pages; /* How many other pages the site has. */
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
} Bench;

/* Does other pages' text say nearly all that the page says? */
static int is_said(const Judged *page)
{
    double known = 0, chars = 0;
    for (size_t i = 0; i < page->count; i++) {
        known += page->chars[i] * page->told[i * EVIDENCE + KNOWN_ANYWHERE];
        chars += page->chars[i];
    }
    return known / chars > page->rules->said;
}

/* Does the block stand in a part that is the same on all pages that have it? */
static int is_same(const Judged *page, const double *sums, size_t block)
{
    const float *told = page->told + block * EVIDENCE;
    int is_part = 0;
    for (size_t level = 1; level < 5; level++) {
        size_t at = block * LEVELS + level;
        double chars = sums[page->high[at]] - sums[page->low[at]];
        is_part |= told[GIVEN_PLACE_AROUND + level] > (float)page->rules->same_around &&
                   chars >= page->rules->same_chars;
    }
    return is_part && told[GIVEN_PLACE] > (float)page->rules->same_text &&
           told[PLACE_SHARE] * (float)page->pages > (float)(page->rules->same_pages - 0.5);
}

/* Drop what is the same everywhere, unless nothing else is likely. */
static void drop_same(const Judged *page, Bench *bench, double *site)
{
    int is_other_likely = 0;
    bench->sums[0] = 0;
    for (size_t i = 0; i < page->count; i++)
        bench->sums[i + 1] = bench->sums[i] + page->chars[i];
    for (size_t i = 0; i < page->count; i++) {
        bench->is_same[i] = (uint8_t)is_same(page, bench->sums, i);
        is_other_likely |= !bench->is_same[i] && site[i] >= 0.5;
    }
    for (size_t i = 0; i < page->count && is_other_likely; i++)
        if (bench->is_same[i])
            site[i] = 0;
}

/* How many of the kind's columns say that the block is of it. */
static size_t count_kind(const Judged *page, const Kind *kind, size_t block)
{
    size_t found = 0;
    for (size_t i = 0; i < kind->count; i++)
        found += page->looks[block * LOOKS + (size_t)kind->columns[i]] != 0;
    return found;
}

/* The blocks of a kind, by what their containers stand in; how many there are. */
static size_t sort_kind(const Judged *page, const Kind *kind, Sorting *sorting)
{
    size_t found = 0;
    for (size_t i = 0; i < page->count; i++)
        if (count_kind(page, kind, i))
            sorting->items[found++] = (Keyed){(uint64_t)page->levels[i * LEVELS + 1], (int32_t)i};
    sort_keyed(sorting->items, sorting->spare, found);
    return found;
}

/* Add the cells up row by row, rows in the order of their nodes; how many there are. */
static size_t find_rows(const Judged *page, Bench *bench, const double *site)
{
    size_t cells = sort_kind(page, &page->cells, &bench->sorting), rows = 0;
    const Keyed *items = bench->sorting.items;
    for (size_t i = 0; i < page->count; i++)
        bench->row_of[i] = -1;
    for (size_t i = 0; i < cells; i++) {
        size_t block = (size_t)items[i].place;
        const int32_t *levels = page->levels + block * LEVELS;
        if (!rows || bench->rows[rows - 1].node != levels[1])
            bench->rows[rows++] = (Row){.node = levels[1]};
        Row *row = &bench->rows[rows - 1];
        row->table = levels[3];
        row->count += 1;
        row->chars += page->chars[block];
        row->linked += page->link_chars[block];
        row->likely = site[block] > row->likely ? site[block] : row->likely;
        bench->row_of[block] = (int32_t)(rows - 1);
    }
    return rows;
}

/* Make rows as likely as the rows of their table on average. */
static void level_tables(const Rules *rules, Bench *bench, size_t count)
{
    Keyed *items = bench->sorting.items;
    for (size_t i = 0; i < count; i++) {
        Row *row = &bench->rows[i];
        row->is_row = row->count >= 2 && row->chars <= rules->row_chars &&
                      row->linked < 0.5 * row->chars;
        items[i] = (Keyed){(uint64_t)row->table, (int32_t)i};
    }
    sort_keyed(items, bench->sorting.spare, count);
    for (size_t start = 0, stop; start < count; start = stop) {
        double rows = 0, likely = 0;
        for (stop = start; stop < count && items[stop].key == items[start].key; stop++) {
            const Row *row = &bench->rows[items[stop].place];
            rows += row->is_row;
            likely += row->likely * row->is_row;
        }
        double mean = likely / (rows > 1 ? rows : 1);
        for (size_t i = start; i < stop && rows >= rules->table_rows; i++) {
            Row *row = &bench->rows[items[i].place];
            row->likely = mean > row->likely ? mean : row->likely;
        }
    }
}

/* Make the cells of a row as likely as the likeliest. */
static void level_rows(const Judged *page, Bench *bench, double *site)
{
    size_t rows = find_rows(page, bench, site);
    level_tables(page->rules, bench, rows);
    for (size_t i = 0; i < page->count && rows; i++) {
        if (bench->row_of[i] < 0)
            continue;
        const Row *row = &bench->rows[bench->row_of[i]];
        if (row->is_row && row->likely > site[i])
            site[i] = row->likely;
    }
}

/* Make each item of a list at least as likely as the list on average. */
static void level_lists(const Judged *page, Bench *bench, double *site)
{
    size_t count = sort_kind(page, &page->items, &bench->sorting);
    const Keyed *items = bench->sorting.items;
    for (size_t start = 0, stop; start < count; start = stop) {
        double likely = 0, chars = 0;
        for (stop = start; stop < count && items[stop].key == items[start].key; stop++) {
            likely += page->chars[items[stop].place] * site[items[stop].place];
            chars += page->chars[items[stop].place];
        }
        double mean = likely / chars;
        for (size_t i = start; i < stop && (double)(stop - start) >= page->rules->list_items; i++) {
            size_t block = (size_t)items[i].place;
            float given_place = page->told[block * EVIDENCE + GIVEN_PLACE];
            if (mean > site[block] && given_place <= (float)page->rules->same_text)
                site[block] = mean;
        }
    }
}

/* Bring headings nearer to what they stand over. */
static void lift_headings(const Judged *page, double *site)
{
    for (size_t i = page->count - 1; i-- > 0;)
        if (site[i + 1] > site[i] && count_kind(page, &page->headings, i))
            site[i] += page->rules->heading * (site[i + 1] - site[i]);
}

/* Keep the headline where anything is kept. */
static void keep_headline(const Judged *page, double threshold, double *site)
{
    int is_kept = 0;
    size_t headline = page->count;
    for (size_t i = 0; i < page->count; i++) {
        is_kept |= site[i] >= threshold;
        if (headline == page->count && count_kind(page, &page->headline, i) == page->headline.count &&
            page->told[i * EVIDENCE + GIVEN_PLACE] < (float)page->rules->is_new)
            headline = i;
    }
    if (is_kept && headline < page->count && site[headline] < threshold)
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

/* Probabilities out of logits, in place; behind them those by the rules, and the scores. The
   threshold is given back. */
static double judge(const Judged *page, double shift, Bench *bench, double *said)
{
    double *site = said + page->count, *scores = site + page->count;
    for (size_t i = 0; i < page->count; i++)
        site[i] = said[i] = probability_of(page->rules->scale * said[i] + shift);
    level_rows(page, bench, site);
    level_lists(page, bench, site);
    lift_headings(page, site);
    drop_same(page, bench, site);
    double threshold = find_threshold(site, page->chars, page->count, &bench->sorting);
    double least = page->rules->least;
    if (is_said(page) || bench->sorting.likely[0] >= least)
        threshold = threshold > least ? threshold : least;
    keep_headline(page, threshold, site);
    put_scores(site, page->count, threshold, scores);
    return threshold;
}

#define BATCH 32 /* Rows that are made, and read by the network, while they are in the nearest cache. */

/* What the networks say of each block, as logits; 0 without memory. */
static int run_site(const Weighed *weighed, const Network *network, float *told, double *said)
{
    Weighing room;
    float rows[BATCH * ROW];
    if (!make_weighing(weighed, &room))
        return 0;
    weigh(weighed, &room, told);
    int is_done = 1;
    for (size_t block = 0, count; block < weighed->blocks && is_done; block += count) {
        count = weighed->blocks - block < BATCH ? weighed->blocks - block : BATCH;
        for (size_t i = 0; i < count; i++)
            put_row(weighed, &room, block + i, told + (block + i) * EVIDENCE, rows + i * ROW,
                    rows + (i ? i - 1 : BATCH - 1) * ROW);
        is_done = run_network(network, rows, count, said + block);
    }
    free(room.sums);
    return is_done;
}

/* Probabilities, those by the rules, scores, what the site says; and the threshold. */
static PyObject *judged(Judged *page, const Weighed *weighed, const Network *network, double shift)
{
    size_t room = page->count + 1;
    Py_ssize_t size = (Py_ssize_t)(page->count * (3 * sizeof(double) + EVIDENCE * sizeof(float)));
    PyObject *memory = PyByteArray_FromStringAndSize(NULL, size);
    if (!memory)
        return NULL;
    double *said = (double *)PyByteArray_AsString(memory), threshold = 0;
    float *told = (float *)(said + 3 * page->count);
    Bench bench = {.sums = NULL};
    int is_done = run_site(weighed, network, told, said);
    if (is_done)
        bench.sums = malloc(room * (sizeof(Row) + sizeof(double) + sizeof(int32_t) + 1));
    is_done = bench.sums && make_sorting(&bench.sorting, page->count);
    if (is_done) {
        bench.rows = (Row *)(bench.sums + room);
        bench.row_of = (int32_t *)(bench.rows + room);
        bench.is_same = (uint8_t *)(bench.row_of + room);
        page->told = told;
        threshold = judge(page, shift, &bench, said);
        free(bench.sorting.items);
    }
    free(bench.sums);
    if (is_done)
        return Py_BuildValue("(Nd)", memory, threshold);
    Py_DECREF(memory);
    return PyErr_NoMemory();
}

/* The arrays as they are handed in, in this order, and the network behind them. */
enum { RULES, LINK_CHARS, LEVEL_NODES, CELLS, ITEMS, HEADINGS, HEADLINE, WEIGHED,
       NETWORK = WEIGHED + WEIGHED_VIEWS };
#define GIVEN (NETWORK + NETWORK_VIEWS)

static Kind listed_in(const View *view)
{
    return (Kind){view->buffer.buf, (size_t)view->buffer.len / 4};
}

static Judged judged_in(const View *views, const Weighed *weighed)
{
    return (Judged){
        .rules = views[RULES].buffer.buf,
        .looks = weighed->looks,
        .chars = weighed->chars,
        .link_chars = views[LINK_CHARS].buffer.buf,
        .low = weighed->low,
        .high = weighed->high,
        .levels = views[LEVEL_NODES].buffer.buf,
        .count = weighed->blocks,
        .cells = listed_in(&views[CELLS]),
        .items = listed_in(&views[ITEMS]),
        .headings = listed_in(&views[HEADINGS]),
        .headline = listed_in(&views[HEADLINE]),
        .pages = weighed->pages,
    };
}

static int is_kind(const Kind *kind)
{
    return check_below("judge", kind->columns, kind->count, LOOKS);
}

/* Do all arrays fit together, and all numbers in them? 0 with an exception set if not. */
static int fits(const View *views, const Judged *page, Network *network)
{
    static const Py_ssize_t sizes[] = {8, 4 * LEVELS}, of_rules = sizeof(Rules);
    if (!check_sizes("judge", views + RULES, &of_rules, 1, 1) ||
        !check_sizes("judge", views + LINK_CHARS, sizes, 2, (Py_ssize_t)page->count) ||
        !network_in("judge", views + NETWORK, network))
        return 0;
    if (!page->count || network->outputs != 1 || network->inputs != ROW) {
        PyErr_Format(PyExc_ValueError, "judge: no blocks, or no network of %d inputs and one output",
                     ROW);
        return 0;
    }
    return check_below("judge", page->levels, page->count * LEVELS, INT32_MAX) &&
           is_kind(&page->cells) && is_kind(&page->items) && is_kind(&page->headings) &&
           is_kind(&page->headline);
}

PyObject *kernel_judge(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    View views[GIVEN];
    if (count < 3 && !check_count("judge", count, 3))
        return NULL;
    double shift = PyFloat_AsDouble(arguments[0]), pages = PyFloat_AsDouble(arguments[1]);
    long width = PyLong_AsLong(arguments[2]);
    if (PyErr_Occurred() || !open_all("judge", views, GIVEN, arguments + 3, count - 3))
        return NULL;
    Network network;
    Weighed weighed;
    PyObject *found = NULL;
    if (width != EVIDENCE)
        PyErr_Format(PyExc_ValueError, "judge: what the site says has %d columns here", EVIDENCE);
    else if (weighed_in(views + WEIGHED, pages, &weighed)) {
        Judged page = judged_in(views, &weighed);
        if (fits(views, &page, &network))
            found = judged(&page, &weighed, &network, shift);
    }
    close_views(views, GIVEN);
    return found;
}
