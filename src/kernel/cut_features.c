/* What the cut network reads: what the site network says of the whole page. */

#include "cut_features.h"

#include <stdlib.h>

#define SURE 0.8     /* Blocks with more are surely content. */
#define NEIGHBOURS 4 /* Blocks before one, and behind it, whose probabilities are read. */

/* So many blocks in thirties, from -1 to 1. */
static double thirties(ptrdiff_t blocks)
{
    return at_least(at_most((double)blocks / 30, 1), -1);
}

static void sum_expected(const CutPage *page, CutContext *room)
{
    size_t blocks = page->reading->blocks;
    int is_sure = 0;
    room->chars[0] = room->expected[0] = room->highest = 0;
    room->first = 0;
    room->last = blocks - 1;
    for (size_t i = 0; i < blocks; i++) {
        double content = room->content[i] = probability_of(page->logits[i]), chars = page->reading->chars[i];
        room->chars[i + 1] = room->chars[i] + chars;
        room->expected[i + 1] = room->expected[i] + chars * content;
        room->highest = at_least(content, room->highest);
        if (content <= SURE)
            continue;
        room->first = is_sure ? room->first : i;
        room->last = i;
        is_sure = 1;
    }
}

/* The means over the blocks at the same place, `level` elements up. Blocks of one element mostly stand behind
   each other: only runs of them are sorted. */
static void take_alike(const CutPage *page, CutContext *room, size_t level, double *means)
{
    const uint64_t *keys = page->reading->surroundings + level;
    const double *chars = page->reading->chars;
    size_t blocks = page->reading->blocks, runs = 0;
    for (size_t i = 0; i < blocks; i++)
        if (!i || keys[i * LEVELS] != keys[(i - 1) * LEVELS])
            room->items[runs++] = (Keyed){keys[i * LEVELS], (int32_t)i};
    sort_keyed(room->items, room->spare, runs);
    for (size_t start = 0, stop; start < runs; start = stop) {
        uint64_t key = room->items[start].key;
        double sum = 0, length = 0;
        for (stop = start; stop < runs && room->items[stop].key == key; stop++)
            for (size_t i = (size_t)room->items[stop].place; i < blocks && keys[i * LEVELS] == key; i++) {
                sum += chars[i] * room->content[i];
                length += chars[i];
            }
        double mean = sum / at_least(length, 1);
        for (size_t run = start; run < stop; run++)
            for (size_t i = (size_t)room->items[run].place; i < blocks && keys[i * LEVELS] == key; i++)
                means[i] = mean;
    }
}

/* What is said of the last heading before each block, and how far behind it the block stands; -1 and 1 without one. */
static void take_headings(const CutPage *page, CutContext *room)
{
    double content = -1;
    size_t heading = 0;
    for (size_t i = 0; i < page->reading->blocks; i++) {
        const float *features = features_of(page->reading, i);
        int is_heading = 0;
        room->heading[i] = content;
        room->from_heading[i] = content < 0 ? 1 : thirties((ptrdiff_t)(i - heading));
        for (size_t level = PAGE_CONTAINER_h1; level <= PAGE_CONTAINER_h6; level++)
            is_heading |= features[level] > 0;
        if (is_heading) {
            content = room->content[i];
            heading = i;
        }
    }
}

/* What is said of the page as a whole. */
static void sum_page(const CutPage *page, CutContext *room)
{
    static const double from[SHARES] = {0.95, 0.9, 0.8, 0.65, 0.5, 0.35, 0.2, 0.1};
    static const size_t lengths[] = {1, 4, 6}; /* 0.9, 0.5 and 0.2. */
    size_t blocks = page->reading->blocks;
    double chars[SHARES] = {0}, all = at_least(room->chars[blocks], 1);
    float *to = room->page;
    for (size_t i = 0; i < blocks; i++)
        for (size_t j = SHARES; j-- && room->content[i] >= from[j];)
            chars[j] += page->reading->chars[i];
    for (size_t i = 0; i < SHARES; i++)
        *to++ = (float)(chars[i] / all);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
        *to++ = (float)(log1p_steps(chars[lengths[i]]) / 8);
    *to++ = (float)(room->expected[blocks] / all);
    *to++ = (float)room->highest;
    for (size_t i = 0; i < TYPE_COUNT; i++)
        *to++ = (float)page->types[i];
}

void fill_context(const CutPage *page, CutContext *room)
{
    static const size_t levels[ALIKE_LEVELS] = {0, 1, 3}; /* The container, its parent, and three up. */
    sum_expected(page, room);
    for (size_t i = 0; i < ALIKE_LEVELS; i++)
        take_alike(page, room, levels[i], room->alike[i]);
    take_headings(page, room);
    room->total = rank_blocks(page->reading, room->content, room->items, room->spare, room->likelier);
    sum_page(page, room);
}

static void put_near(const CutContext *room, size_t blocks, size_t block, float *to)
{
    for (size_t i = 1; i <= NEIGHBOURS; i++) {
        to[i - 1] = block >= i ? (float)room->content[block - i] : 0;
        to[NEIGHBOURS + i - 1] = block + i < blocks ? (float)room->content[block + i] : 0;
    }
}

static void put_around(const CutPage *page, const CutContext *room, size_t block, float *to)
{
    for (size_t level = 0; level < LEVELS; level++)
        to[level] = (float)(around(room->expected, page->reading, block, level) /
                            at_least(around(room->chars, page->reading, block, level), 1));
}

/* Page features and evidence that the other networks read too. */
static void put_others(const float *restrict features, const float *restrict evidence, float *restrict row)
{
#define ALL(NAME, group, name, width, most, meaning) \
    memcpy(row + CUT_##NAME, features + PAGE_##NAME, (width) * sizeof(float));
#include "features.def"
#define CUT_EVIDENCE(NAME, name, width, meaning) \
    memcpy(row + CUT_##NAME, evidence + EVIDENCE_##NAME, (width) * sizeof(float));
#include "features.def"
}

void put_cut_features(const CutPage *page, const CutContext *room, size_t block, float *row)
{
    row[CUT_LOGIT] = (float)(page->logits[block] / 3);
    row[CUT_CONTENT] = (float)room->content[block];
    put_near(room, page->reading->blocks, block, row + CUT_CONTENT_NEAR);
    put_around(page, room, block, row + CUT_CONTENT_AROUND);
    for (size_t i = 0; i < ALIKE_LEVELS; i++)
        row[CUT_CONTENT_ALIKE + i] = (float)room->alike[i][block];
    row[CUT_HEADING_CONTENT] = (float)room->heading[block];
    row[CUT_FROM_LAST_HEADING] = (float)room->from_heading[block];
    row[CUT_LIKELIER] = (float)(room->likelier[block] / at_least(room->total, 1e-9));
    row[CUT_BEFORE_SURE] = block < room->first;
    row[CUT_BEHIND_SURE] = block > room->last;
    row[CUT_FROM_LAST] = (float)thirties((ptrdiff_t)block - (ptrdiff_t)room->last);
    row[CUT_TO_FIRST] = (float)thirties((ptrdiff_t)room->first - (ptrdiff_t)block);
    row[CUT_CONTENT_RANK] = (float)(room->content[block] / at_least(room->highest, 1e-6));
    memcpy(row + CUT_SHARE_FROM, room->page, sizeof(room->page));
    put_others(features_of(page->reading, block), page->evidence + block * EVIDENCE_COUNT, row);
}

int make_context(const Reading *reading, CutContext *room)
{
    size_t blocks = reading->blocks + 1;
    room->content = malloc(blocks * ((6 + ALIKE_LEVELS) * sizeof(double) + 2 * sizeof(Keyed)));
    if (!room->content)
        return 0;
    room->chars = room->content + blocks;
    room->expected = room->chars + blocks;
    room->likelier = room->expected + blocks;
    room->heading = room->likelier + blocks;
    room->from_heading = room->heading + blocks;
    for (size_t i = 0; i < ALIKE_LEVELS; i++)
        room->alike[i] = room->from_heading + (i + 1) * blocks;
    room->items = (Keyed *)(room->from_heading + (ALIKE_LEVELS + 1) * blocks);
    room->spare = room->items + blocks;
    return 1;
}

/* --- for training --- */

PyObject *kernel_cut_features(PyObject *module, PyObject *arguments, PyObject *named)
{
    static char *names[] = {"reading", "evidence", "logits", "types", NULL};
    static const Py_ssize_t sizes[] = {EVIDENCE_COUNT * sizeof(float), sizeof(double)};
    static const Py_ssize_t types_size = TYPE_COUNT * sizeof(double);
    PyObject *object, *arrays[3], *memory = NULL;
    View views[3];
    CutContext room;
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "OOOO:cut_features", names, &object, &arrays[0], &arrays[1],
                                     &arrays[2]))
        return NULL;
    const Reading *reading = given_owner(object, types_of(module)->reading);
    if (!reading || !open_views(views, arrays, "fdd"))
        return NULL;
    CutPage page = {reading, views[0].buffer.buf, views[1].buffer.buf, views[2].buffer.buf};
    if (!reading->blocks)
        PyErr_SetString(PyExc_ValueError, "cut_features: a page without text");
    else if (check_sizes("cut_features", views, sizes, 2, (Py_ssize_t)reading->blocks) &&
             check_sizes("cut_features", views + 2, &types_size, 1, 1) && !make_context(reading, &room))
        PyErr_NoMemory();
    if (!PyErr_Occurred()) {
        memory = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(reading->blocks * CUT_FEATURES * sizeof(float)));
        float *row = memory ? (float *)PyByteArray_AsString(memory) : NULL;
        fill_context(&page, &room);
        for (size_t i = 0; i < reading->blocks && row; i++, row += CUT_FEATURES)
            put_cut_features(&page, &room, i, row);
        free(room.content);
    }
    close_views(views, 3);
    return memory;
}
