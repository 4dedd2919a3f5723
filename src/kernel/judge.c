/* `judge`: from what the page and the site say of each block to one number per block. */

#include "evidence.h"

#include <math.h>
#include <stdlib.h>

#define JUDGEMENT_COLUMNS(COLUMN)        \
    COLUMN(content, double, "d", 0, 1)   \
    COLUMN(comments, double, "d", 0, 1)  \
    COLUMN(scores, double, "d", 0, 1)    \
    COLUMN(evidence, float, "f", 0, EVIDENCE_COUNT)

typedef struct {
    Owner owner;
    JUDGEMENT_COLUMNS(COLUMN_POINTER)
    double threshold, types[TYPE_COUNT];
} Judgement;

#define OWNER Judgement

static const Column columns[] = {JUDGEMENT_COLUMNS(COLUMN_ENTRY) NO_COLUMN};

#define BATCH 32 /* Rows that are made, and read by a network, while they are in the nearest cache. */

/* The site network, and the context network behind it. Of each block the first one gives gates, one for each number
   that is carried forth along the page and back, numbers of the block's own, and fresh numbers for both directions.
   What is carried takes up the fresh numbers as far as the gate is open. The context network reads what has been
   carried here from both sides, and the block's own numbers. */
typedef struct {
    const Network *site, *context;
    size_t carried;     /* Numbers that are carried in each direction. */
    float *marks;       /* Of each block what the site network gives; then what the context network reads. */
    float *rows, *state; /* A batch for the context network, and what is carried now. */
    double *out;        /* What the site network gives for a batch. */
} Context;

/* What Python handed in, if both fit together; 0 with an exception set. */
static int given_context(const Types *types, PyObject *site, PyObject *context, Context *to)
{
    to->site = given_network(types, site, SITE_FEATURES, 0);
    to->context = to->site ? given_network(types, context, 0, 2) : NULL;
    if (!to->context)
        return 0;
    size_t given = to->site->outputs, read = to->context->inputs;
    to->carried = (given - read) / 2;
    if (given >= read && (given - read) % 2 == 0 && 2 * to->carried <= read)
        return 1;
    PyErr_Format(PyExc_ValueError, "a context network of %zu inputs, behind a site network of %zu outputs", read, given);
    return 0;
}

/* Room for a page, to be freed at `out`; 0 without memory. */
static int make_context(size_t blocks, Context *to)
{
    size_t given = to->site->outputs, read = to->context->inputs;
    to->out = malloc(BATCH * given * sizeof(double) +
                     (blocks * given + BATCH * read + to->carried) * sizeof(float));
    if (!to->out)
        return 0;
    to->marks = (float *)(to->out + BATCH * given);
    to->rows = to->marks + blocks * given;
    to->state = to->rows + BATCH * read;
    return 1;
}

/* Go on by one block, whose gates and fresh numbers stand here; what is carried takes the place of the gates. */
static void carry(float *gates, const float *fresh, size_t count, float *state)
{
    for (size_t i = 0; i < count; i++) {
        float open = 0.5F + 0.5F * (gates[i] / (1 + fabsf(gates[i])));
        gates[i] = state[i] = state[i] * (1 - open) + open * fresh[i];
    }
}

/* What is carried to each block from before it, and from behind it. */
static void carry_all(const Context *context, size_t blocks)
{
    size_t count = context->carried, given = context->site->outputs, fresh = context->context->inputs;
    memset(context->state, 0, count * sizeof(float));
    for (float *row = context->marks; row < context->marks + blocks * given; row += given)
        carry(row, row + fresh, count, context->state);
    memset(context->state, 0, count * sizeof(float));
    for (float *row = context->marks + blocks * given; row > context->marks;) {
        row -= given;
        carry(row + count, row + fresh + count, count, context->state);
    }
}

static size_t batch_at(const Reading *reading, size_t block)
{
    return reading->blocks - block < BATCH ? reading->blocks - block : BATCH;
}

/* The evidence, and what the site network gives for each block; 0 without memory. */
static int run_site(const Asked *page, const Context *context, Judgement *to)
{
    Weighing room;
    float rows[BATCH * SITE_FEATURES];
    size_t given = context->site->outputs;
    if (!make_weighing(page, &room))
        return 0;
    weigh(page, &room, to->evidence);
    int is_done = 1;
    for (size_t block = 0, count; block < page->reading->blocks && is_done; block += count) {
        count = batch_at(page->reading, block);
        for (size_t i = 0; i < count; i++)
            put_features(page, &room, block + i, to->evidence + (block + i) * EVIDENCE_COUNT,
                         rows + i * SITE_FEATURES, rows + (i ? i - 1 : BATCH - 1) * SITE_FEATURES);
        is_done = run_network(context->site, rows, count, context->out);
        for (size_t i = 0; i < count * given; i++)
            context->marks[block * given + i] = (float)context->out[i];
    }
    free(room.sums);
    return is_done;
}

/* What the context network says of each block, as logits; 0 without memory. */
static int run_context(const Reading *reading, const Context *context, Judgement *to)
{
    size_t given = context->site->outputs, read = context->context->inputs;
    double out[2 * BATCH];
    carry_all(context, reading->blocks);
    for (size_t block = 0, count; block < reading->blocks; block += count) {
        count = batch_at(reading, block);
        for (size_t i = 0; i < count; i++)
            memcpy(context->rows + i * read, context->marks + (block + i) * given, read * sizeof(float));
        if (!run_network(context->context, context->rows, count, out))
            return 0;
        for (size_t i = 0; i < count; i++) {
            to->content[block + i] = out[2 * i];
            to->comments[block + i] = out[2 * i + 1];
        }
    }
    return 1;
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

#define FEW_PAGES 3   /* With as many others a site tells its template. */
#define BARE_BLOCKS 8 /* Chosen. Of 10,548 pages of the development corpora two are bare. */

/* Is it a fragment, in which nothing tells content from template: a few blocks without links, headings and parts of a
   page? Networks that saw whole pages guess there. */
static int is_bare(const Asked *page)
{
    const Reading *reading = page->reading;
    static const size_t parts[] = {PAGE_ABOVE_nav, PAGE_ABOVE_header, PAGE_ABOVE_footer, PAGE_ABOVE_aside,
                                   PAGE_ABOVE_form, PAGE_ABOVE_button, PAGE_ABOVE_a};
    int is_framed = reading->blocks > BARE_BLOCKS || page->others >= FEW_PAGES;
    for (size_t i = 0; i < reading->blocks && !is_framed; i++) {
        is_framed = reading->link_chars[i] > 0 || heading_level(reading, i);
        for (size_t k = 0; k < sizeof(parts) / sizeof(*parts); k++)
            is_framed |= features_of(reading, i)[parts[k]] > 0;
    }
    return !is_framed;
}

/* The probabilities, out of the logits of the context network that stand in their place, and the scores. A page with text
   does not come out empty. */
static void decide(const Asked *page, double shift, double *room, Judgement *to)
{
    const Reading *reading = page->reading;
    double highest = 0;
    for (size_t i = 0; i < reading->blocks; i++) {
        to->content[i] = probability_of(to->content[i] + shift);
        to->comments[i] = probability_of(to->comments[i]);
    }
    for (size_t i = is_bare(page) ? 0 : reading->blocks; i < reading->blocks; i++)
        to->content[i] = at_least(to->content[i], 0.5);
    keep_whole(reading, room, to->content);
    for (size_t i = 0; i < reading->blocks; i++)
        highest = at_least(to->content[i], highest);
    to->threshold = highest < 0.5 ? highest : 0.5;
    put_scores(to->content, reading->blocks, to->threshold, to->scores);
}

/* The logits of all blocks; 0 without memory. */
static int run_networks(const Asked *page, Context *context, const Atlas *atlas, Judgement *to)
{
    return run_site(page, context, to) && run_context(page->reading, context, to) &&
           (!atlas->share || add_leans(page->reading, atlas, to->content));
}

/* Keep what the page alone keeps, where its site must not take it; 0 without memory. */
static int keep_own(const Asked *page, Context *context, const Atlas *atlas, double shift, Judgement *to)
{
    size_t blocks = page->reading->blocks;
    Judgement by_itself = {0};
    Asked alone = {.reading = page->reading, .opinion = page->opinion, .types = page->types, .copies = 1};
    double *room = malloc(blocks * (2 * sizeof(double) + EVIDENCE_COUNT * sizeof(float) + sizeof(uint8_t)));
    if (!room)
        return 0;
    by_itself.content = room;
    by_itself.comments = room + blocks;
    by_itself.evidence = (float *)(room + 2 * blocks);
    uint8_t *marks = (uint8_t *)(by_itself.evidence + blocks * EVIDENCE_COUNT);
    int is_done = 1;
    if (find_at_stake(page, to->evidence, to->content, shift, (int32_t *)(void *)room, marks)) {
        is_done = run_networks(&alone, context, atlas, &by_itself);
        for (size_t i = 0; i < blocks && is_done; i++)
            if (marks[i])
                to->content[i] = at_least(to->content[i], by_itself.content[i]);
    }
    free(room);
    return is_done;
}

/* Judge the page; 0 without memory. */
static int judge(const Asked *page, Context *context, const Atlas *atlas, double shift, Judgement *to)
{
    double *room = malloc(2 * (page->reading->blocks + 1) * sizeof(double));
    int is_done = room && make_context(page->reading->blocks, context);
    if (is_done) {
        is_done = run_networks(page, context, atlas, to) &&
                  (page->others <= 0 || keep_own(page, context, atlas, shift, to));
        free(context->out);
    }
    if (is_done)
        decide(page, shift, room, to);
    free(room);
    return is_done;
}

/* The atlas, its keys, leans and share in a tuple; 0 with an exception set. The views are to be closed. */
static int open_atlas(PyObject *said, View *views, Atlas *atlas)
{
    static const Py_ssize_t sizes[] = {sizeof(uint64_t), sizeof(int8_t)};
    PyObject *arrays[2];
    *atlas = (Atlas){0};
    views[0] = views[1] = (View){0};
    if (said == Py_None)
        return 1;
    if (!PyTuple_Check(said)) {
        PyErr_SetString(PyExc_TypeError, "judge: an atlas is a tuple");
        return 0;
    }
    if (!PyArg_ParseTuple(said, "OOd:judge", &arrays[0], &arrays[1], &atlas->share) || !open_views(views, arrays, "Qb"))
        return 0;
    atlas->keys = views[0].buffer.buf;
    atlas->leans = views[1].buffer.buf;
    atlas->count = (size_t)views[1].buffer.len;
    if (check_sizes("judge", views, sizes, 2, views[1].buffer.len))
        return 1;
    close_views(views, 2);
    return 0;
}

/* The judgement with the types that were told, to be filled; NULL with an exception set. */
static Judgement *make_judgement(const Types *types, Asked *page, PyObject *network, long known_type)
{
    PageTypes told;
    if (!page_types_of(types, page->reading, page->opinion, network, &told))
        return NULL;
    Judgement *to = make_owner(types->judgement, columns, &page->reading->blocks, NULL);
    if (!to)
        return NULL;
    memcpy(to->types, told.read, sizeof(to->types));
    page->types = to->types;
    for (long i = 0; i < TYPE_COUNT && known_type >= 0 && known_type < TYPE_COUNT; i++)
        to->types[i] = i == known_type; /* The user knows better. */
    return to;
}

PyObject *kernel_judge(PyObject *module, PyObject *arguments, PyObject *named)
{
    static char *names[] = {"reading", "opinion", "tables", "pages", "type_network", "site_network", "context_network",
                            "shift", "known_type", "atlas", "copies", NULL};
    const Types *types = types_of(module);
    PyObject *objects[6], *said = Py_None;
    Context context;
    Asked page;
    Atlas atlas;
    View views[2];
    long pages, copies = 1, type = -1;
    double shift;
    int is_done = 0;
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "OOOlOOOd|lOl:judge", names, &objects[0], &objects[1],
                                     &objects[2], &pages, &objects[3], &objects[4], &objects[5], &shift, &type, &said,
                                     &copies) ||
        !given_context(types, objects[4], objects[5], &context) || !open_atlas(said, views, &atlas))
        return NULL;
    Judgement *to = NULL;
    if (given_asked(types, objects, pages, copies, &page)) {
        to = make_judgement(types, &page, objects[3], type);
        if (to) {
            Py_BEGIN_ALLOW_THREADS
            is_done = judge(&page, &context, &atlas, shift, to);
            Py_END_ALLOW_THREADS
        }
        if (to && !is_done) {
            Py_CLEAR(to);
            PyErr_NoMemory();
        }
        let_go(&page);
    }
    close_views(views, 2);
    return (PyObject *)to;
}

static PyObject *threshold_of(PyObject *self, void *closure)
{
    (void)closure;
    return PyFloat_FromDouble(((Judgement *)self)->threshold);
}

static PyObject *types_told(PyObject *self, void *closure)
{
    (void)closure;
    return list_of(((Judgement *)self)->types, TYPE_COUNT);
}

static PyGetSetDef attributes[] = {
    JUDGEMENT_COLUMNS(COLUMN_ATTRIBUTE)
    {"types", types_told, NULL, "The probabilities of the page's types, or what the user knows.", NULL},
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
