/* `weigh`: what other pages of the site say of each block, and the rows that the site network
   reads. The twin of `evidence.evidence` and `weighing.site_rows`; what the numbers mean stands there. */

#include "kernel.h"

#include <stdlib.h>

#include "reading.h"

#define PLACE_BITS 40
#define SUMS 4
#define SURE 0.8

/* The columns of the rows of the site network; some looks come first. */
enum {
    LOOKS_READ = 12 + 9 + 3 + 13 + 2 + LEVELS + 3,
    VERDICTS_AT = LOOKS_READ + EVIDENCE,
    NEAR_AT = VERDICTS_AT + 3,
    VERDICTS_AROUND_AT = NEAR_AT + 6,
    RANK_AT = VERDICTS_AROUND_AT + 2 * LEVELS,
    ROW = RANK_AT + 4,
};

typedef struct {
    const uint64_t *keys, *sums;
    const uint32_t *count;
    size_t size;
} Table;

/* What a block's text and its place are to the other pages. */
typedef struct {
    double share, known, given_place, anywhere, known_anywhere, repeats, place_known;
} Told;

typedef struct {
    size_t blocks, segment_count;
    const uint64_t *keys, *texts, *places;
    const double *lengths, *chars;
    const int32_t *owner, *low, *high;
    const float *looks;
    const double *logits, *verdict;
    Table segments, texts_seen, places_seen, families; /* What the site taught, this page included. */
    Table own_segments, own_places;          /* What this page taught. */
    double pages, family;                    /* Other pages, and those of the page's family. */
} Page;

typedef struct {
    Told *told;
    double *at_place;      /* Of each block, the other pages that have its place. */
    double *sums;          /* One more than blocks. */
    double *chars_sum;
    double *seen, *lost;   /* Running sums over the rows of segments: of the site, of the page. */
    Keyed *items, *spare;
    double *values;        /* One for each block. */
    double *verdicts;
    float *evidence, *rows;
} Room;

static double at_least(double value, double least)
{
    return value > least ? value : least;
}
static double at_most(double value, double most)
{
    return value < most ? value : most;
}

/* How many keys of the table are less. */
static size_t find_key(const Table *table, uint64_t key)
{
    size_t low = 0, high = table->size;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* On how many pages a key was. */
static double count_of(const Table *table, uint64_t key)
{
    size_t at = find_key(table, key);
    return at < table->size && table->keys[at] == key ? table->count[at] : 0;
}

/* --- the site's word --- */

/* Running sums of how often segments came back, and of what this page has to do with it. */
static void sum_repeats(const Page *page, Room *room)
{
    room->seen[0] = room->lost[0] = 0;
    for (size_t i = 0; i < page->segments.size; i++) {
        uint32_t count = page->segments.count[i];
        room->seen[i + 1] = room->seen[i] + (count >= 2 ? count : 0);
    }
    for (size_t i = 0; i < page->own_segments.size; i++) {
        double mine = count_of(&page->segments, page->own_segments.keys[i]);
        room->lost[i + 1] = room->lost[i] + (mine == 2 ? 2 : mine > 2 ? 1 : 0);
    }
}

static double sum_at(const Table *table, const double *sums, uint64_t place)
{
    uint64_t low = place >> PLACE_BITS << PLACE_BITS, high = low | ((UINT64_C(1) << PLACE_BITS) - 1);
    size_t behind = high == UINT64_MAX ? table->size : find_key(table, high + 1);
    return sums[behind] - sums[find_key(table, low)];
}

/* Tell what stood at a block's place on other pages. */
static void tell_place(const Page *page, Room *room, size_t block)
{
    uint64_t place = page->places[block];
    double sums[SUMS] = {0};
    size_t at = find_key(&page->places_seen, place), own = find_key(&page->own_places, place);
    int is_own = own < page->own_places.size && page->own_places.keys[own] == place;
    double count = 0;
    if (at < page->places_seen.size && page->places_seen.keys[at] == place) {
        count = page->places_seen.count[at];
        for (size_t i = 0; i < SUMS; i++)
            sums[i] = (double)page->places_seen.sums[at * SUMS + i];
    }
    count = at_least(count - (is_own ? page->own_places.count[own] : 0), 0);
    for (size_t i = 0; i < SUMS && is_own; i++)
        sums[i] = at_least(sums[i] - (double)page->own_places.sums[own * SUMS + i], 0);
    double segments = at_least(sums[0], 1);
    double repeated = at_least(sum_at(&page->segments, room->seen, place) -
                                   sum_at(&page->own_segments, room->lost, place), 0);
    float *to = room->evidence + block * EVIDENCE;
    Told *told = &room->told[block];
    room->at_place[block] = count;
    told->repeats = at_most(repeated / segments, 1);
    told->place_known = count > 0;
    to[PLACE_SHARE] = (float)at_most(count / at_least(page->pages, 1), 1);
    to[SEGMENTS] = (float)(log1p_steps(at_most(sums[0], 500)) / 5);
    to[SEGMENTS_A_PAGE] = (float)(log1p_steps(sums[0] / at_least(count, 1)) / 3);
    to[LENGTH] = (float)(log1p_steps(sums[1] / segments) / 5);
    double mean = at_most(sums[2] / at_least(sums[3], 1), 1);
    room->verdicts[block] = sums[3] > 0 ? mean : page->verdict[block];
}

/* Tell what share of each block's text other pages have. */
static void tell_texts(const Page *page, Room *room)
{
    double seen = at_least(page->pages, 1);
    for (size_t i = 0; i < page->segment_count; i++) {
        size_t block = (size_t)page->owner[i];
        Told *told = &room->told[block];
        double length = page->lengths[i];
        double count = at_least(count_of(&page->segments, page->keys[i]) - 1, 0);
        double anywhere = at_least(count_of(&page->texts_seen, page->texts[i]) - 1, 0);
        told->share += at_most(count / seen, 1) * length;
        told->known += (count > 0) * length;
        told->given_place += at_most(count / at_least(room->at_place[block], 1), 1) * length;
        told->anywhere += at_most(anywhere / seen, 1) * length;
        told->known_anywhere += (anywhere > 0) * length;
    }
    for (size_t i = 0; i < page->blocks; i++) {
        Told *told = &room->told[i];
        told->share /= page->chars[i];
        told->known /= page->chars[i];
        told->given_place /= page->chars[i];
        told->anywhere /= page->chars[i];
        told->known_anywhere /= page->chars[i];
    }
}

static void put_evidence(const Page *page, Room *room)
{
    double few = at_most(page->pages, 60), family = at_most(page->family, 60);
    const float told_of_pages[] = {
        (float)log1p_steps(few), (float)(page->pages / (page->pages + 3)),
        (float)log1p_steps(family), (float)at_most(page->family / at_least(page->pages, 1), 1),
    };
    for (size_t i = 0; i < page->blocks; i++) {
        const Told *told = &room->told[i];
        float *to = room->evidence + i * EVIDENCE;
        memcpy(to + PAGES, told_of_pages, sizeof(told_of_pages));
        to[SHARE] = (float)told->share;
        to[KNOWN] = (float)told->known;
        to[GIVEN_PLACE] = (float)told->given_place;
        to[ANYWHERE] = (float)told->anywhere;
        to[KNOWN_ANYWHERE] = (float)told->known_anywhere;
        to[REPEATS] = (float)told->repeats;
        to[PLACE_KNOWN] = (float)told->place_known;
    }
}

/* The mean of a number over the surroundings of each block, by characters, into columns that are
   `width` apart. */
static void put_means(const Page *page, Room *room, const double *values, float *to, size_t width)
{
    room->sums[0] = 0;
    for (size_t i = 0; i < page->blocks; i++)
        room->sums[i + 1] = room->sums[i] + values[i] * page->chars[i];
    for (size_t i = 0; i < page->blocks; i++)
        for (size_t level = 0; level < LEVELS; level++) {
            size_t at = i * LEVELS + level, low = (size_t)page->low[at], high = (size_t)page->high[at];
            double chars = at_least(room->chars_sum[high] - room->chars_sum[low], 1);
            to[i * width + level] = (float)((room->sums[high] - room->sums[low]) / chars);
        }
}

static void put_evidence_around(const Page *page, Room *room)
{
    for (size_t part = 0; part < 6; part++) {
        for (size_t i = 0; i < page->blocks; i++) {
            const Told *told = &room->told[i];
            const double parts[] = {told->share, told->known, told->given_place,
                                    told->known_anywhere, 1 - told->place_known, told->repeats};
            room->values[i] = parts[part];
        }
        put_means(page, room, room->values, room->evidence + SHARE_AROUND + part * LEVELS, EVIDENCE);
    }
}

/* --- the rows of the site network --- */

static void put_near(const Page *page, size_t block, float *row)
{
    static const int steps[] = {-1, -2, -3, 1, 2, 3};
    for (size_t i = 0; i < 6; i++) {
        ptrdiff_t other = (ptrdiff_t)block + steps[i];
        int is_there = other >= 0 && (size_t)other < page->blocks;
        row[NEAR_AT + i] = is_there ? (float)page->verdict[other] : 0;
    }
}

static void put_looks(const Page *page, const Room *room, size_t block, float *row)
{
    const float *looks = page->looks + block * LOOKS;
    memcpy(row, looks + TEXT_AT, 12 * sizeof(float));
    memcpy(row + 12, looks + PLACE_AT, 9 * sizeof(float));
    memcpy(row + 21, looks + ALIKE_AT, (LOOKS_READ - 21) * sizeof(float));
    memcpy(row + LOOKS_READ, room->evidence + block * EVIDENCE, EVIDENCE * sizeof(float));
    row[VERDICTS_AT] = (float)(page->logits[block] / 3);
    row[VERDICTS_AT + 1] = (float)page->verdict[block];
    row[VERDICTS_AT + 2] = (float)room->verdicts[block];
}

/* How the verdict compares with those on the other blocks. */
static void put_ranks(const Page *page, Room *room)
{
    double total = 0, sure = 0, highest = 0;
    for (size_t i = 0; i < page->blocks; i++) {
        uint64_t bits;
        memcpy(&bits, &page->verdict[i], sizeof(bits));
        room->items[i] = (Keyed){~bits, (int32_t)i}; /* Numbers above 0 are in the order of bits. */
        sure += page->verdict[i] >= SURE ? page->chars[i] : 0;
        highest = at_least(page->verdict[i], highest);
    }
    sort_keyed(room->items, room->spare, page->blocks);
    for (size_t i = 0; i < page->blocks; i++) {
        size_t block = (size_t)room->items[i].place;
        double expected = page->chars[block] * page->verdict[block];
        total += expected;
        room->values[block] = total - expected;
    }
    for (size_t i = 0; i < page->blocks; i++) {
        float *to = room->rows + i * ROW + RANK_AT;
        to[0] = (float)(room->values[i] / at_least(total, 1e-9));
        to[1] = (float)(log1p_steps(sure) / 8);
        to[2] = (float)(sure / at_least(room->chars_sum[page->blocks], 1));
        to[3] = (float)(page->verdict[i] / at_least(highest, 1e-6));
    }
}

static void weigh(const Page *page, Room *room)
{
    memset(room->told, 0, page->blocks * sizeof(Told));
    room->chars_sum[0] = 0;
    for (size_t i = 0; i < page->blocks; i++)
        room->chars_sum[i + 1] = room->chars_sum[i] + page->chars[i];
    sum_repeats(page, room);
    for (size_t i = 0; i < page->blocks; i++)
        tell_place(page, room, i);
    tell_texts(page, room);
    put_evidence(page, room);
    put_evidence_around(page, room);
    for (size_t i = 0; i < page->blocks; i++) {
        put_looks(page, room, i, room->rows + i * ROW);
        put_near(page, i, room->rows + i * ROW);
    }
    put_means(page, room, page->verdict, room->rows + VERDICTS_AROUND_AT, ROW);
    put_means(page, room, room->verdicts, room->rows + VERDICTS_AROUND_AT + LEVELS, ROW);
    put_ranks(page, room);
}

/* --- memory --- */

static PyObject *weighed(const Page *page)
{
    size_t blocks = page->blocks, rows = page->segments.size + page->own_segments.size;
    size_t size = blocks * (8 + 4 * (EVIDENCE + ROW));
    PyObject *memory = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)size);
    size_t doubles = 2 * blocks + 2 * (blocks + 1) + rows + 2;
    char *scratch = malloc(blocks * (sizeof(Told) + 2 * sizeof(Keyed)) + doubles * sizeof(double) + 8);
    if (memory && scratch) {
        Room room;
        room.told = (Told *)scratch;
        room.items = (Keyed *)(room.told + blocks);
        room.spare = room.items + blocks;
        room.at_place = (double *)(room.spare + blocks);
        room.values = room.at_place + blocks;
        room.sums = room.values + blocks;
        room.chars_sum = room.sums + blocks + 1;
        room.seen = room.chars_sum + blocks + 1;
        room.lost = room.seen + page->segments.size + 1;
        room.verdicts = (double *)PyByteArray_AsString(memory);
        room.evidence = (float *)(room.verdicts + blocks);
        room.rows = room.evidence + blocks * EVIDENCE;
        Py_BEGIN_ALLOW_THREADS
        weigh(page, &room);
        Py_END_ALLOW_THREADS
    } else {
        Py_XDECREF(memory);
        memory = PyErr_NoMemory();
    }
    free(scratch);
    return memory;
}

/* A table, with sums or not; 0 with an exception set if its arrays do not fit together. */
static int table_in(const View *views, int with_sums, Table *table)
{
    static const Py_ssize_t sizes[] = {8, 4, SUMS * 8};
    Py_ssize_t size = views[0].buffer.len / 8;
    if (!check_sizes("weigh", views, sizes, with_sums ? 3 : 2, size))
        return 0;
    *table = (Table){views[0].buffer.buf, with_sums ? views[2].buffer.buf : NULL,
                     views[1].buffer.buf, (size_t)size};
    return 1;
}

#define GIVEN (11 + 15)

/* The arrays in their order: of segments, of blocks, and the tables of the site and of the page. */
static int page_in(const View *views, Page *page)
{
    static const Py_ssize_t of_segment[] = {8, 8, 8, 4};
    static const Py_ssize_t of_family = 8;
    static const Py_ssize_t of_block[] = {8, 8, 4 * LEVELS, 4 * LEVELS, 4 * LOOKS, 8, 8};
    Py_ssize_t segments = views[0].buffer.len / 8, blocks = views[4].buffer.len / 8;
    page->keys = views[0].buffer.buf;
    page->texts = views[1].buffer.buf;
    page->lengths = views[2].buffer.buf;
    page->owner = views[3].buffer.buf;
    page->places = views[4].buffer.buf;
    page->chars = views[5].buffer.buf;
    page->low = views[6].buffer.buf;
    page->high = views[7].buffer.buf;
    page->looks = views[8].buffer.buf;
    page->logits = views[9].buffer.buf;
    page->verdict = views[10].buffer.buf;
    page->segment_count = (size_t)segments;
    page->blocks = (size_t)blocks;
    const View *site = views + 11, *own = site + 9;
    return check_sizes("weigh", views, of_segment, 4, segments) &&
           check_sizes("weigh", views + 4, of_block, 7, blocks) &&
           check_below("weigh", page->owner, page->segment_count, page->blocks) &&
           check_below("weigh", page->low, page->blocks * LEVELS, page->blocks + 1) &&
           check_below("weigh", page->high, page->blocks * LEVELS, page->blocks + 1) &&
           table_in(site, 0, &page->segments) && table_in(site + 2, 0, &page->texts_seen) &&
           table_in(site + 4, 1, &page->places_seen) && table_in(site + 7, 0, &page->families) &&
           table_in(own, 0, &page->own_segments) && table_in(own + 2, 1, &page->own_places) &&
           check_sizes("weigh", own + 5, &of_family, 1, own[5].buffer.len / 8);
}

/* How many other pages are of the page's family; none where it has no family. */
static double family_pages(const Page *page, const View *own)
{
    const uint64_t *family = own->buffer.buf;
    return own->buffer.len ? at_least(count_of(&page->families, *family) - 1, 0) : 0;
}

PyObject *kernel_weigh(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    View views[GIVEN];
    Page page;
    if (count < 3 && !check_count("weigh", count, 3))
        return NULL;
    page.pages = PyFloat_AsDouble(arguments[0]);
    long told = PyLong_AsLong(arguments[1]), width = PyLong_AsLong(arguments[2]);
    if (PyErr_Occurred() || !open_all("weigh", views, GIVEN, arguments + 3, count - 3))
        return NULL;
    PyObject *memory = NULL;
    if (told != EVIDENCE || width != ROW)
        PyErr_Format(PyExc_ValueError, "weigh: the rows have %d and %d columns here", EVIDENCE, ROW);
    else if (page_in(views, &page)) {
        page.family = family_pages(&page, &views[GIVEN - 1]);
        memory = weighed(&page);
    }
    close_views(views, GIVEN);
    return memory;
}
