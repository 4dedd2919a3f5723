/* What other pages of the site say of each block, and what the site network reads. */

#include "evidence.h"

#include <stdlib.h>

#define SURE 0.8 /* A probability from which on a block is surely content. */

/* --- the site's word --- */

/* Running sums of how often segments came back, and of what this page and its copies have to do with it. */
static void sum_repeats(const Asked *page, Weighing *room)
{
    const Table *site = page->segments, *own = page->opinion->segments;
    room->seen[0] = room->lost[0] = room->own[0] = 0;
    for (size_t i = 0; site && i < site->rows; i++) {
        uint32_t count = count_at(site, i);
        room->seen[i + 1] = room->seen[i] + (count >= 2 ? count : 0);
    }
    for (size_t i = 0; i < own->rows; i++) {
        double count = count_of(site, own->keys[i]), others = at_least(count - page->copies, 0);
        room->lost[i + 1] = room->lost[i] + (count >= 2 ? count : 0) - (others >= 2 ? others : 0);
        room->own[i + 1] = room->own[i] + (count > 0 && others == 0);
    }
}

/* Rows of a table. */
typedef struct {
    size_t low, high;
} Run;

/* The segments of a place stand together. */
static Run segments_at(const Table *table, uint64_t place)
{
    uint64_t low = place >> PLACE_BITS << PLACE_BITS, high = low | ((UINT64_C(1) << PLACE_BITS) - 1);
    size_t behind = high < UINT64_MAX ? find_key(table, high + 1) : table ? table->rows : 0;
    return (Run){find_key(table, low), behind};
}

static double sum_of(const double *sums, Run run)
{
    return sums[run.high] - sums[run.low];
}

/* What stood at a place on other pages. */
typedef struct {
    double count; /* On how many of them. */
    double repeats, variety, content;
    int has_content; /* Did the page network say anything there? */
    float share, segments, segments_a_page, length;
} Place;

static Place find_place(const Asked *page, const Weighing *room, uint64_t place)
{
    const Table *site = page->places, *own = page->opinion->places;
    size_t at = row_of(site, place), mine = row_of(own, place);
    double sums[PLACE_SUMS] = {0}, all = at == SIZE_MAX ? 0 : count_at(site, at);
    double count = at_least(all - (mine == SIZE_MAX ? 0 : page->copies * count_at(own, mine)), 0);
    int is_less = 0;
    for (size_t i = 0; i < PLACE_SUMS && at != SIZE_MAX && count > 0; i++) {
        double taken = mine == SIZE_MAX ? 0 : page->copies * (double)own->sums[mine * PLACE_SUMS + i];
        sums[i] = (double)site->sums[at * PLACE_SUMS + i] - taken;
        is_less |= sums[i] < 0;
    }
    /* The copies had less there than the page has. */
    for (size_t i = 0; i < PLACE_SUMS && is_less; i++)
        sums[i] = (double)site->sums[at * PLACE_SUMS + i] * count / all;
    double segments = at_least(sums[SUM_SEGMENTS], 1);
    double a_page = sums[SUM_SEGMENTS] / at_least(count, 1);
    Run seen = segments_at(page->segments, place), here = segments_at(page->opinion->segments, place);
    double repeated = at_least(sum_of(room->seen, seen) - sum_of(room->lost, here), 0);
    double different = at_least((double)(seen.high - seen.low) - sum_of(room->own, here), 0);
    return (Place){
        .count = count,
        .repeats = count > 0 ? at_most(repeated / segments, 1) : 0, /* Copies may have had other texts there. */
        .variety = log1p_steps(a_page > 0 ? at_least(different / a_page - 1, 0) : 0),
        .content = at_most(sums[SUM_CONTENT] / at_least(sums[SUM_WEIGHT], 1), 1),
        .has_content = sums[SUM_WEIGHT] > 0,
        .share = (float)at_most(count / at_least(page->others, 1), 1),
        .segments = (float)(log1p_steps(at_most(sums[SUM_SEGMENTS], 500)) / 5),
        .segments_a_page = (float)(log1p_steps(a_page) / 3),
        .length = (float)(log1p_steps(sums[SUM_CHARS] / segments) / 5),
    };
}

/* What stood at the place of each block. Those of a list have the same, one after another. */
static void weigh_places(const Asked *page, Weighing *room, float *evidence)
{
    const Reading *reading = page->reading;
    Place place = {0};
    for (size_t i = 0; i < reading->blocks; i++) {
        if (!i || reading->places[i] != reading->places[i - 1])
            place = find_place(page, room, reading->places[i]);
        double *parts = room->sums[i + 1].parts;
        float *to = evidence + i * EVIDENCE_COUNT;
        room->at_place[i] = place.count;
        room->anywhere[i] = 0;
        room->content_before[i] = place.has_content ? place.content : page->opinion->content[i];
        parts[SHARE_PART] = parts[KNOWN_PART] = parts[GIVEN_PLACE_PART] = parts[KNOWN_ANYWHERE_PART] = 0;
        parts[PLACE_NEW_PART] = place.count > 0 ? 0 : 1;
        parts[REPEATS_PART] = place.repeats;
        parts[VARIETY_PART] = place.variety;
        parts[CONTENT_PART] = page->opinion->content[i];
        parts[CONTENT_BEFORE_PART] = room->content_before[i];
        to[EVIDENCE_PLACE_SHARE] = place.share;
        to[EVIDENCE_SEGMENTS] = place.segments;
        to[EVIDENCE_SEGMENTS_A_PAGE] = place.segments_a_page;
        to[EVIDENCE_LENGTH] = place.length;
        to[EVIDENCE_VARIETY] = (float)place.variety;
    }
}

/* On what share of the other pages the content stood at the place of an element around each block. */
static void weigh_families(const Asked *page, Weighing *room, float *evidence)
{
    const Reading *reading = page->reading;
    const Tree *tree = reading->tree;
    uint64_t own = page->opinion->families->keys[0];
    float *family = room->family, highest = 0;
    for (size_t i = 0; i < tree->count; i++)
        family[i] = -1;
    for (size_t i = 0; i < reading->blocks * LEVELS; i++) {
        float *to = &family[reading->levels[i]];
        if (*to >= 0)
            continue;
        uint64_t place = reading->surroundings[i];
        double others = at_least((double)count_of(page->families, place) - (place == own) * page->copies, 0);
        *to = (float)at_most(others / at_least(page->others, 1), 1);
        highest = *to > highest ? *to : highest;
    }
    for (size_t i = 1; i < tree->count && highest > 0; i++)
        if (family[parent_of(tree, (int32_t)i)] > family[i] && tree->parent[i] >= 0)
            family[i] = family[tree->parent[i]];
    for (size_t i = 0; i < reading->blocks; i++) {
        evidence[i * EVIDENCE_COUNT + EVIDENCE_FAMILY_PLACE] = family[reading->container[i]];
        evidence[i * EVIDENCE_COUNT + EVIDENCE_PAGE_FAMILY_PLACE] = highest;
    }
}

/* What share of each block's text other pages have. */
static void weigh_texts(const Asked *page, Weighing *room)
{
    const Reading *reading = page->reading;
    double seen = at_least(page->others, 1);
    for (size_t i = 0; i < reading->segment_count; i++) {
        size_t block = (size_t)reading->owners[i];
        double *parts = room->sums[block + 1].parts, length = reading->lengths[i];
        double count = at_least((double)count_of(page->segments, reading->keys[i]) - page->copies, 0);
        double anywhere = at_least((double)count_of(page->texts, reading->texts[i]) - page->copies, 0);
        parts[SHARE_PART] += at_most(count / seen, 1) * length;
        parts[KNOWN_PART] += (count > 0) * length;
        parts[GIVEN_PLACE_PART] += at_most(count / at_least(room->at_place[block], 1), 1) * length;
        parts[KNOWN_ANYWHERE_PART] += (anywhere > 0) * length;
        room->anywhere[block] += at_most(anywhere / seen, 1) * length;
    }
    for (size_t i = 0; i < reading->blocks; i++) {
        double *parts = room->sums[i + 1].parts, chars = reading->chars[i];
        parts[SHARE_PART] /= chars;
        parts[KNOWN_PART] /= chars;
        parts[GIVEN_PLACE_PART] /= chars;
        parts[KNOWN_ANYWHERE_PART] /= chars;
        room->anywhere[i] /= chars;
    }
}

/* The mean of a part over what the page seems to say, by characters. */
static float mean_of_content(const Asked *page, const Weighing *room, size_t part)
{
    double sum = 0, total = 0;
    for (size_t i = 0; i < page->reading->blocks; i++) {
        double content = page->opinion->content[i] * page->reading->chars[i];
        sum += content * room->sums[i + 1].parts[part];
        total += content;
    }
    return (float)(sum / at_least(total, 1e-9));
}

static void put_evidence(const Asked *page, const Weighing *room, float *to)
{
    float page_known = mean_of_content(page, room, KNOWN_ANYWHERE_PART);
    float page_given_place = mean_of_content(page, room, GIVEN_PLACE_PART);
    double others = page->others, family = page->family;
    float pages = (float)log1p_steps(at_most(others, 60)), many_pages = (float)(others / (others + 3));
    float family_pages = (float)log1p_steps(at_most(family, 60));
    float family_share = (float)at_most(family / at_least(others, 1), 1);
    for (size_t i = 0; i < page->reading->blocks; i++, to += EVIDENCE_COUNT) {
        const double *parts = room->sums[i + 1].parts;
        to[EVIDENCE_PAGES] = pages;
        to[EVIDENCE_MANY_PAGES] = many_pages;
        to[EVIDENCE_FAMILY_PAGES] = family_pages;
        to[EVIDENCE_FAMILY_SHARE] = family_share;
        to[EVIDENCE_SHARE] = (float)parts[SHARE_PART];
        to[EVIDENCE_KNOWN] = (float)parts[KNOWN_PART];
        to[EVIDENCE_GIVEN_PLACE] = (float)parts[GIVEN_PLACE_PART];
        to[EVIDENCE_ANYWHERE] = (float)room->anywhere[i];
        to[EVIDENCE_KNOWN_ANYWHERE] = (float)parts[KNOWN_ANYWHERE_PART];
        to[EVIDENCE_REPEATS] = (float)parts[REPEATS_PART];
        to[EVIDENCE_PLACE_KNOWN] = (float)(1 - parts[PLACE_NEW_PART]);
        to[EVIDENCE_PAGE_KNOWN] = page_known;
        to[EVIDENCE_PAGE_GIVEN_PLACE] = page_given_place;
    }
}

static void sum_parts(const Asked *page, Weighing *room)
{
    room->sums[0] = (Parts){{0}};
    room->chars_sum[0] = 0;
    for (size_t i = 0; i < page->reading->blocks; i++) {
        double chars = page->reading->chars[i];
        room->chars_sum[i + 1] = room->chars_sum[i] + chars;
        for (size_t part = 0; part < PARTS; part++)
            room->sums[i + 1].parts[part] =
                room->sums[i].parts[part] + room->sums[i + 1].parts[part] * chars;
    }
}

/* The means of all parts over the surroundings of a block at a level, by characters. */
static Parts means_around(const Asked *page, const Weighing *room, size_t block, size_t level)
{
    size_t at = block * LEVELS + level;
    size_t low = (size_t)page->reading->low[at], high = (size_t)page->reading->high[at];
    double chars = at_least(room->chars_sum[high] - room->chars_sum[low], 1);
    Parts means;
    for (size_t part = 0; part < PARTS; part++)
        means.parts[part] = (room->sums[high].parts[part] - room->sums[low].parts[part]) / chars;
    return means;
}

/* How the opinion compares with that on the other blocks. */
static void compare_blocks(const Asked *page, Weighing *room)
{
    const double *content = page->opinion->content;
    size_t blocks = page->reading->blocks;
    double sure = 0;
    room->highest = 0;
    for (size_t i = 0; i < blocks; i++) {
        sure += content[i] >= SURE ? page->reading->chars[i] : 0;
        room->highest = at_least(content[i], room->highest);
    }
    room->total = rank_blocks(page->reading, content, room->items, room->spare, room->likelier);
    room->sure = (float)(log1p_steps(at_most(sure, MUCH_TEXT)) / 8);
    room->sure_share = (float)(sure / at_least(room->chars_sum[blocks], 1));
}

void weigh(const Asked *page, Weighing *room, float *evidence)
{
    sum_repeats(page, room);
    weigh_places(page, room, evidence);
    weigh_families(page, room, evidence);
    weigh_texts(page, room);
    put_evidence(page, room, evidence);
    sum_parts(page, room);
    compare_blocks(page, room);
}

/* --- what the site network reads --- */

static void put_near(const Opinion *opinion, size_t block, float *to)
{
    static const int steps[] = {-1, -2, -3, 1, 2, 3};
    for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
        ptrdiff_t other = (ptrdiff_t)block + steps[i];
        int is_there = other >= 0 && (size_t)other < opinion->blocks;
        to[i] = is_there ? (float)opinion->content[other] : 0;
    }
}

/* The means around a block. Most blocks share what stands farther around them with the one before. */
static void put_around(const Asked *page, const Weighing *room, size_t block, float *evidence, float *row,
                       const float *row_before)
{
    const int32_t *low = page->reading->low, *high = page->reading->high;
    for (size_t level = 0; level < LEVELS; level++) {
        size_t at = block * LEVELS + level, own = SITE_CONTENT_AROUND + level;
        size_t before = SITE_CONTENT_BEFORE_AROUND + level;
        float *to = evidence + EVIDENCE_SHARE_AROUND + level;
        if (block && low[at] == low[at - LEVELS] && high[at] == high[at - LEVELS]) {
            for (size_t part = 0; part < EVIDENCE_PARTS; part++)
                to[part * LEVELS] = *(to + part * LEVELS - EVIDENCE_COUNT);
            row[own] = row_before[own];
            row[before] = row_before[before];
            continue;
        }
        Parts means = means_around(page, room, block, level);
        for (size_t part = 0; part < EVIDENCE_PARTS; part++)
            to[part * LEVELS] = (float)means.parts[part];
        row[own] = (float)means.parts[CONTENT_PART];
        row[before] = (float)means.parts[CONTENT_BEFORE_PART];
    }
}

/* The page features that the site network reads too. */
static void put_page_features(const float *restrict features, float *restrict row)
{
#define ABOVE(tag)
#define BOTH(NAME, group, name, width, most, meaning) \
    memcpy(row + SITE_##NAME, features + PAGE_##NAME, (width) * sizeof(float));
#include "features.def"
}

void put_features(const Asked *page, const Weighing *room, size_t block, float *evidence, float *row,
                  const float *row_before)
{
    const Opinion *opinion = page->opinion;
    put_around(page, room, block, evidence, row, row_before);
    put_page_features(features_of(page->reading, block), row);
    memcpy(row + SITE_EVIDENCE, evidence, EVIDENCE_COUNT * sizeof(float));
    row[SITE_LOGIT] = (float)(opinion->logits[block] / 3);
    row[SITE_CONTENT] = (float)opinion->content[block];
    row[SITE_CONTENT_BEFORE] = (float)room->content_before[block];
    put_near(opinion, block, row + SITE_CONTENT_NEAR);
    row[SITE_LIKELIER] = (float)(room->likelier[block] / at_least(room->total, 1e-9));
    row[SITE_SURE] = room->sure;
    row[SITE_SURE_SHARE] = room->sure_share;
    row[SITE_CONTENT_RANK] = (float)(opinion->content[block] / at_least(room->highest, 1e-6));
    int32_t low = page->reading->low[opinion->family], high = page->reading->high[opinion->family];
    row[SITE_IN_FAMILY] = (int32_t)block >= low && (int32_t)block < high;
    row[SITE_BEHIND_FAMILY] = (int32_t)block >= high;
    for (size_t i = 0; i < TYPE_COUNT; i++)
        row[SITE_TYPES + i] = (float)page->types[i];
}

/* --- memory --- */

int make_weighing(const Asked *page, Weighing *room)
{
    size_t blocks = page->reading->blocks + 1, seen = page->segments ? page->segments->rows + 1 : 1;
    size_t own = page->opinion->segments->rows + 1;
    room->sums = malloc(blocks * (sizeof(Parts) + 2 * sizeof(Keyed)) +
                        (5 * blocks + seen + 2 * own) * sizeof(double) + page->reading->tree->count * sizeof(float));
    if (!room->sums)
        return 0;
    room->items = (Keyed *)(room->sums + blocks);
    room->spare = room->items + blocks;
    room->chars_sum = (double *)(room->spare + blocks);
    room->anywhere = room->chars_sum + blocks;
    room->at_place = room->anywhere + blocks;
    room->content_before = room->at_place + blocks;
    room->likelier = room->content_before + blocks;
    room->seen = room->likelier + blocks;
    room->lost = room->seen + seen;
    room->own = room->lost + own;
    room->family = (float *)(room->own + own);
    return 1;
}

void let_go(Asked *asked)
{
    Py_XDECREF((PyObject *)asked->segments);
    Py_XDECREF((PyObject *)asked->texts);
    Py_XDECREF((PyObject *)asked->places);
    Py_XDECREF((PyObject *)asked->families);
}

int given_asked(const Types *types, PyObject *const *objects, long pages, long copies, Asked *asked)
{
    PyObject *tables = objects[2];
    asked->segments = asked->texts = asked->places = asked->families = NULL;
    if (!given_opinion(types, objects[0], objects[1], &asked->reading, &asked->opinion) ||
        !find_table(types, tables, "segments", 0, &asked->segments) ||
        !find_table(types, tables, "texts", 0, &asked->texts) ||
        !find_table(types, tables, "places", PLACE_SUMS, &asked->places) ||
        !find_table(types, tables, "families", 0, &asked->families)) {
        let_go(asked);
        return 0;
    }
    uint64_t family = asked->opinion->families->keys[0];
    asked->copies = copies > 1 ? (double)copies : 1;
    asked->others = at_least((double)pages - asked->copies, 0);
    asked->family = at_least((double)count_of(asked->families, family) - asked->copies, 0);
    return 1;
}

/* --- for training --- */

/* What the site network reads of each block; NULL with an exception set. */
static PyObject *site_features_of(const Asked *page)
{
    PyObject *memory = NULL;
    Weighing room;
    size_t blocks = page->reading->blocks;
    float *evidence = malloc(blocks * EVIDENCE_COUNT * sizeof(float));
    if (evidence && make_weighing(page, &room)) {
        memory = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(blocks * SITE_FEATURES * sizeof(float)));
        float *row = memory ? (float *)PyByteArray_AsString(memory) : NULL;
        weigh(page, &room, evidence);
        for (size_t i = 0; i < blocks && row; i++, row += SITE_FEATURES)
            put_features(page, &room, i, evidence + i * EVIDENCE_COUNT, row, i ? row - SITE_FEATURES : row);
        free(room.sums);
    }
    free(evidence);
    return memory || PyErr_Occurred() ? memory : PyErr_NoMemory();
}

PyObject *kernel_site_features(PyObject *module, PyObject *arguments, PyObject *named)
{
    static char *names[] = {"reading", "opinion", "tables", "pages", "types", "copies", NULL};
    static const Py_ssize_t types_size = TYPE_COUNT * sizeof(double);
    PyObject *objects[4], *memory = NULL;
    Asked page;
    View view;
    long pages, copies = 1;
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "OOOlO|l:site_features", names, &objects[0], &objects[1],
                                     &objects[2], &pages, &objects[3], &copies) ||
        !open_views(&view, &objects[3], "d"))
        return NULL;
    page.types = view.buffer.buf;
    if (check_sizes("site_features", &view, &types_size, 1, 1) && given_asked(types_of(module), objects, pages, copies, &page)) {
        memory = site_features_of(&page);
        let_go(&page);
    }
    close_views(&view, 1);
    return memory;
}
