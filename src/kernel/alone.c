/* What a site must not take from a page: there the page alone decides. */

#include "evidence.h"

#include <stdlib.h>

#include "tags.h"

#define POSSIBLE 0.02 /* By the page network: text that is less probable no page keeps by itself. */
#define HALF 0.5F
#define OWN 0.9F      /* The share of a block that other pages have, below which some of it is the page's own. */
#define FEW 2.5F      /* Other pages: what no more than two of them say, a page may say too. */

#define ITEM_CHARS 200 /* Characters of the smallest element around a block and another one that make it one item. */

typedef struct {
    const Asked *page;
    const Reading *reading;
    const float *evidence;
    const double *logits;
    double shift;
    uint8_t *marks;
} Stake;

static int is_kept(const Stake *stake, size_t block)
{
    return stake->logits[block] + stake->shift >= 0;
}

/* Is it dropped, though the page alone may keep it? */
static int may_be_kept(const Stake *stake, size_t block)
{
    return !is_kept(stake, block) && stake->page->opinion->content[block] >= POSSIBLE;
}

static const float *evidence_on(const Stake *stake, size_t block)
{
    return stake->evidence + block * EVIDENCE_COUNT;
}

/* Does it stand in the main element, and do other pages have it, but few of them, or no more than half? An author who
   repeats what others say must not erase it. */
static int is_rare(const Stake *stake, size_t block)
{
    float known = evidence_on(stake, block)[EVIDENCE_KNOWN_ANYWHERE];
    float share = evidence_on(stake, block)[EVIDENCE_ANYWHERE];
    return features_of(stake->reading, block)[PAGE_MAIN_INSIDE] > 0 && known > 0 &&
           (share <= HALF || share * (float)stake->page->others < FEW);
}

/* Mark what stands under headings that are kept, up to the next heading, if nothing of it is. */
static void mark_bodies(const Stake *stake)
{
    const Reading *reading = stake->reading;
    for (size_t i = 0, stop; i < reading->blocks; i = stop) {
        stop = i + 1;
        if (!heading_level(reading, i) || !is_kept(stake, i))
            continue;
        size_t body = end_of_heading(reading, i);
        int is_any_kept = 0;
        for (stop = body; stop < reading->blocks && !heading_level(reading, stop); stop++)
            is_any_kept |= is_kept(stake, stop);
        memset(stake->marks + body, !is_any_kept, stop - body);
    }
}

/* Mark headings of which most of what they head is kept, or may be. */
static void mark_headings(const Stake *stake)
{
    const Reading *reading = stake->reading;
    for (size_t i = 0, stop; i < reading->blocks; i = stop) {
        stop = i + 1;
        if (!heading_level(reading, i))
            continue;
        size_t body = end_of_heading(reading, i);
        double kept = 0, chars = 0;
        for (stop = body; stop < reading->blocks && !heading_level(reading, stop); stop++) {
            kept += is_kept(stake, stop) || stake->marks[stop] ? reading->chars[stop] : 0;
            chars += reading->chars[stop];
        }
        if (kept > HALF * chars)
            memset(stake->marks + i, 1, body - i);
    }
}

/* Is some of its text the page's own? */
static int is_own(const Stake *stake, size_t block)
{
    const float *evidence = evidence_on(stake, block);
    return evidence[EVIDENCE_ANYWHERE] <= HALF || evidence[EVIDENCE_KNOWN_ANYWHERE] < OWN;
}

/* Mark a run of blocks that belong together, if the page has some text of its own there. */
static void mark_run(const Stake *stake, size_t block, size_t stop)
{
    int has_own = 0;
    for (size_t i = block; i < stop; i++)
        has_own |= is_own(stake, i);
    if (has_own)
        memset(stake->marks + block, 1, stop - block);
}

/* Mark tables of data, lists of terms and code that are not the same elsewhere. Other lists may lead to other pages. */
static void mark_wholes(const Stake *stake, int32_t *rows)
{
    const Reading *reading = stake->reading;
    int32_t *tables = rows + reading->blocks;
    find_table_rows(reading, rows, tables);
    for (size_t i = 0, stop; i < reading->blocks; i = stop) {
        for (stop = i + 1; stop < reading->blocks && tables[stop] == tables[i]; stop++) {
        }
        if (tables[i] >= 0)
            mark_run(stake, i, stop);
    }
    for (Sequence at = {0}; next_sequence(reading, &at);) {
        int16_t tag = reading->tree->tag[at.node];
        if (tag != TAG_ul && tag != TAG_ol)
            mark_run(stake, at.first, at.stop);
    }
}

/* Mark what stands in one small element with text of the page's own that is kept: a label beside its value, what is said of
   each entry of a list. */
static void mark_items(const Stake *stake)
{
    const Reading *reading = stake->reading;
    for (size_t i = 0; i < reading->blocks; i++) {
        size_t low = i, high = i + 1;
        if (!may_be_kept(stake, i))
            continue;
        for (size_t level = 0; level < LEVELS && high - low < 2; level++) {
            low = (size_t)reading->low[i * LEVELS + level];
            high = (size_t)reading->high[i * LEVELS + level];
        }
        double chars = 0;
        int has_kept = 0;
        for (size_t k = low; k < high && chars <= ITEM_CHARS; k++) {
            chars += reading->chars[k];
            has_kept |= is_kept(stake, k) && is_own(stake, k);
        }
        stake->marks[i] |= (uint8_t)(has_kept && chars <= ITEM_CHARS);
    }
}

int find_at_stake(const Asked *page, const float *evidence, const double *logits, double shift, int32_t *room, uint8_t *marks)
{
    const Reading *reading = page->reading;
    const Stake stake = {page, reading, evidence, logits, shift, marks};
    int is_any = 0;
    for (size_t i = 0; i < reading->blocks && !is_any; i++)
        is_any = may_be_kept(&stake, i);
    if (!is_any)
        return 0;
    memset(marks, 0, reading->blocks);
    mark_bodies(&stake);
    mark_wholes(&stake, room);
    mark_items(&stake);
    for (size_t i = 0; i < reading->blocks; i++)
        marks[i] |= (uint8_t)is_rare(&stake, i);
    mark_headings(&stake);
    is_any = 0;
    for (size_t i = 0; i < reading->blocks; i++)
        is_any |= marks[i] &= (uint8_t)may_be_kept(&stake, i);
    return is_any;
}
