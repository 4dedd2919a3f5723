/* `lesson` and `look`: what one page teaches, as sorted keys, and what the page network says of it.
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

/* Write keys of segments, of texts, of places, and the sums of places; count them. */
static void write_lesson(const Given *given, Room *room, uint64_t *to, size_t counts[3])
{
    sort_keys(given->keys, given->segments, room);
    counts[0] = put_unique(room, given->segments, to);
    memset(room->distinct, 0, given->blocks * sizeof(double));
    for (size_t i = 0; i < given->segments; i++)
        if (!is_repeat(room->items, i))
            room->distinct[given->owner[room->items[i].place]] += 1;
    sort_keys(given->texts, given->segments, room);
    counts[1] = put_unique(room, given->segments, to + counts[0]);
    sort_keys(given->places, given->blocks, room);
    uint64_t *places = to + counts[0] + counts[1];
    counts[2] = put_unique(room, given->blocks, places);
    uint64_t *sums = places + counts[2];
    memset(sums, 0, counts[2] * SUMS * sizeof(uint64_t));
    size_t row = 0;
    for (size_t i = 0; i < given->blocks; i++) {
        row += i && !is_repeat(room->items, i);
        add_sums(given, room, (size_t)room->items[i].place, sums + row * SUMS);
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

static size_t words_of(const Given *given)
{
    return 2 * given->segments + (1 + SUMS) * given->blocks + 1; /* The family is last. */
}

/* The lesson into `to`, and how many keys of each kind there are; 0 without memory. */
static int find_lesson(const Given *given, uint64_t *to, size_t counts[3])
{
    size_t most = given->segments > given->blocks ? given->segments : given->blocks;
    Room room = {malloc((most + 1) * 2 * sizeof(Keyed) + (given->blocks + 1) * sizeof(double)), NULL,
                 NULL};
    if (!room.items)
        return 0;
    room.spare = room.items + most + 1;
    room.distinct = (double *)(room.spare + most + 1);
    write_lesson(given, &room, to, counts);
    to[words_of(given) - 1] = given->blocks ? family_of(given, room.distinct) : 0;
    free(room.items);
    return 1;
}

/* What the page network says, if there is one, and the lesson behind it. */
static PyObject *lesson_of(Given *given, const Network *network, const float *looks)
{
    size_t numbers = network ? 2 * given->blocks : 0, counts[3];
    Py_ssize_t size = (Py_ssize_t)((numbers + words_of(given)) * 8);
    PyObject *memory = PyByteArray_FromStringAndSize(NULL, size);
    if (!memory)
        return NULL;
    double *logits = (double *)PyByteArray_AsString(memory), *verdict = logits + given->blocks;
    int is_done = !network || run_network(network, looks, given->blocks, logits);
    for (size_t i = 0; i < given->blocks && network && is_done; i++)
        verdict[i] = probability_of(logits[i]);
    if (network)
        given->verdict = verdict;
    if (is_done && find_lesson(given, (uint64_t *)logits + numbers, counts))
        return Py_BuildValue("(Nnnn)", memory, (Py_ssize_t)counts[0], (Py_ssize_t)counts[1],
                             (Py_ssize_t)counts[2]);
    Py_DECREF(memory);
    return PyErr_NoMemory();
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
        lesson = lesson_of(&given, NULL, NULL);
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
            lesson = lesson_of(&given, &network, views[GIVEN].buffer.buf);
    }
    close_views(views, ALL);
    return lesson;
}
