/* `lesson` and `look`: what one page teaches, as tables, and what the page network says of it.
   The twins are `dehusk.methods.auto.evidence.lesson` and `judge.page_look`. */

#include "kernel.h"

#include <math.h>
#include <stdlib.h>

#include "network.h"
#include "reading.h"

#define SUMS 4      /* Columns of sums: segments, characters, verdicts by weight, the weight. */
#define UNIT 1000.0 /* Verdicts are summed in thousandths. */

#define MOST 0.7    /* The share of a page's content that names its family: `families.MOST`. */

typedef struct {
    const uint64_t *keys, *texts, *places, *surroundings;
    const int32_t *owner, *low, *high;
    const double *chars, *verdict;
    size_t segments, blocks;
} Given;

typedef struct {
    Keyed *items, *spare;
    double *distinct; /* Of each block, the segments that stand nowhere before it. */
} Room;

/* Sorted keys, each once, and the sums of places. */
typedef struct {
    uint64_t *segments, *texts, *places, *sums, family;
    size_t segment_count, text_count, place_count, family_count;
} Lesson;

static void sort_keys(const uint64_t *keys, size_t count, Room *room)
{
    for (size_t i = 0; i < count; i++)
        room->items[i] = (Keyed){keys[i], (int32_t)i};
    sort_keyed(room->items, room->spare, count);
}

static int is_repeat(const Keyed *items, size_t place)
{
    return place && items[place].key == items[place - 1].key;
}

/* The sorted keys, each once; how many there are. */
static size_t put_unique(const Room *room, size_t count, uint64_t *to)
{
    size_t unique = 0;
    for (size_t i = 0; i < count; i++)
        if (!is_repeat(room->items, i))
            to[unique++] = room->items[i].key;
    return unique;
}

static void add_sums(const Given *given, const Room *room, size_t block, uint64_t *sums)
{
    double weight = sqrt(given->chars[block]);
    sums[0] += (uint64_t)room->distinct[block];
    sums[1] += (uint64_t)given->chars[block];
    sums[2] += (uint64_t)rint(UNIT * weight * given->verdict[block]);
    sums[3] += (uint64_t)rint(UNIT * weight);
}

static void fill_lesson(const Given *given, Room *room, Lesson *lesson)
{
    sort_keys(given->keys, given->segments, room);
    lesson->segment_count = put_unique(room, given->segments, lesson->segments);
    memset(room->distinct, 0, given->blocks * sizeof(double));
    for (size_t i = 0; i < given->segments; i++)
        if (!is_repeat(room->items, i))
            room->distinct[given->owner[room->items[i].place]] += 1;
    sort_keys(given->texts, given->segments, room);
    lesson->text_count = put_unique(room, given->segments, lesson->texts);
    sort_keys(given->places, given->blocks, room);
    lesson->place_count = put_unique(room, given->blocks, lesson->places);
    memset(lesson->sums, 0, lesson->place_count * SUMS * sizeof(uint64_t));
    size_t row = 0;
    for (size_t i = 0; i < given->blocks; i++) {
        row += i && !is_repeat(room->items, i);
        add_sums(given, room, (size_t)room->items[i].place, lesson->sums + row * SUMS);
    }
}

/* The place of the smallest element around the main block that holds most content; `sums` has room
   for one more than blocks, of which there is at least one. */
static uint64_t family_of(const Given *given, double *sums)
{
    size_t main = 0, level = 0;
    double highest = -1;
    sums[0] = 0;
    for (size_t i = 0; i < given->blocks; i++) {
        double content = given->verdict[i] * given->chars[i];
        sums[i + 1] = sums[i] + content;
        if (content > highest) {
            highest = content;
            main = i;
        }
    }
    for (; level < LEVELS - 1; level++) {
        size_t at = main * LEVELS + level;
        if (sums[given->high[at]] - sums[given->low[at]] >= MOST * sums[given->blocks])
            break;
    }
    return given->surroundings[main * LEVELS + level];
}

/* --- memory --- */

/* A table of one page: keys, sums, and ones for counts and last pages. Where the next one begins. */
static char *put_table(char *to, const uint64_t *keys, const uint64_t *sums, size_t count)
{
    memcpy(to, keys, count * sizeof(uint64_t));
    to += count * sizeof(uint64_t);
    if (sums) {
        memcpy(to, sums, count * SUMS * sizeof(uint64_t));
        to += count * SUMS * sizeof(uint64_t);
    }
    for (size_t i = 0; i < 2 * count; i++, to += sizeof(uint32_t))
        memcpy(to, &(uint32_t){1}, sizeof(uint32_t));
    return to;
}

/* The tables as `taught.TABLES` has them, and their rows; NULL with an exception set. */
static PyObject *tables_of(const Lesson *lesson)
{
    size_t rows = lesson->family_count + lesson->place_count + lesson->segment_count +
                  lesson->text_count;
    size_t size = 16 * rows + 8 * SUMS * lesson->place_count;
    PyObject *memory = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (!memory)
        return NULL;
    char *to = put_table(PyByteArray_AsString(memory), &lesson->family, NULL, lesson->family_count);
    to = put_table(to, lesson->places, lesson->sums, lesson->place_count);
    to = put_table(to, lesson->segments, NULL, lesson->segment_count);
    put_table(to, lesson->texts, NULL, lesson->text_count);
    return Py_BuildValue("(N(nnnn))", memory, (Py_ssize_t)lesson->family_count,
                         (Py_ssize_t)lesson->place_count, (Py_ssize_t)lesson->segment_count,
                         (Py_ssize_t)lesson->text_count);
}

static PyObject *lesson_of(const Given *given)
{
    size_t segments = given->segments + 1, blocks = given->blocks + 1;
    size_t most = segments > blocks ? segments : blocks;
    Keyed *items = malloc(2 * most * sizeof(Keyed) + blocks * sizeof(double) +
                          (2 * segments + (1 + SUMS) * blocks) * sizeof(uint64_t));
    if (!items)
        return PyErr_NoMemory();
    Room room = {items, items + most, (double *)(items + 2 * most)};
    Lesson lesson = {.segments = (uint64_t *)(room.distinct + blocks)};
    lesson.texts = lesson.segments + segments;
    lesson.places = lesson.texts + segments;
    lesson.sums = lesson.places + blocks;
    fill_lesson(given, &room, &lesson);
    lesson.family_count = given->blocks > 0;
    lesson.family = given->blocks ? family_of(given, room.distinct) : 0;
    PyObject *tables = tables_of(&lesson);
    free(items);
    return tables;
}

/* What the page network says, and the lesson. */
static PyObject *look_of(Given *given, const Network *network, const float *looks)
{
    PyObject *memory = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(16 * given->blocks));
    if (!memory)
        return NULL;
    double *logits = (double *)PyByteArray_AsString(memory), *verdict = logits + given->blocks;
    if (!run_network(network, looks, given->blocks, logits)) {
        Py_DECREF(memory);
        return PyErr_NoMemory();
    }
    for (size_t i = 0; i < given->blocks; i++)
        verdict[i] = probability_of(logits[i]);
    given->verdict = verdict;
    return Py_BuildValue("(NN)", memory, lesson_of(given));
}

#define GIVEN 8

/* The arrays in their order, but for the verdicts; 0 with an exception set if they do not fit. */
static int given_in(const char *function, const View *views, Given *given)
{
    static const Py_ssize_t of_segment[] = {8, 8, 4};
    static const Py_ssize_t of_block[] = {8, 8, 8 * LEVELS, 4 * LEVELS, 4 * LEVELS};
    Py_ssize_t segments = views[2].buffer.len / 4, blocks = views[4].buffer.len / 8;
    *given = (Given){
        .keys = views[0].buffer.buf, .texts = views[1].buffer.buf, .owner = views[2].buffer.buf,
        .places = views[3].buffer.buf, .chars = views[4].buffer.buf,
        .surroundings = views[5].buffer.buf, .low = views[6].buffer.buf,
        .high = views[7].buffer.buf, .segments = (size_t)segments, .blocks = (size_t)blocks,
    };
    return check_sizes(function, views, of_segment, 3, segments) &&
           check_sizes(function, views + 3, of_block, 5, blocks) &&
           check_below(function, given->owner, given->segments, given->blocks) &&
           check_below(function, given->low, given->blocks * LEVELS, given->blocks + 1) &&
           check_below(function, given->high, given->blocks * LEVELS, given->blocks + 1);
}

PyObject *kernel_lesson(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    static const Py_ssize_t width = 8;
    View views[GIVEN + 1];
    if (!open_all("lesson", views, GIVEN + 1, arguments, count))
        return NULL;
    Given given;
    PyObject *lesson = NULL;
    if (given_in("lesson", views, &given) &&
        check_sizes("lesson", views + GIVEN, &width, 1, (Py_ssize_t)given.blocks)) {
        given.verdict = views[GIVEN].buffer.buf;
        lesson = lesson_of(&given);
    }
    close_views(views, GIVEN + 1);
    return lesson;
}

PyObject *kernel_look(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    enum { ALL = GIVEN + 1 + NETWORK_VIEWS };
    View views[ALL];
    if (!open_all("look", views, ALL, arguments, count))
        return NULL;
    Given given;
    Network network;
    PyObject *lesson = NULL;
    if (given_in("look", views, &given) && network_in("look", views + GIVEN + 1, &network)) {
        const Py_ssize_t width = 4 * (Py_ssize_t)network.inputs;
        if (network.outputs != 1)
            PyErr_SetString(PyExc_ValueError, "look: a network with several outputs");
        else if (check_sizes("look", views + GIVEN, &width, 1, (Py_ssize_t)given.blocks))
            lesson = look_of(&given, &network, views[GIVEN].buffer.buf);
    }
    close_views(views, ALL);
    return lesson;
}
