/* `opinion`: what the page network says of each block, and the lesson, what the page teaches.

   Five tables: `segments`, a text at its place; `texts`, a text anywhere, to which `auto` adds images; `places`, with sums
   of what stood there; `families`, where the content of the page stood; `contents`, a sketch of what the page seems to
   say, by which copies are found. But for that of copies, the order of the pages does not matter: all add up. */

#include "opinion.h"

#include <math.h>
#include <stdlib.h>

#include "sketch.h"

#define UNIT 1000.0 /* Probabilities are summed in thousandths. */
#define MOST 0.7    /* The share of a page's content that the element naming its family holds at least. */
#define OWNER Opinion

static const Column columns[] = {OPINION_COLUMNS(COLUMN_ENTRY) NO_COLUMN};

enum { SEGMENTS, TEXTS, PLACES, FAMILIES, CONTENTS, TABLES };

typedef struct {
    const Reading *reading;
    const double *content;
    Keyed *items;    /* Room for twice the segments, or blocks, and the sketch. */
    uint64_t *sums;  /* Rows of `PLACE_SUMS`, one for each block. */
    double *running; /* One more than blocks. */
} Lesson;

static int fill(Table *table, const Lesson *lesson, const uint64_t *keys, size_t count, const uint64_t *sums)
{
    PageKeys page = {.keys = keys, .sums = sums, .count = count, .width = sums ? PLACE_SUMS : 0, .number = 1};
    return fill_of_page(table, &page, lesson->items);
}

/* Of each block it notes how many segments stand nowhere before it. */
static int fill_segments(Table *table, const Lesson *lesson)
{
    const Reading *reading = lesson->reading;
    if (!fill(table, lesson, reading->keys, reading->segment_count, NULL))
        return 0;
    memset(lesson->sums, 0, reading->blocks * PLACE_SUMS * sizeof(uint64_t));
    for (size_t i = 0; i < reading->segment_count; i++)
        if (!is_repeat(lesson->items, i))
            lesson->sums[(size_t)reading->owners[lesson->items[i].place] * PLACE_SUMS + SUM_SEGMENTS] += 1;
    return 1;
}

/* After `fill_segments`. */
static int fill_places(Table *table, const Lesson *lesson)
{
    const Reading *reading = lesson->reading;
    for (size_t i = 0; i < reading->blocks; i++) {
        double weight = sqrt(reading->chars[i]);
        uint64_t *sums = lesson->sums + i * PLACE_SUMS;
        sums[SUM_CHARS] = (uint64_t)reading->chars[i];
        sums[SUM_CONTENT] = (uint64_t)rint(UNIT * weight * lesson->content[i]);
        sums[SUM_WEIGHT] = (uint64_t)rint(UNIT * weight);
    }
    return fill(table, lesson, reading->places, reading->blocks, lesson->sums);
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

/* Fill the tables; 0 without memory. The family depends on the page alone, so that the families of two memories
   add up. */
static int learn(const Reading *reading, Opinion *opinion, Table *const *tables)
{
    size_t most = (reading->segment_count > reading->blocks ? reading->segment_count : reading->blocks) + SKETCH_SIZE;
    uint64_t contents[SKETCH_SIZE];
    Lesson lesson = {.reading = reading, .content = opinion->content};
    lesson.items = malloc(2 * most * sizeof(Keyed) + (reading->blocks + 1) * (PLACE_SUMS + 1) * sizeof(uint64_t));
    if (!lesson.items)
        return 0;
    lesson.sums = (uint64_t *)(lesson.items + 2 * most);
    lesson.running = (double *)(lesson.sums + (reading->blocks + 1) * PLACE_SUMS);
    opinion->family = reading->blocks ? find_family(&lesson) : 0;
    int is_done = fill_segments(tables[SEGMENTS], &lesson) &&
                  fill(tables[TEXTS], &lesson, reading->texts, reading->segment_count, NULL) &&
                  fill_places(tables[PLACES], &lesson) &&
                  fill(tables[FAMILIES], &lesson, reading->surroundings + opinion->family, reading->blocks > 0, NULL) &&
                  fill(tables[CONTENTS], &lesson, contents, sketch_content(reading, opinion->content, contents), NULL);
    free(lesson.items);
    return is_done;
}

/* Let the opinion hold on to new tables; 0 with an exception set. */
static int make_tables(const Types *types, Opinion *opinion, Table **tables)
{
    static const char *const names[TABLES] = {"segments", "texts", "places", "families", "contents"};
    opinion->lesson = PyDict_New();
    for (size_t i = 0; i < TABLES && opinion->lesson; i++) {
        tables[i] = empty_table(types->table);
        if (!tables[i] || PyDict_SetItemString(opinion->lesson, names[i], (PyObject *)tables[i]) < 0)
            Py_CLEAR(opinion->lesson);
        Py_XDECREF((PyObject *)tables[i]);
    }
    return opinion->lesson != NULL;
}

/* What the network says, or where that is NULL these logits, and what the page teaches; 0 without memory. */
static int fill_opinion(const Reading *reading, const Network *network, const double *logits, Opinion *opinion,
                        Table *const *tables)
{
    if (!network)
        memcpy(opinion->logits, logits, reading->blocks * sizeof(double));
    else if (!run_network(network, reading->page_features, reading->blocks, opinion->logits))
        return 0;
    for (size_t i = 0; i < reading->blocks; i++)
        opinion->content[i] = probability_of(opinion->logits[i]);
    return learn(reading, opinion, tables);
}

/* The opinion of a network, or where that is NULL of these logits; NULL with an exception set. */
static PyObject *opinion_on(const Types *types, const Reading *reading, const Network *network, const double *logits)
{
    Opinion *opinion = make_owner(types->opinion, columns, &reading->blocks, reading->owner.held);
    Table *tables[TABLES];
    if (!opinion || !make_tables(types, opinion, tables)) {
        Py_XDECREF((PyObject *)opinion);
        return NULL;
    }
    opinion->blocks = reading->blocks;
    int is_done;
    Py_BEGIN_ALLOW_THREADS
    is_done = fill_opinion(reading, network, logits, opinion, tables);
    Py_END_ALLOW_THREADS
    if (!is_done) {
        Py_DECREF((PyObject *)opinion);
        return PyErr_NoMemory();
    }
    opinion->segments = tables[SEGMENTS]->rows ? tables[SEGMENTS] : NULL;
    opinion->places = tables[PLACES]->rows ? tables[PLACES] : NULL;
    opinion->families = tables[FAMILIES]->rows ? tables[FAMILIES] : NULL;
    opinion->contents = tables[CONTENTS];
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
    PyObject *opinion = NULL, *before[2];
    BEGIN_ALONE(reading)
    if (reading->network == arguments[1])
        opinion = Py_NewRef(reading->opinion);
    END_ALONE
    if (opinion || !(opinion = opinion_on(types, reading, network, NULL)))
        return opinion;
    BEGIN_ALONE(reading) /* Another thread may have come first: then both have equal ones. */
    before[0] = reading->network;
    before[1] = reading->opinion;
    reading->network = Py_NewRef(arguments[1]);
    reading->opinion = Py_NewRef(opinion);
    END_ALONE
    Py_XDECREF(before[0]);
    Py_XDECREF(before[1]);
    return opinion;
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
