/* `opinion`: what the page network says of each block, and the lesson, what the page teaches.

   Four tables: `segments`, a text at its place; `texts`, a text anywhere; `places`, with sums of what stood
   there; `families`, where the content of the page stood. All add up, whatever the order of the pages. */

#include "opinion.h"

#include <math.h>
#include <stdlib.h>

#define UNIT 1000.0 /* Probabilities are summed in thousandths. */
#define MOST 0.7    /* The share of a page's content that the element naming its family holds at least. */
#define OWNER Opinion

static const Column columns[] = {OPINION_COLUMNS(COLUMN_ENTRY) NO_COLUMN};

typedef struct {
    PyObject *type;  /* Of tables. */
    const Reading *reading;
    const double *content;
    Keyed *items;    /* Room for twice the segments, or blocks. */
    uint64_t *sums;  /* Rows of `PLACE_SUMS`, one for each block. */
    double *running; /* One more than blocks. */
    size_t family;   /* Where the element that names the page's family stands among the surroundings. */
} Lesson;

static Table *table_of(const Lesson *lesson, const uint64_t *keys, size_t count, const uint64_t *sums)
{
    PageKeys page = {.keys = keys, .sums = sums, .count = count, .width = sums ? PLACE_SUMS : 0, .number = 1};
    return table_of_page(lesson->type, &page, lesson->items);
}

/* Of each block it notes how many segments stand nowhere before it. */
static Table *segments_of(const Lesson *lesson)
{
    const Reading *reading = lesson->reading;
    Table *table = table_of(lesson, reading->keys, reading->segment_count, NULL);
    memset(lesson->sums, 0, reading->blocks * PLACE_SUMS * sizeof(uint64_t));
    for (size_t i = 0; i < reading->segment_count && table; i++)
        if (!is_repeat(lesson->items, i))
            lesson->sums[(size_t)reading->owners[lesson->items[i].place] * PLACE_SUMS + SUM_SEGMENTS] += 1;
    return table;
}

static Table *texts_of(const Lesson *lesson)
{
    return table_of(lesson, lesson->reading->texts, lesson->reading->segment_count, NULL);
}

/* After `segments_of`. */
static Table *places_of(const Lesson *lesson)
{
    const Reading *reading = lesson->reading;
    for (size_t i = 0; i < reading->blocks; i++) {
        double weight = sqrt(reading->chars[i]);
        uint64_t *sums = lesson->sums + i * PLACE_SUMS;
        sums[SUM_CHARS] = (uint64_t)reading->chars[i];
        sums[SUM_CONTENT] = (uint64_t)rint(UNIT * weight * lesson->content[i]);
        sums[SUM_WEIGHT] = (uint64_t)rint(UNIT * weight);
    }
    return table_of(lesson, reading->places, reading->blocks, lesson->sums);
}

/* Where among the surroundings of blocks the smallest element around the main block stands that holds most
   content; there is a block. */
static size_t find_family(const Lesson *lesson)
{
    const Reading *reading = lesson->reading;
    double *sums = lesson->running, highest = -1;
    size_t main = 0, level = 0;
    sums[0] = 0;
    for (size_t i = 0; i < reading->blocks; i++) {
        double content = lesson->content[i] * reading->chars[i];
        sums[i + 1] = sums[i] + content;
        if (content > highest) {
            highest = content;
            main = i;
        }
    }
    while (level < LEVELS - 1 && around(sums, reading, main, level) < MOST * sums[reading->blocks])
        level++;
    return main * LEVELS + level;
}

/* It depends on the page alone, so that the families of two memories add up. */
static Table *families_of(const Lesson *lesson)
{
    const Reading *reading = lesson->reading;
    return table_of(lesson, reading->surroundings + lesson->family, reading->blocks > 0, NULL);
}

/* All tables in a dict; NULL with an exception set. */
static PyObject *tables_of(const Lesson *lesson)
{
    static const struct {
        const char *name;
        Table *(*make)(const Lesson *);
    } makers[] = {{"segments", segments_of}, {"texts", texts_of}, {"places", places_of}, {"families", families_of}};
    PyObject *tables = PyDict_New();
    for (size_t i = 0; i < sizeof(makers) / sizeof(*makers) && tables; i++) {
        Table *table = makers[i].make(lesson);
        if (!table || PyDict_SetItemString(tables, makers[i].name, (PyObject *)table) < 0)
            Py_CLEAR(tables);
        Py_XDECREF((PyObject *)table);
    }
    return tables;
}

/* Let the opinion hold on to its lesson; 0 with an exception set. */
static int learn(const Types *types, const Reading *reading, Opinion *opinion)
{
    size_t most = (reading->segment_count > reading->blocks ? reading->segment_count : reading->blocks) + 1;
    Lesson lesson = {.type = types->table, .reading = reading, .content = opinion->content};
    lesson.items = malloc(2 * most * sizeof(Keyed) + (reading->blocks + 1) * (PLACE_SUMS + 1) * sizeof(uint64_t));
    if (!lesson.items) {
        PyErr_NoMemory();
        return 0;
    }
    lesson.sums = (uint64_t *)(lesson.items + 2 * most);
    lesson.running = (double *)(lesson.sums + (reading->blocks + 1) * PLACE_SUMS);
    opinion->family = lesson.family = reading->blocks ? find_family(&lesson) : 0;
    PyObject *tables = opinion->lesson = tables_of(&lesson);
    free(lesson.items);
    return tables && find_table(types, tables, "segments", 0, &opinion->segments) &&
           find_table(types, tables, "places", PLACE_SUMS, &opinion->places) &&
           find_table(types, tables, "families", 0, &opinion->families);
}

/* The opinion of a network, or where that is NULL of these logits; NULL with an exception set. */
static PyObject *opinion_on(const Types *types, const Reading *reading, const Network *network, const double *logits)
{
    Opinion *opinion = make_owner(types->opinion, columns, &reading->blocks, reading->owner.held);
    if (!opinion)
        return NULL;
    opinion->blocks = reading->blocks;
    int is_done = 1;
    Py_BEGIN_ALLOW_THREADS
    if (!network)
        memcpy(opinion->logits, logits, reading->blocks * sizeof(double));
    else
        is_done = run_network(network, reading->page_features, reading->blocks, opinion->logits);
    for (size_t i = 0; i < reading->blocks && is_done; i++)
        opinion->content[i] = probability_of(opinion->logits[i]);
    Py_END_ALLOW_THREADS
    if (!is_done)
        PyErr_NoMemory();
    if (!is_done || !learn(types, reading, opinion))
        Py_CLEAR(opinion);
    return (PyObject *)opinion;
}

/* A page is learned, asked about and described: its reading keeps what the network said last. */
PyObject *kernel_opinion(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    const Types *types = types_of(module);
    Reading *reading = check_count("opinion", count, 2) ? given_owner(arguments[0], types->reading) : NULL;
    const Network *network = reading ? given_network(types, arguments[1], PAGE_FEATURES, 1) : NULL;
    if (!network)
        return NULL;
    if (reading->network != arguments[1]) {
        PyObject *opinion = opinion_on(types, reading, network, NULL);
        if (!opinion)
            return NULL;
        Py_XDECREF(reading->opinion);
        Py_XDECREF(reading->network);
        reading->opinion = opinion;
        reading->network = Py_NewRef(arguments[1]);
    }
    return Py_NewRef(reading->opinion);
}

PyObject *kernel_opinion_of_logits(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    static const Py_ssize_t size = sizeof(double);
    const Types *types = types_of(module);
    Reading *reading = check_count("opinion_of_logits", count, 2) ? given_owner(arguments[0], types->reading) : NULL;
    PyObject *opinion = NULL;
    View view;
    if (!reading || !open_views(&view, arguments + 1, "d"))
        return NULL;
    if (check_sizes("opinion_of_logits", &view, &size, 1, (Py_ssize_t)reading->blocks))
        opinion = opinion_on(types, reading, NULL, view.buffer.buf);
    close_views(&view, 1);
    return opinion;
}

int given_opinion(const Types *types, PyObject *reading, PyObject *opinion, const Reading **page,
                  Opinion **found)
{
    *page = given_owner(reading, types->reading);
    *found = *page ? given_owner(opinion, types->opinion) : NULL;
    if (*found && (!(*page)->blocks || (*page)->owner.held != (*found)->owner.held)) {
        PyErr_SetString(PyExc_ValueError, "an opinion on another page, or a page without text");
        return 0;
    }
    return *found != NULL;
}

static PyObject *lesson_of(PyObject *self, void *closure)
{
    (void)closure;
    return PyDict_Copy(((Opinion *)self)->lesson); /* Nobody changes the kernel's own. */
}

static void free_opinion(PyObject *self)
{
    Py_XDECREF(((Opinion *)self)->lesson);
    Py_XDECREF(((Opinion *)self)->type_network);
    free_owner(self);
}

static PyGetSetDef attributes[] = {
    OPINION_COLUMNS(COLUMN_ATTRIBUTE)
    {"lesson", lesson_of, NULL, "What the page teaches: tables by name.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, (void *)free_opinion},
    {Py_bf_getbuffer, (void *)view_owner},
    {Py_tp_doc, "What the page network says of each block, and what the page teaches with that."},
    {Py_tp_getset, attributes},
    {0, NULL},
};

PyType_Spec opinion_spec = {"dehusk._kernel.Opinion", sizeof(Opinion), 0, OWNER_FLAGS, slots};
