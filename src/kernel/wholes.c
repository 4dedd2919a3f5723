/* What belongs together is decided together: the cells of a table, the items of a list, the lines of code, a heading and
   what it heads. */

#include "reading.h"

#include "tags.h"

static int is_head(const Reading *reading, size_t block)
{
    return features_of(reading, block)[PAGE_CONTAINER_th] > 0;
}

#define TABLE_LEVEL 3 /* Of a cell: the row and its group stand between. */

/* The head of a table goes with its other cells, if these are content: it comes back with every such table, which
   the networks take for template. `sums` is room for twice as many numbers as blocks, and two. */
static void lift_heads(const Reading *reading, double *sums, double *content)
{
    double *chars = sums + reading->blocks + 1;
    sums[0] = chars[0] = 0;
    for (size_t i = 0; i < reading->blocks; i++) {
        double own = is_head(reading, i) ? 0 : reading->chars[i];
        sums[i + 1] = sums[i] + own * content[i];
        chars[i + 1] = chars[i] + own;
    }
    for (size_t i = 0; i < reading->blocks; i++) {
        if (!is_head(reading, i) || reading->tree->tag[reading->levels[i * LEVELS + TABLE_LEVEL]] != TAG_table)
            continue;
        double mean = around(sums, reading, i, TABLE_LEVEL) / at_least(around(chars, reading, i, TABLE_LEVEL), 1);
        content[i] = at_least(content[i], mean >= 0.5 ? mean : 0);
    }
}

/* Keep runs of blocks with one number whole: those whose text is mostly content, or those with any content. */
static void keep_runs(const Reading *reading, const int32_t *numbers, int is_by_most, double *content)
{
    for (size_t i = 0, stop; i < reading->blocks; i = stop) {
        double sum = 0, chars = 0, most = 0;
        for (stop = i; stop < reading->blocks && numbers[stop] == numbers[i]; stop++) {
            sum += reading->chars[stop] * content[stop];
            chars += reading->chars[stop];
            most = at_least(content[stop], most);
        }
        if (numbers[i] < 0 || (is_by_most ? sum / at_least(chars, 1) : most) < 0.5)
            continue;
        for (size_t k = i; k < stop; k++)
            content[k] = at_least(content[k], 0.5);
    }
}

/* A table of data is kept whole if most of its text is content, else by whole rows: what names its rows and columns
   comes back with every such table, which the networks take for template. */
static void keep_rows(const Reading *reading, int32_t *rows, double *content)
{
    int32_t *tables = rows + reading->blocks;
    find_table_rows(reading, rows, tables);
    keep_runs(reading, tables, 1, content);
    keep_runs(reading, rows, 0, content);
}

#define FEW 0.3 /* The mean below which a list is dropped whole. Between that and one half nobody knows. */
#define DROPPED 0.49

/* The mean over blocks, by characters. */
static double mean_of(const Reading *reading, const double *content, size_t block, size_t stop)
{
    double sum = 0, chars = 0;
    for (; block < stop; block++) {
        sum += reading->chars[block] * content[block];
        chars += reading->chars[block];
    }
    return sum / at_least(chars, 1);
}

static int32_t node_of(const Reading *reading, size_t block)
{
    return reading->segments[reading->first[block]];
}

static int is_sequence(int16_t tag)
{
    return tag == TAG_ul || tag == TAG_ol || tag == TAG_dl || tag == TAG_pre;
}

int next_sequence(const Reading *reading, Sequence *at)
{
    const Tree *tree = reading->tree;
    int32_t nodes = (int32_t)tree->count;
    for (int32_t i = at->end; i < nodes; i++) {
        if (!is_sequence(tree->tag[i]))
            continue;
        at->structure = at->structure > i ? at->structure : i + 1;
        while (at->structure < nodes && !(tag_sets[tree->tag[at->structure]] & SET_STRUCTURE))
            at->structure++;
        if (at->structure < tree->end[i])
            continue;
        at->node = i;
        at->end = tree->end[i];
        for (at->first = at->stop; at->first < reading->blocks && node_of(reading, at->first) < i; at->first++) {
        }
        for (at->stop = at->first; at->stop < reading->blocks && node_of(reading, at->stop) < at->end; at->stop++) {
        }
        return 1;
    }
    return 0;
}

/* A list, or code, is kept or dropped whole, if most of its text is content or template: one that holds no more than items,
   and with it all lists in it. */
static void keep_sequences(const Reading *reading, double *content)
{
    for (Sequence at = {0}; next_sequence(reading, &at);) {
        double mean = mean_of(reading, content, at.first, at.stop);
        for (size_t k = at.first; k < at.stop && mean >= 0.5; k++)
            content[k] = at_least(content[k], 0.5);
        for (size_t k = at.first; k < at.stop && mean < FEW; k++)
            content[k] = at_most(content[k], DROPPED);
    }
}

#define POSSIBLE 0.2
#define MOST 0.8

int heading_level(const Reading *reading, size_t block)
{
    int16_t tag = reading->tree->tag[reading->container[block]];
    return tag >= TAG_h2 && tag <= TAG_h6 ? tag - TAG_h2 + 2 : tag == TAG_h1;
}

size_t end_of_heading(const Reading *reading, size_t heading)
{
    size_t stop = heading + 1;
    while (stop < reading->blocks && reading->container[stop] == reading->container[heading])
        stop++;
    return stop;
}

/* The share of what stands under a heading that is kept: from a block up to the next heading of its level, within two
   elements. */
static double kept_under(const Reading *reading, const double *content, size_t heading, size_t block)
{
    const Tree *tree = reading->tree;
    int level = heading_level(reading, heading);
    int32_t holder = parent_of(tree, reading->container[heading]);
    int32_t end = tree->end[parent_of(tree, holder)];
    double kept = 0, chars = 0;
    for (size_t i = block; i < reading->blocks && node_of(reading, i) < end; i++) {
        int other = heading_level(reading, i);
        if (other && other <= level)
            break;
        kept += content[i] >= 0.5 ? reading->chars[i] : 0;
        chars += reading->chars[i];
    }
    return kept / at_least(chars, 1);
}

/* A heading that may be content is, if what it heads is. It may be of several lines. */
static void keep_headings(const Reading *reading, double *content)
{
    for (size_t i = 0, stop; i < reading->blocks; i = stop) {
        double highest = 0;
        stop = heading_level(reading, i) > 1 ? end_of_heading(reading, i) : i + 1;
        for (size_t k = i; k < stop; k++)
            highest = at_least(content[k], highest);
        if (heading_level(reading, i) < 2 || highest < POSSIBLE || kept_under(reading, content, i, stop) < MOST)
            continue;
        for (size_t k = i; k < stop; k++)
            content[k] = at_least(content[k], 0.5);
    }
}

void keep_whole(const Reading *reading, double *room, double *content)
{
    lift_heads(reading, room, content);
    keep_rows(reading, (int32_t *)(void *)room, content);
    keep_sequences(reading, content);
    keep_siblings(reading, content);
    keep_headings(reading, content);
}
