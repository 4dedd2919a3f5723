/* `judge`: from what the page and the site say of each block to one number per block. */

#include "evidence.h"

#include <stdlib.h>

#include "cut_features.h"

#define SAID 0.9 /* The share of a page's text on other pages from which on it says nothing new. */

/* A rule for what the networks have seen too seldom: a box of prose that is the same on every page. What it is
   worth stands in tests/reference/judging.py. */
#define SAME_PAGES 4
#define SAME_CHARS 100
#define SAME_AROUND 0.97F
#define SAME_TEXT 0.9F

#define JUDGEMENT_COLUMNS(COLUMN)        \
    COLUMN(logits, double, "d", 0, 1)    \
    COLUMN(content, double, "d", 0, 1)   \
    COLUMN(scores, double, "d", 0, 1)    \
    COLUMN(evidence, float, "f", 0, EVIDENCE_COUNT)

typedef struct {
    Owner owner;
    JUDGEMENT_COLUMNS(COLUMN_POINTER)
    double threshold;
} Judgement;

#define OWNER Judgement

static const Column columns[] = {JUDGEMENT_COLUMNS(COLUMN_ENTRY) NO_COLUMN};

#define BATCH 32 /* Rows that are made, and read by a network, while they are in the nearest cache. */

static size_t batch_at(const Reading *reading, size_t block)
{
    return reading->blocks - block < BATCH ? reading->blocks - block : BATCH;
}

/* The evidence, and what the site network says of each block, as logits; 0 without memory. */
static int run_site(const Asked *page, const Network *network, Judgement *to)
{
    Weighing room;
    float rows[BATCH * SITE_FEATURES];
    if (!make_weighing(page, &room))
        return 0;
    weigh(page, &room, to->evidence);
    int is_done = 1;
    for (size_t block = 0, count; block < page->reading->blocks && is_done; block += count) {
        count = batch_at(page->reading, block);
        for (size_t i = 0; i < count; i++)
            put_features(page, &room, block + i, to->evidence + (block + i) * EVIDENCE_COUNT,
                         rows + i * SITE_FEATURES, rows + (i ? i - 1 : BATCH - 1) * SITE_FEATURES);
        is_done = run_network(network, rows, count, to->logits + block);
    }
    free(room.sums);
    return is_done;
}

/* Does the block stand in a part that is the same on all pages that have it? Two to six levels up: a cell of a
   table needs four to get out of it, and what stands farther around is more than one part of the page. */
static int is_same(const CutPage *page, const double *sums, double others, size_t block)
{
    const float *evidence = page->evidence + block * EVIDENCE_COUNT;
    int is_part = 0;
    for (size_t level = 1; level < 5; level++)
        is_part |= evidence[EVIDENCE_GIVEN_PLACE_AROUND + level] > SAME_AROUND &&
                   around(sums, page->reading, block, level) >= SAME_CHARS;
    return is_part && evidence[EVIDENCE_GIVEN_PLACE] > SAME_TEXT &&
           evidence[EVIDENCE_PLACE_SHARE] * (float)others > (float)(SAME_PAGES - 0.5);
}

/* What the cut network says of each block, as logits, and whether it is the same everywhere, in the place of the
   scores; 0 without memory. */
static int run_cut(const CutPage *page, const Network *network, double others, Judgement *to)
{
    CutContext room;
    float rows[BATCH * CUT_FEATURES];
    if (!make_context(page->reading, &room))
        return 0;
    fill_context(page, &room);
    int is_done = 1;
    for (size_t block = 0, count; block < page->reading->blocks && is_done; block += count) {
        count = batch_at(page->reading, block);
        for (size_t i = 0; i < count; i++)
            put_cut_features(page, &room, block + i, rows + i * CUT_FEATURES);
        is_done = run_network(network, rows, count, to->content + block);
    }
    for (size_t i = 0; i < page->reading->blocks; i++)
        to->scores[i] = is_same(page, room.chars, others, i);
    free(room.content);
    return is_done;
}

/* Does other pages' text say nearly all that the page says? */
static int is_said(const CutPage *page)
{
    double known = 0, chars = 0;
    for (size_t i = 0; i < page->reading->blocks; i++) {
        known += page->reading->chars[i] * page->evidence[i * EVIDENCE_COUNT + EVIDENCE_KNOWN_ANYWHERE];
        chars += page->reading->chars[i];
    }
    return known / chars > SAID;
}

static void put_scores(const double *content, size_t count, double threshold, double *scores)
{
    double room = 1 - threshold > 1e-9 ? 1 - threshold : 1e-9;
    for (size_t i = 0; i < count; i++) {
        double score = content[i] >= threshold ? 0.5 * (1 - content[i]) / room
                                               : 0.5 + 0.5 * (threshold - content[i]) / threshold;
        if (content[i] >= threshold && score > 0.5)
            score = 0.5;
        scores[i] = score < 0 ? 0 : score > 1 ? 1 : score;
    }
}

/* Probabilities out of the logits of the cut network, which stand in their place, and the scores. What is the same
   everywhere goes, unless nothing else is likely: one page under several URLs says what it says. A page with text
   of its own does not come out empty; on one that says only what others say, a block must look like content too:
   the cut network is used to pages that say something. */
static void decide(const CutPage *page, const Opinion *opinion, double shift, Judgement *to)
{
    size_t blocks = page->reading->blocks;
    double highest = 0;
    int is_other_likely = 0, says_nothing = is_said(page);
    for (size_t i = 0; i < blocks; i++) {
        double logit = says_nothing ? at_most(to->content[i], opinion->logits[i]) : to->content[i];
        to->content[i] = probability_of(logit + shift);
        is_other_likely |= to->scores[i] == 0 && to->content[i] >= 0.5;
    }
    for (size_t i = 0; i < blocks; i++) {
        if (is_other_likely && to->scores[i] != 0)
            to->content[i] = 0;
        highest = at_least(to->content[i], highest);
    }
    to->threshold = highest < 0.5 && !says_nothing ? highest : 0.5;
    put_scores(to->content, blocks, to->threshold, to->scores);
}

PyObject *kernel_judge(PyObject *module, PyObject *arguments, PyObject *named)
{
    static char *names[] = {"reading", "opinion", "tables", "pages", "site_network", "type_network", "cut_network",
                            "shift", NULL};
    const Types *types = types_of(module);
    PyObject *objects[6];
    Asked page;
    long pages;
    double shift;
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "OOOlOOOd:judge", names, &objects[0], &objects[1],
                                     &objects[2], &pages, &objects[3], &objects[4], &objects[5], &shift) ||
        !given_asked(types, objects, pages, &page))
        return NULL;
    const Network *site = given_network(types, objects[3], SITE_FEATURES, 1);
    const Network *cut = site ? given_network(types, objects[5], CUT_FEATURES, 1) : NULL;
    const double *page_types = cut ? page_types_of(types, page.reading, page.opinion, objects[4]) : NULL;
    Judgement *to = page_types ? make_owner(types->judgement, columns, &page.reading->blocks, NULL) : NULL;
    if (!to)
        return NULL;
    CutPage weighed = {page.reading, to->evidence, to->logits, page_types};
    if (!run_site(&page, site, to) || !run_cut(&weighed, cut, page.others, to)) {
        Py_DECREF((PyObject *)to);
        return PyErr_NoMemory();
    }
    decide(&weighed, page.opinion, shift, to);
    return (PyObject *)to;
}

static PyObject *threshold_of(PyObject *self, void *closure)
{
    (void)closure;
    return PyFloat_FromDouble(((Judgement *)self)->threshold);
}

static PyGetSetDef attributes[] = {
    JUDGEMENT_COLUMNS(COLUMN_ATTRIBUTE)
    {"threshold", threshold_of, NULL, "From which probability on a block is kept.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    OWNER_SLOTS,
    {Py_tp_doc, "What page and site come to, block by block."},
    {Py_tp_getset, attributes},
    {0, NULL},
};

PyType_Spec judgement_spec = {"dehusk._kernel.Judgement", sizeof(Judgement), 0, OWNER_FLAGS, slots};
