/* The main element of a page: the smallest that holds most of what is written there. */

#include "reading.h"

#include "tags.h"

/* The share of the text that it holds at least: more than half, so that all such elements are nested; what it is
   worth stands in tests/reference/rows.py. */
#define MOST 0.7
#define LITTLE 0.2 /* With less of the running text outside of rows, all of it counts: a listing, a discussion. */
#define ABOUT_AS_MUCH 0.3 /* The share of it that a further article has at least. */

/* Running sums of the text that counts. */
static const double *counted(const Reading *reading, const Sums *sums, const double *alone)
{
    size_t blocks = reading->blocks;
    if (alone[blocks] > 0 && alone[blocks] >= LITTLE * sums->running_chars[blocks])
        return alone;
    return sums->running_chars[blocks] > 0 ? sums->running_chars : sums->chars;
}

Main find_main(const Reading *reading, const Notes *notes, const double *alone, const int32_t *lines)
{
    const Tree *tree = reading->tree;
    const double *sums = counted(reading, &notes->sums, alone);
    double least = MOST * sums[reading->blocks];
    Main main = {.node = 0, .low = 0, .high = (int32_t)reading->blocks};
    for (int32_t i = 0, stop = (int32_t)tree->count; i < stop;) {
        int32_t low = notes->before[i], high = notes->before[tree->end[i]];
        if (high == low || sums[high] - sums[low] < least) {
            i = tree->end[i];
            continue;
        }
        if (lines[i] == high - low) /* A paragraph, even if it has several lines, is only part of what is written. */
            break;
        if (high - low >= 2)
            main = (Main){i, low, high};
        stop = tree->end[i++];
    }
    return main;
}

void fill_main(const Reading *reading, const Sums *sums, Main main)
{
    size_t count = reading->blocks;
    double chars = at_least(sums->chars[main.high] - sums->chars[main.low], 1);
    double running = sums->running_chars[main.high] - sums->running_chars[main.low];
    float running_share = (float)(running / at_least(sums->running_chars[count], 1));
    float page_share = (float)(chars / at_least(sums->chars[count], 1));
    float link_share = (float)((sums->link_chars[main.high] - sums->link_chars[main.low]) / chars);
    for (int32_t i = 0; i < (int32_t)count; i++) {
        float *to = features_of(reading, (size_t)i);
        to[PAGE_MAIN_RUNNING_SHARE] = running_share;
        to[PAGE_MAIN_PAGE_SHARE] = page_share;
        to[PAGE_MAIN_LINK_SHARE] = link_share;
        if (i < main.low) {
            to[PAGE_MAIN_BEFORE] = 1;
        } else if (i >= main.high) {
            to[PAGE_MAIN_BEHIND] = 1;
            to[PAGE_MAIN_FROM_END] = (float)log1p_steps(i - main.high + 1);
        } else {
            int32_t levels = reading->tree->depth[reading->container[i]] - reading->tree->depth[main.node];
            to[PAGE_MAIN_INSIDE] = 1;
            to[PAGE_MAIN_LEVELS] = (float)log1p_steps(at_least(levels, 0));
        }
    }
}

/* Does an element look like another one, a sibling? */
static int is_alike(const Tree *tree, const uint64_t *classes, int32_t node, int32_t other)
{
    return tree->tag[node] == tree->tag[other] && classes[node] == classes[other] &&
           (classes[node] || tree->tag[node] == TAG_article);
}

static int has_headline(const Reading *reading, int32_t low, int32_t high)
{
    while (low < high && reading->tree->tag[reading->container[low]] != TAG_h1)
        low++;
    return low < high;
}

void fill_further(const Reading *reading, const Notes *notes, size_t headline)
{
    const Tree *tree = reading->tree;
    const double *sums = notes->sums.running_chars;
    const int32_t *before = notes->before;
    size_t begin = reading->blocks;
    float further = 0;
    int32_t node = headline < reading->blocks ? reading->container[headline] : 0;
    for (; node > 0 && further < 1; node = parent_of(tree, node)) {
        double own = sums[before[tree->end[node]]] - sums[before[node]];
        int32_t stop = own >= ARTICLE_CHARS ? end_around(tree, (size_t)node) : 0;
        for (int32_t i = tree->end[node]; i < stop && further < 1; i = tree->end[i]) {
            int32_t low = before[i], high = before[tree->end[i]];
            if (!is_alike(tree, notes->names.classes, node, i) || sums[high] - sums[low] < ABOUT_AS_MUCH * own)
                continue;
            int is_headed = has_headline(reading, low, high);
            if (is_headed || further == 0)
                begin = (size_t)low;
            further = is_headed ? 1 : 0.5F;
        }
    }
    for (size_t i = begin; i < reading->blocks; i++)
        features_of(reading, i)[PAGE_FURTHER_ARTICLE] = further;
}
