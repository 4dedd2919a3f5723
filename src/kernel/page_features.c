/* What the page alone says of each block. */

#include "reading.h"

#include <math.h>
#include <stdlib.h>

#include "tags.h"

#define MAX_LEVEL 24 /* How many levels up tags are looked for. */
#define MIN_COPY 40  /* Letters and digits from which a text that stands twice is a copy. */

static void fill_text(const Reading *reading, const Letters *letters, size_t block, float *to)
{
    const double *counts = letters->counts, chars = reading->chars[block];
    double total = 0, capitals = counts[UPPER] + letters->capitals;
    for (size_t kind = 0; kind < CHARACTER_KINDS; kind++)
        total += counts[kind];
    total = at_least(total, 1);
    to[PAGE_CHARS] = (float)log1p_steps(chars);
    to[PAGE_LINK_SHARE] = (float)(reading->link_chars[block] / chars);
    to[PAGE_COMMA_SHARE] = (float)(counts[COMMA] / total);
    to[PAGE_STOP_SHARE] = (float)(counts[STOP] / total);
    to[PAGE_SPACES] = (float)log1p_steps(counts[SPACE]);
    to[PAGE_STOPS] = (float)log1p_steps(counts[STOP]);
    to[PAGE_DIGIT_SHARE] = (float)(counts[DIGIT] / total);
    to[PAGE_UPPER_SHARE] = (float)(capitals / at_least(capitals + counts[LOWER] + letters->small, 1));
    to[PAGE_FOREIGN_SHARE] = (float)(counts[FOREIGN] / total);
    to[PAGE_SIGN_SHARE] = (float)(counts[SIGN] / total);
    to[PAGE_ENDS_SENTENCE] = (float)letters->ends;
    to[PAGE_ENDS_COLON] = (float)letters->colon;
}

/* The first four numbers of the three blocks before and the three behind. */
static void fill_neighbours(const Reading *reading, size_t block)
{
    static const struct {
        int step, column;
    } near[] = {{-3, PAGE_BEFORE_3}, {-2, PAGE_BEFORE_2}, {-1, PAGE_BEFORE_1},
                {1, PAGE_BEHIND_1},  {2, PAGE_BEHIND_2},  {3, PAGE_BEHIND_3}};
    for (size_t i = 0; i < sizeof(near) / sizeof(*near); i++) {
        float *to = features_of(reading, block) + near[i].column;
        ptrdiff_t other = (ptrdiff_t)block + near[i].step;
        if (other < 0 || (size_t)other >= reading->blocks)
            to[0] = to[1] = to[2] = to[3] = -1;
        else
            memcpy(to, features_of(reading, (size_t)other) + PAGE_CHARS, 4 * sizeof(float));
    }
}

static void fill_place(const Reading *reading, const Sums *sums, size_t block, float *to)
{
    size_t count = reading->blocks;
    double total = at_least(sums->chars[count], 1);
    to[PAGE_BLOCKS_BEFORE_SHARE] = (float)((double)block / (double)count);
    to[PAGE_CHARS_BEFORE_SHARE] = (float)(sums->chars[block] / total);
    to[PAGE_DEPTH] = (float)(reading->tree->depth[reading->container[block]] / 20.0);
    to[PAGE_BLOCKS_BEFORE] = (float)log1p_steps((double)block);
    to[PAGE_BLOCKS_LEFT] = (float)log1p_steps((double)(count - block));
    to[PAGE_PAGE_CHARS] = (float)log1p_steps(total);
    to[PAGE_PAGE_BLOCKS] = (float)log1p_steps((double)count);
    to[PAGE_PAGE_LINK_SHARE] = (float)(sums->link_chars[count] / total);
    to[PAGE_PAGE_RUNNING_SHARE] = (float)(sums->running_chars[count] / total);
}

static int container_column(int16_t tag)
{
    static const uint8_t columns[TAG_COUNT] = {
#define CONTAINER(tag) [TAG_##tag] = PAGE_CONTAINER_##tag,
#include "features.def"
    };
    return columns[tag] ? columns[tag] : PAGE_CONTAINER_other;
}

enum { ABOVE_AT = PAGE_ABOVE_nav, HIDDEN_AT = PAGE_ARIA_HIDDEN, ABOVE_END = PAGE_LAST_NAMES + 1 };

/* The columns behind `ABOVE_AT` of the tag of a node and of what hides it, as bits. */
static uint32_t above_bits(const Reading *reading, const Names *names, int32_t node)
{
    static const uint32_t bits[TAG_COUNT] = {
#define ABOVE(tag) [TAG_##tag] = UINT32_C(1) << (PAGE_ABOVE_##tag - ABOVE_AT),
#include "features.def"
    };
    return bits[reading->tree->tag[node]] | (uint32_t)names->hidden[node] << (HIDDEN_AT - ABOVE_AT);
}

/* How near above the block tags stand, and what hides it: the nearest of each counts. And what names tell. */
static void fill_above(const Reading *reading, const Names *names, int32_t node, const float *near, float *to)
{
    uint32_t met = 0;
    memcpy(to + PAGE_NAMES, names->told + (size_t)node * NAME_NUMBERS, NAME_NUMBERS * sizeof(float));
    for (int level = 1; level <= MAX_LEVEL; level++) {
        uint32_t bits = above_bits(reading, names, node) & ~met;
        met |= bits;
        for (; bits; bits &= bits - 1)
            to[ABOVE_AT + lowest_bit(bits)] = near[level];
        node = reading->tree->parent[node];
        if (node < 0)
            return;
    }
}

/* Most blocks share what stands farther around them with the block before. */
static void fill_around(const Reading *reading, const Sums *sums, size_t block, float *row)
{
    size_t count = reading->blocks;
    double page = at_least(sums->chars[count], 1);
    double running_page = at_least(sums->running_chars[count], 1);
    for (size_t level = 0; level < LEVELS; level++) {
        float *to = row + level;
        if (is_shared(reading, block, level)) {
            for (size_t part = PAGE_AROUND_LINK_SHARE; part <= PAGE_AROUND_PAGE_RUNNING; part += LEVELS)
                to[part] = *(to + part - PAGE_FEATURES);
            continue;
        }
        double chars = at_least(around(sums->chars, reading, block, level), 1);
        double running = around(sums->running_chars, reading, block, level);
        size_t at = block * LEVELS + level;
        double inside = at_least(reading->high[at] - reading->low[at], 1);
        to[PAGE_AROUND_LINK_SHARE] = (float)(around(sums->link_chars, reading, block, level) / chars);
        to[PAGE_AROUND_PAGE_SHARE] = (float)(chars / page);
        to[PAGE_AROUND_BLOCKS] = (float)log1p_steps(inside);
        to[PAGE_AROUND_BLOCK_CHARS] = (float)log1p_steps(chars / inside);
        to[PAGE_AROUND_RUNNING_SHARE] = (float)(running / chars);
        to[PAGE_AROUND_PAGE_RUNNING] = (float)(running / running_page);
    }
}

/* Of the blocks of the same path and class: how many, how long, how linked. */
static void fill_alike(const Reading *reading, const Names *names, Keyed *items, Keyed *spare)
{
    for (size_t i = 0; i < reading->blocks; i++) {
        int32_t node = reading->container[i];
        items[i] = (Keyed){reading->tree->path_hash[node] + names->classes[node], (int32_t)i};
    }
    sort_keyed(items, spare, reading->blocks);
    for (size_t start = 0, stop; start < reading->blocks; start = stop) {
        double chars = 0, linked = 0;
        for (stop = start; stop < reading->blocks && items[stop].key == items[start].key; stop++) {
            chars += reading->chars[items[stop].place];
            linked += reading->link_chars[items[stop].place];
        }
        double count = (double)(stop - start);
        for (size_t i = start; i < stop; i++) {
            float *to = features_of(reading, (size_t)items[i].place);
            to[PAGE_ALIKE_BLOCKS] = (float)log1p_steps(count);
            to[PAGE_ALIKE_CHARS] = (float)log1p_steps(chars / count);
            to[PAGE_ALIKE_LINK_SHARE] = (float)(linked / chars);
        }
    }
}

/* Is the block a copy of an earlier one, and how much of its surroundings is copied? `copied` has room for one
   more than blocks. */
static void fill_copies(const Reading *reading, const Notes *notes, Keyed *items, Keyed *spare, double *copied)
{
    size_t can = 0;
    for (size_t i = 0; i < reading->blocks; i++) {
        const double *counts = notes->letters[i].counts;
        if (counts[LOWER] + counts[UPPER] + counts[DIGIT] + counts[FOREIGN] >= MIN_COPY)
            items[can++] = (Keyed){notes->letters[i].signature, (int32_t)i};
    }
    sort_keyed(items, spare, can);
    for (size_t start = 0, stop; start < can; start = stop) {
        for (stop = start; stop < can && items[stop].key == items[start].key;)
            stop++;
        for (size_t i = start; i < stop; i++) {
            float *to = features_of(reading, (size_t)items[i].place);
            to[PAGE_IS_COPY] = (float)(i > start);
            to[PAGE_COPIES] = (float)log1p_steps((double)(stop - start - 1));
        }
    }
    copied[0] = 0;
    for (size_t i = 0; i < reading->blocks; i++)
        copied[i + 1] = copied[i] + (features_of(reading, i)[PAGE_IS_COPY] > 0 ? reading->chars[i] : 0);
    for (size_t i = 0; i < reading->blocks; i++)
        for (size_t level = 0; level < LEVELS; level++) {
            float *to = features_of(reading, i) + PAGE_COPIES_AROUND + level;
            double chars = at_least(around(notes->sums.chars, reading, i, level), 1);
            *to = is_shared(reading, i, level) ? *(to - PAGE_FEATURES)
                                               : (float)(around(copied, reading, i, level) / chars);
        }
}

size_t find_headline(const Reading *reading)
{
    size_t first = 0;
    while (first < reading->blocks && reading->tree->tag[reading->container[first]] != TAG_h1)
        first++;
    return first;
}

/* Where each block stands to the first h1. */
static void fill_heading(const Reading *reading)
{
    size_t first = find_headline(reading);
    double has_heading = first < reading->blocks;
    if (first == reading->blocks)
        first = 0;
    for (size_t i = 0; i < reading->blocks; i++) {
        double gap = ((double)i - (double)first) / 50;
        float *to = features_of(reading, i);
        to[PAGE_BEHIND_HEADING] = (float)(has_heading * (i >= first ? 1.0 : -1.0));
        to[PAGE_FROM_HEADING] = (float)(has_heading * (gap < -1 ? -1 : gap > 1 ? 1 : gap));
    }
}

static void fill_blocks(const Reading *reading, const Notes *notes)
{
    float near[MAX_LEVEL + 1] = {0};
    for (int level = 1; level <= MAX_LEVEL; level++)
        near[level] = (float)(1.0 / sqrt((double)level));
    memset(reading->page_features, 0, reading->blocks * PAGE_FEATURES * sizeof(float));
    for (size_t i = 0; i < reading->blocks; i++) {
        int32_t container = reading->container[i];
        float *row = features_of(reading, i);
        fill_text(reading, &notes->letters[i], i, row);
        fill_place(reading, &notes->sums, i, row);
        row[container_column(reading->tree->tag[container])] = 1;
        if (i && container == reading->container[i - 1])
            memcpy(row + ABOVE_AT, row + ABOVE_AT - PAGE_FEATURES, (ABOVE_END - ABOVE_AT) * sizeof(float));
        else
            fill_above(reading, &notes->names, container, near, row);
        fill_around(reading, &notes->sums, i, row);
    }
    for (size_t i = 0; i < reading->blocks; i++)
        fill_neighbours(reading, i);
    fill_heading(reading);
}

int fill_features(const Reading *reading, const Notes *notes)
{
    size_t room = reading->blocks + 1;
    Keyed *items = malloc(room * (2 * sizeof(Keyed) + sizeof(double)));
    if (!items)
        return 0;
    fill_blocks(reading, notes);
    fill_alike(reading, &notes->names, items, items + room);
    fill_copies(reading, notes, items, items + room, (double *)(items + 2 * room));
    free(items);
    return fill_rows(reading, notes) && fill_statement(reading);
}
