/* What other pages of the site say of each block, and the rows that the site network reads. The twin
   of `evidence.evidence` and `weighing.site_rows`; what the numbers mean stands there. */

#include "weigh.h"

#include <stdlib.h>

#define PLACE_BITS 40
#define SUMS 4
#define SURE 0.8

static double at_least(double value, double least)
{
    return value > least ? value : least;
}

static double at_most(double value, double most)
{
    return value < most ? value : most;
}

/* How many keys of the table are less. Without a branch on the keys, which nobody can foresee. */
static size_t find_key(const SeenTable *table, uint64_t key)
{
    const uint64_t *from = table->keys;
    size_t left = table->size;
    while (left > 1) {
        size_t half = left / 2;
        from = from[half - 1] < key ? from + half : from;
        left -= half;
    }
    return (size_t)(from - table->keys) + (left && *from < key);
}

/* On how many pages a key was. */
static double count_of(const SeenTable *table, uint64_t key)
{
    size_t at = find_key(table, key);
    return at < table->size && table->keys[at] == key ? table->count[at] : 0;
}

/* --- the site's word --- */

/* Running sums of how often segments came back, and of what this page has to do with it. */
static void sum_repeats(const Weighed *page, Weighing *room)
{
    const SeenTable *site = &page->segments, *own = &page->own_segments;
    room->seen[0] = room->lost[0] = 0;
    for (size_t i = 0; i < site->size; i++) {
        uint32_t count = site->count[i];
        room->seen[i + 1] = room->seen[i] + (count >= 2 ? count : 0);
    }
    for (size_t i = 0; i < own->size; i++) {
        double mine = count_of(site, own->keys[i]);
        room->lost[i + 1] = room->lost[i] + (mine == 2 ? 2 : mine > 2 ? 1 : 0);
    }
}

static double sum_at(const SeenTable *table, const double *sums, uint64_t place)
{
    uint64_t low = place >> PLACE_BITS << PLACE_BITS, high = low | ((UINT64_C(1) << PLACE_BITS) - 1);
    size_t behind = high == UINT64_MAX ? table->size : find_key(table, high + 1);
    return sums[behind] - sums[find_key(table, low)];
}

/* What stood at a place on other pages. */
typedef struct {
    double count; /* On how many of them. */
    double repeats, verdict;
    int is_judged; /* Is there a verdict? */
    float share, segments, segments_a_page, length;
} Place;

static Place find_place(const Weighed *page, const Weighing *room, uint64_t place)
{
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
    return (Place){
        .count = count,
        .repeats = at_most(repeated / segments, 1),
        .verdict = at_most(sums[2] / at_least(sums[3], 1), 1),
        .is_judged = sums[3] > 0,
        .share = (float)at_most(count / at_least(page->pages, 1), 1),
        .segments = (float)(log1p_steps(at_most(sums[0], 500)) / 5),
        .segments_a_page = (float)(log1p_steps(sums[0] / at_least(count, 1)) / 3),
        .length = (float)(log1p_steps(sums[1] / segments) / 5),
    };
}

/* Tell what stood at the place of each block. Those of a list have the same, one after another. */
static void tell_places(const Weighed *page, Weighing *room, float *evidence)
{
    Place place = {0};
    for (size_t i = 0; i < page->blocks; i++) {
        if (!i || page->places[i] != page->places[i - 1])
            place = find_place(page, room, page->places[i]);
        double *told = room->sums[i + 1].parts;
        float *to = evidence + i * EVIDENCE;
        room->at_place[i] = place.count;
        room->anywhere[i] = 0;
        told[SHARE_IN] = told[KNOWN_IN] = told[GIVEN_PLACE_IN] = told[KNOWN_ANYWHERE_IN] = 0;
        told[PLACE_NEW_IN] = place.count > 0 ? 0 : 1;
        told[REPEATS_IN] = place.repeats;
        told[VERDICT_IN] = page->verdict[i];
        told[SITE_VERDICT_IN] = place.is_judged ? place.verdict : page->verdict[i];
        room->site_verdict[i] = told[SITE_VERDICT_IN];
        to[PLACE_SHARE] = place.share;
        to[SEGMENTS] = place.segments;
        to[SEGMENTS_A_PAGE] = place.segments_a_page;
        to[LENGTH] = place.length;
    }
}

/* Tell what share of each block's text other pages have. */
static void tell_texts(const Weighed *page, Weighing *room)
{
    double seen = at_least(page->pages, 1);
    for (size_t i = 0; i < page->segment_count; i++) {
        size_t block = (size_t)page->owner[i];
        double *told = room->sums[block + 1].parts, length = page->lengths[i];
        double count = at_least(count_of(&page->segments, page->keys[i]) - 1, 0);
        double anywhere = at_least(count_of(&page->texts_seen, page->texts[i]) - 1, 0);
        told[SHARE_IN] += at_most(count / seen, 1) * length;
        told[KNOWN_IN] += (count > 0) * length;
        told[GIVEN_PLACE_IN] += at_most(count / at_least(room->at_place[block], 1), 1) * length;
        told[KNOWN_ANYWHERE_IN] += (anywhere > 0) * length;
        room->anywhere[block] += at_most(anywhere / seen, 1) * length;
    }
    for (size_t i = 0; i < page->blocks; i++) {
        double *told = room->sums[i + 1].parts, chars = page->chars[i];
        told[SHARE_IN] /= chars;
        told[KNOWN_IN] /= chars;
        told[GIVEN_PLACE_IN] /= chars;
        told[KNOWN_ANYWHERE_IN] /= chars;
        room->anywhere[i] /= chars;
    }
}

static void put_evidence(const Weighed *page, const Weighing *room, float *to)
{
    double few = at_most(page->pages, 60), family = at_most(page->family, 60);
    const float told_of_pages[] = {
        (float)log1p_steps(few), (float)(page->pages / (page->pages + 3)),
        (float)log1p_steps(family), (float)at_most(page->family / at_least(page->pages, 1), 1),
    };
    for (size_t i = 0; i < page->blocks; i++, to += EVIDENCE) {
        const double *told = room->sums[i + 1].parts;
        memcpy(to + PAGES, told_of_pages, sizeof(told_of_pages));
        to[SHARE] = (float)told[SHARE_IN];
        to[KNOWN] = (float)told[KNOWN_IN];
        to[GIVEN_PLACE] = (float)told[GIVEN_PLACE_IN];
        to[ANYWHERE] = (float)room->anywhere[i];
        to[KNOWN_ANYWHERE] = (float)told[KNOWN_ANYWHERE_IN];
        to[REPEATS] = (float)told[REPEATS_IN];
        to[PLACE_KNOWN] = (float)(1 - told[PLACE_NEW_IN]);
    }
}

static void sum_parts(const Weighed *page, Weighing *room)
{
    room->sums[0] = (Parts){{0}};
    room->chars_sum[0] = 0;
    for (size_t i = 0; i < page->blocks; i++) {
        double chars = page->chars[i];
        room->chars_sum[i + 1] = room->chars_sum[i] + chars;
        for (size_t part = 0; part < PARTS; part++)
            room->sums[i + 1].parts[part] =
                room->sums[i].parts[part] + room->sums[i + 1].parts[part] * chars;
    }
}

/* The means of all parts over the surroundings of a block at a level, by characters. */
static Parts means_around(const Weighed *page, const Weighing *room, size_t block, size_t level)
{
    size_t at = block * LEVELS + level, low = (size_t)page->low[at], high = (size_t)page->high[at];
    double chars = at_least(room->chars_sum[high] - room->chars_sum[low], 1);
    Parts means;
    for (size_t part = 0; part < PARTS; part++)
        means.parts[part] = (room->sums[high].parts[part] - room->sums[low].parts[part]) / chars;
    return means;
}

/* How the verdict compares with those on the other blocks. */
static void rank_blocks(const Weighed *page, Weighing *room)
{
    double sure = 0;
    room->total = room->highest = 0;
    for (size_t i = 0; i < page->blocks; i++) {
        uint64_t bits;
        memcpy(&bits, &page->verdict[i], sizeof(bits));
        room->items[i] = (Keyed){~bits, (int32_t)i}; /* Numbers above 0 are in the order of bits. */
        sure += page->verdict[i] >= SURE ? page->chars[i] : 0;
        room->highest = at_least(page->verdict[i], room->highest);
    }
    sort_keyed(room->items, room->spare, page->blocks);
    for (size_t i = 0; i < page->blocks; i++) {
        size_t block = (size_t)room->items[i].place;
        double expected = page->chars[block] * page->verdict[block];
        room->total += expected;
        room->above[block] = room->total - expected;
    }
    room->sure[0] = (float)(log1p_steps(sure) / 8);
    room->sure[1] = (float)(sure / at_least(room->chars_sum[page->blocks], 1));
}

void weigh(const Weighed *page, Weighing *room, float *evidence)
{
    sum_repeats(page, room);
    tell_places(page, room, evidence);
    tell_texts(page, room);
    put_evidence(page, room, evidence);
    sum_parts(page, room);
    rank_blocks(page, room);
}

/* --- the rows of the site network --- */

static void put_near(const Weighed *page, size_t block, float *row)
{
    static const int steps[] = {-1, -2, -3, 1, 2, 3};
    for (size_t i = 0; i < 6; i++) {
        ptrdiff_t other = (ptrdiff_t)block + steps[i];
        int is_there = other >= 0 && (size_t)other < page->blocks;
        row[NEAR_AT + i] = is_there ? (float)page->verdict[other] : 0;
    }
}

/* The means around a block. Most blocks share what stands farther around them with the one before. */
static void put_around(const Weighed *page, const Weighing *room, size_t block, float *told,
                       float *row, const float *row_before)
{
    float *around = row + VERDICTS_AROUND_AT;
    const float *around_before = row_before + VERDICTS_AROUND_AT;
    for (size_t level = 0; level < LEVELS; level++) {
        size_t at = block * LEVELS + level;
        float *to = told + SHARE_AROUND + level;
        if (block && page->low[at] == page->low[at - LEVELS] &&
            page->high[at] == page->high[at - LEVELS]) {
            for (size_t part = 0; part < TOLD_PARTS; part++)
                to[part * LEVELS] = *(to + part * LEVELS - EVIDENCE);
            around[level] = around_before[level];
            around[LEVELS + level] = around_before[LEVELS + level];
            continue;
        }
        Parts means = means_around(page, room, block, level);
        for (size_t part = 0; part < TOLD_PARTS; part++)
            to[part * LEVELS] = (float)means.parts[part];
        around[level] = (float)means.parts[VERDICT_IN];
        around[LEVELS + level] = (float)means.parts[SITE_VERDICT_IN];
    }
}

void put_row(const Weighed *page, const Weighing *room, size_t block, float *told, float *row,
             const float *row_before)
{
    const float *looks = page->looks + block * LOOKS;
    put_around(page, room, block, told, row, row_before);
    memcpy(row, looks + TEXT_AT, 12 * sizeof(float));
    memcpy(row + 12, looks + PLACE_AT, 9 * sizeof(float));
    memcpy(row + 21, looks + ALIKE_AT, (LOOKS_READ - 21) * sizeof(float));
    memcpy(row + LOOKS_READ, told, EVIDENCE * sizeof(float));
    row[VERDICTS_AT] = (float)(page->logits[block] / 3);
    row[VERDICTS_AT + 1] = (float)page->verdict[block];
    row[VERDICTS_AT + 2] = (float)room->site_verdict[block];
    put_near(page, block, row);
    row[RANK_AT] = (float)(room->above[block] / at_least(room->total, 1e-9));
    memcpy(row + RANK_AT + 1, room->sure, sizeof(room->sure));
    row[RANK_AT + 3] = (float)(page->verdict[block] / at_least(room->highest, 1e-6));
}

/* --- memory --- */

int make_weighing(const Weighed *page, Weighing *room)
{
    size_t blocks = page->blocks + 1;
    size_t rows = page->segments.size + page->own_segments.size + 2;
    room->sums = malloc(blocks * (sizeof(Parts) + 2 * sizeof(Keyed)) +
                        (5 * blocks + rows) * sizeof(double));
    if (!room->sums)
        return 0;
    room->items = (Keyed *)(room->sums + blocks);
    room->spare = room->items + blocks;
    room->chars_sum = (double *)(room->spare + blocks);
    room->anywhere = room->chars_sum + blocks;
    room->at_place = room->anywhere + blocks;
    room->site_verdict = room->at_place + blocks;
    room->above = room->site_verdict + blocks;
    room->seen = room->above + blocks;
    room->lost = room->seen + page->segments.size + 1;
    return 1;
}

/* A table, with sums or not; 0 with an exception set if its arrays do not fit together. */
static int table_in(const View *views, int with_sums, SeenTable *table)
{
    static const Py_ssize_t sizes[] = {8, 4, SUMS * 8};
    Py_ssize_t size = views[0].buffer.len / 8;
    if (!check_sizes("judge", views, sizes, with_sums ? 3 : 2, size))
        return 0;
    *table = (SeenTable){views[0].buffer.buf, with_sums ? views[2].buffer.buf : NULL,
                         views[1].buffer.buf, (size_t)size};
    return 1;
}

/* How many other pages are of the page's family; none where it has no family. */
static double family_pages(const Weighed *page, const View *own)
{
    const uint64_t *family = own->buffer.buf;
    return own->buffer.len ? at_least(count_of(&page->families, *family) - 1, 0) : 0;
}

int weighed_in(const View *views, double pages, Weighed *page)
{
    static const Py_ssize_t of_segment[] = {8, 8, 8, 4}, of_family = 8;
    static const Py_ssize_t of_block[] = {8, 8, 4 * LEVELS, 4 * LEVELS, 4 * LOOKS, 8, 8};
    Py_ssize_t segments = views[0].buffer.len / 8, blocks = views[4].buffer.len / 8;
    const View *site = views + 11, *own = site + 9;
    *page = (Weighed){
        .keys = views[0].buffer.buf, .texts = views[1].buffer.buf, .lengths = views[2].buffer.buf,
        .owner = views[3].buffer.buf, .places = views[4].buffer.buf, .chars = views[5].buffer.buf,
        .low = views[6].buffer.buf, .high = views[7].buffer.buf, .looks = views[8].buffer.buf,
        .logits = views[9].buffer.buf, .verdict = views[10].buffer.buf,
        .segment_count = (size_t)segments, .blocks = (size_t)blocks, .pages = pages,
    };
    if (!check_sizes("judge", views, of_segment, 4, segments) ||
        !check_sizes("judge", views + 4, of_block, 7, blocks) ||
        !check_below("judge", page->owner, page->segment_count, page->blocks) ||
        !check_below("judge", page->low, page->blocks * LEVELS, page->blocks + 1) ||
        !check_below("judge", page->high, page->blocks * LEVELS, page->blocks + 1) ||
        !table_in(site, 0, &page->segments) || !table_in(site + 2, 0, &page->texts_seen) ||
        !table_in(site + 4, 1, &page->places_seen) || !table_in(site + 7, 0, &page->families) ||
        !table_in(own, 0, &page->own_segments) || !table_in(own + 2, 1, &page->own_places) ||
        !check_sizes("judge", own + 5, &of_family, 1, own[5].buffer.len / 8))
        return 0;
    page->family = family_pages(page, own + 5);
    return 1;
}
