/* What the page alone says of each block: the twin of `dehusk.methods.auto.looks`. */

#include "reading.h"

#include <math.h>
#include <stdlib.h>

#define MAX_LEVEL 24
#define MIN_COPY 40
#define ABOVE (ABOVE_TAGS + NAME_KINDS)

static double at_least(double value, double least)
{
    return value > least ? value : least;
}

static void fill_text(const Blocks *blocks, size_t block, float *row)
{
    const Letters *letters = &blocks->letters[block];
    const double *counts = letters->counts, chars = blocks->chars[block];
    double total = 0;
    for (size_t kind = 0; kind < BYTE_KINDS; kind++)
        total += counts[kind];
    total = at_least(total, 1);
    double cased = at_least(counts[LOWER] + counts[UPPER], 1);
    float *to = row + TEXT_AT;
    to[0] = (float)log1p_steps(chars);
    to[1] = (float)(blocks->link_chars[block] / chars);
    to[2] = (float)(counts[COMMA] / total);
    to[3] = (float)(counts[STOP] / total);
    to[4] = (float)log1p_steps(counts[SPACE]);
    to[5] = (float)log1p_steps(counts[STOP]);
    to[6] = (float)(counts[DIGIT] / total);
    to[7] = (float)(counts[UPPER] / cased);
    to[8] = (float)(counts[FOREIGN] / total);
    to[9] = (float)(counts[SIGN] / total);
    to[10] = (float)letters->ends;
    to[11] = (float)letters->colon;
}

/* The first four numbers of the three blocks before and the three behind. */
static void fill_neighbours(size_t count, size_t block, float *looks)
{
    static const int steps[] = {-3, -2, -1, 1, 2, 3};
    float *to = looks + block * LOOKS + NEIGHBOURS_AT;
    for (size_t i = 0; i < 6; i++, to += 4) {
        ptrdiff_t other = (ptrdiff_t)block + steps[i];
        if (other < 0 || (size_t)other >= count)
            to[0] = to[1] = to[2] = to[3] = -1;
        else
            memcpy(to, looks + (size_t)other * LOOKS + TEXT_AT, 4 * sizeof(float));
    }
}

static void fill_place(const PageTree *page, const Blocks *blocks, size_t block, float *row)
{
    size_t count = blocks->count;
    double total = at_least(blocks->chars_sum[count], 1);
    float *to = row + PLACE_AT;
    to[0] = (float)((double)block / (double)count);
    to[1] = (float)(blocks->chars_sum[block] / total);
    to[2] = (float)(page->depth[blocks->container[block]] / 20.0);
    to[3] = (float)log1p_steps((double)block);
    to[4] = (float)log1p_steps((double)(count - block));
    to[5] = (float)log1p_steps(total);
    to[6] = (float)log1p_steps((double)count);
    to[7] = (float)(blocks->link_sum[count] / total);
    to[8] = (float)(blocks->running_sum[count] / total);
}

/* How near above the block its tags and names stand: the nearest of each counts. */
static void fill_above(const PageTree *page, const LookTables *tables, int32_t node,
                       const float *near, float *row)
{
    uint32_t met = 0;
    for (int level = 1; level <= MAX_LEVEL; level++) {
        int16_t tag = page->tag[node];
        uint32_t bits = tag >= 0 && (size_t)tag < tables->tags ? tables->tag_bits[tag] : 0;
        bits = (bits | page->kinds[node] << ABOVE_TAGS) & ~met;
        met |= bits;
        for (; bits; bits &= bits - 1)
            row[ABOVE_AT + lowest_bit(bits)] = near[level];
        if (node <= 0)
            return;
        node = page->parent[node];
    }
}

/* Most blocks share what stands farther around them with the block before. */
static void fill_around(const Blocks *blocks, size_t block, float *row)
{
    size_t count = blocks->count;
    double page = at_least(blocks->chars_sum[count], 1);
    double long_page = at_least(blocks->running_sum[count], 1);
    float *to = row + AROUND_AT;
    for (size_t level = 0; level < LEVELS; level++, to++) {
        size_t at = block * LEVELS + level;
        if (is_shared(blocks, block, level)) {
            for (size_t part = 0; part < 6; part++)
                to[part * LEVELS] = *(to + part * LEVELS - LOOKS);
            continue;
        }
        double chars = at_least(around(blocks->chars_sum, blocks, block, level), 1);
        double running = around(blocks->running_sum, blocks, block, level);
        double inside = at_least(blocks->high[at] - blocks->low[at], 1);
        to[0 * LEVELS] = (float)(around(blocks->link_sum, blocks, block, level) / chars);
        to[1 * LEVELS] = (float)(chars / page);
        to[2 * LEVELS] = (float)log1p_steps(inside);
        to[3 * LEVELS] = (float)log1p_steps(chars / inside);
        to[4 * LEVELS] = (float)(running / chars);
        to[5 * LEVELS] = (float)(running / long_page);
    }
}

/* Of the blocks of the same path and class: how many, how long, how linked. */
static void fill_alike(const PageTree *page, const Blocks *blocks, Keyed *items, Keyed *spare,
                       float *looks)
{
    for (size_t i = 0; i < blocks->count; i++) {
        int32_t node = blocks->container[i];
        items[i] = (Keyed){page->path_hash[node] + page->look[node], (int32_t)i};
    }
    sort_keyed(items, spare, blocks->count);
    for (size_t start = 0, stop; start < blocks->count; start = stop) {
        double chars = 0, linked = 0;
        for (stop = start; stop < blocks->count && items[stop].key == items[start].key; stop++) {
            chars += blocks->chars[items[stop].place];
            linked += blocks->link_chars[items[stop].place];
        }
        double count = (double)(stop - start);
        for (size_t i = start; i < stop; i++) {
            float *to = looks + (size_t)items[i].place * LOOKS + ALIKE_AT;
            to[0] = (float)log1p_steps(count);
            to[1] = (float)log1p_steps(chars / count);
            to[2] = (float)(linked / chars);
        }
    }
}

/* Is the block a copy of an earlier one, and how much of its surroundings is copied? `sums` has
   room for one more than blocks. */
static void fill_copies(const Blocks *blocks, Keyed *items, Keyed *spare, double *sums,
                        float *looks)
{
    size_t can = 0;
    for (size_t i = 0; i < blocks->count; i++) {
        const double *counts = blocks->letters[i].counts;
        if (counts[LOWER] + counts[UPPER] + counts[DIGIT] + counts[FOREIGN] >= MIN_COPY)
            items[can++] = (Keyed){blocks->letters[i].signature, (int32_t)i};
    }
    sort_keyed(items, spare, can);
    for (size_t start = 0, stop; start < can; start = stop) {
        for (stop = start; stop < can && items[stop].key == items[start].key;)
            stop++;
        for (size_t i = start; i < stop; i++) {
            float *to = looks + (size_t)items[i].place * LOOKS + COPIES_AT;
            to[0] = (float)(i > start);
            to[1] = (float)log1p_steps((double)(stop - start - 1));
        }
    }
    sums[0] = 0;
    for (size_t i = 0; i < blocks->count; i++)
        sums[i + 1] = sums[i] + (looks[i * LOOKS + COPIES_AT] > 0 ? blocks->chars[i] : 0);
    for (size_t i = 0; i < blocks->count; i++)
        for (size_t level = 0; level < LEVELS; level++) {
            float *to = looks + i * LOOKS + COPIES_AT + 2 + level;
            double chars = at_least(around(blocks->chars_sum, blocks, i, level), 1);
            *to = is_shared(blocks, i, level) ? *(to - LOOKS)
                                              : (float)(around(sums, blocks, i, level) / chars);
        }
}

/* Where each block stands to the first h1. */
static void fill_heading(const PageTree *page, const LookTables *tables, const Blocks *blocks,
                         float *looks)
{
    size_t first = 0;
    while (first < blocks->count && page->tag[blocks->container[first]] != tables->heading)
        first++;
    double has_heading = first < blocks->count;
    if (first == blocks->count)
        first = 0;
    for (size_t i = 0; i < blocks->count; i++) {
        double gap = ((double)i - (double)first) / 50;
        float *to = looks + i * LOOKS + TITLE_AT;
        to[1] = (float)(has_heading * (i >= first ? 1.0 : -1.0));
        to[2] = (float)(has_heading * (gap < -1 ? -1 : gap > 1 ? 1 : gap));
    }
}

int fill_looks(const PageTree *page, const LookTables *tables, const Blocks *blocks, float *looks)
{
    size_t count = blocks->count;
    Keyed *items = malloc((count + 1) * sizeof(Keyed)), *spare = malloc((count + 1) * sizeof(Keyed));
    double *sums = malloc((count + 1) * sizeof(double));
    int is_done = items && spare && sums;
    if (is_done) {
        float near[MAX_LEVEL + 1] = {0};
        for (int level = 1; level <= MAX_LEVEL; level++)
            near[level] = (float)(1.0 / sqrt((double)level));
        memset(looks, 0, count * LOOKS * sizeof(float));
        for (size_t i = 0; i < count; i++) {
            int32_t container = blocks->container[i];
            int16_t tag = page->tag[container];
            float *row = looks + i * LOOKS;
            fill_text(blocks, i, row);
            fill_place(page, blocks, i, row);
            size_t own = tag >= 0 && (size_t)tag < tables->tags ? tables->own_column[tag] : OWN_TAGS;
            row[CONTAINER_AT + (own < OWN_TAGS ? own : OWN_TAGS)] = 1;
            if (i && container == blocks->container[i - 1])
                memcpy(row + ABOVE_AT, row + ABOVE_AT - LOOKS, ABOVE * sizeof(float));
            else
                fill_above(page, tables, container, near, row);
            fill_around(blocks, i, row);
        }
        for (size_t i = 0; i < count; i++)
            fill_neighbours(count, i, looks);
        fill_alike(page, blocks, items, spare, looks);
        fill_copies(blocks, items, spare, sums, looks);
        fill_heading(page, tables, blocks, looks);
    }
    free(items);
    free(spare);
    free(sums);
    return is_done && fill_rows(page, blocks, looks);
}
