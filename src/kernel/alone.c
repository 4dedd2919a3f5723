/* What a site must not take from a page: there the page alone decides. */

#include "evidence.h"

#define POSSIBLE 0.02 /* By the page network: text that is less probable no page keeps by itself. */
#define HALF 0.5F

/* Does it stand in the main element, and do other pages have it, but no more than half of them? An author who repeats what
   others say must not erase it. */
static int is_rare(const float *features, const float *evidence)
{
    return features[PAGE_MAIN_INSIDE] > 0 && evidence[EVIDENCE_KNOWN_ANYWHERE] > 0 && evidence[EVIDENCE_ANYWHERE] <= HALF;
}

/* Mark what stands under headings that are kept, up to the next heading, if nothing of it is. */
static void mark_bodies(const Reading *reading, const double *logits, double shift, uint8_t *marks)
{
    for (size_t i = 0, stop; i < reading->blocks; i = stop) {
        stop = i + 1;
        if (heading_level(reading, i) < 2 || logits[i] + shift < 0)
            continue;
        size_t body = end_of_heading(reading, i);
        int is_any_kept = 0;
        for (stop = body; stop < reading->blocks && !heading_level(reading, stop); stop++)
            is_any_kept |= logits[stop] + shift >= 0;
        memset(marks + body, !is_any_kept, stop - body);
    }
}

int find_at_stake(const Asked *page, const float *evidence, const double *logits, double shift, uint8_t *marks)
{
    const Reading *reading = page->reading;
    int is_any = 0;
    memset(marks, 0, reading->blocks);
    mark_bodies(reading, logits, shift, marks);
    for (size_t i = 0; i < reading->blocks; i++) {
        int may_be = logits[i] + shift < 0 && page->opinion->content[i] >= POSSIBLE;
        marks[i] = may_be && (marks[i] || is_rare(features_of(reading, i), evidence + i * EVIDENCE_COUNT));
        is_any |= marks[i];
    }
    return is_any;
}
