/* `read`: a page as `auto` reads it, all arrays in one piece of memory. The twin of
   `dehusk.methods.auto.reading.read`. */

#include "kernel.h"

#include <stdlib.h>

#include "reading.h"

#define PLACE_BITS 40
#define CLASSES_ABOVE 4 /* Elements whose classes make a place. */

/* The tree and the tables as they are handed in, in this order. */
enum {
    SOURCE, PARENT, END, DEPTH, START, STOP_, TEXT_LENGTH, LINK_LENGTH, TAG, SHOWN, RAW, OWN_HASH,
    PATH_HASH, CUTS, HOLDS, OWN_COLUMN, TAG_BITS, BYTE_KINDS_, SIGNATURES, ENDS, WORDS_LOW,
    WORDS_HIGH, WORDS_BITS, GIVEN,
};

static PageTree page_in(const View *views)
{
    return (PageTree){
        .source = bytes_of(&views[SOURCE]),
        .parent = views[PARENT].buffer.buf,
        .end = views[END].buffer.buf,
        .depth = views[DEPTH].buffer.buf,
        .start = views[START].buffer.buf,
        .stop = views[STOP_].buffer.buf,
        .text_length = views[TEXT_LENGTH].buffer.buf,
        .link_length = views[LINK_LENGTH].buffer.buf,
        .tag = views[TAG].buffer.buf,
        .shown = views[SHOWN].buffer.buf,
        .raw = views[RAW].buffer.buf,
        .own_hash = views[OWN_HASH].buffer.buf,
        .path_hash = views[PATH_HASH].buffer.buf,
        .count = (size_t)views[SHOWN].buffer.len,
    };
}

static LookTables tables_in(const View *views, const long *tags)
{
    return (LookTables){
        .cuts = views[CUTS].buffer.buf,
        .holds = views[HOLDS].buffer.buf,
        .own_column = views[OWN_COLUMN].buffer.buf,
        .tag_bits = views[TAG_BITS].buffer.buf,
        .tags = (size_t)views[CUTS].buffer.len,
        .byte_kinds = views[BYTE_KINDS_].buffer.buf,
        .signatures = views[SIGNATURES].buffer.buf,
        .ends = views[ENDS].buffer.buf,
        .end_count = (size_t)views[ENDS].buffer.len / 8,
        .heading = (int16_t)tags[0],
        .title = (int16_t)tags[1],
        .head = (int16_t)tags[2],
    };
}

/* Do all arrays fit together, and all nodes into the tree and the source? 0 with an exception. */
static int fits(const View *views, const PageTree *page)
{
    static const Py_ssize_t node[] = {4, 4, 4, 4, 4, 4, 4, 2, 1, 1, 8, 8}, tag[] = {1, 1, 1, 4};
    static const Py_ssize_t byte[] = {1, 8}, word[] = {8, 8, 4};
    Py_ssize_t slots = views[WORDS_BITS].buffer.len / 4;
    if (!check_sizes("read", views + PARENT, node, 12, views[SHOWN].buffer.len) ||
        !check_sizes("read", views + CUTS, tag, 4, views[CUTS].buffer.len) ||
        !check_sizes("read", views + BYTE_KINDS_, byte, 2, 256) ||
        !check_sizes("read", views + WORDS_LOW, word, 3, slots))
        return 0;
    if (slots < 1 || (slots & (slots - 1))) {
        PyErr_SetString(PyExc_ValueError, "read: the slots of words are no power of two");
        return 0;
    }
    for (size_t i = 0; i < page->count; i++)
        if (page->parent[i] >= (int32_t)i || page->parent[i] < (i ? 0 : -1) ||
            page->end[i] <= (int32_t)i || (size_t)page->end[i] > page->count ||
            page->start[i] < 0 || page->stop[i] < page->start[i] ||
            (size_t)page->stop[i] > page->source.size) {
            PyErr_SetString(PyExc_ValueError, "read: a node lies outside of the tree or the source");
            return 0;
        }
    return 1;
}

/* --- memory --- */

/* Room for what is cut out of a page with so many texts, and for its names; NULL without memory. */
static void *make_room(PageTree *page, size_t texts, Blocks *blocks, uint8_t **ended,
                       int32_t **holder)
{
    size_t of_block = sizeof(Letters) + 6 * sizeof(double) + (4 + 3 * LEVELS) * sizeof(int32_t);
    size_t of_node = sizeof(uint64_t) + 3 * sizeof(int32_t) + 1;
    char *memory = malloc((texts + 2) * of_block + (page->count + 2) * of_node);
    if (!memory)
        return NULL;
    size_t room = texts + 2, nodes = page->count + 2;
    page->look = (uint64_t *)memory;
    blocks->letters = (Letters *)(page->look + nodes);
    blocks->chars = (double *)(blocks->letters + room);
    blocks->link_chars = blocks->chars + room;
    blocks->running = blocks->link_chars + room;
    blocks->chars_sum = blocks->running + room;
    blocks->link_sum = blocks->chars_sum + room;
    blocks->running_sum = blocks->link_sum + room;
    blocks->segments = (int32_t *)(blocks->running_sum + room);
    blocks->owner = blocks->segments + room;
    blocks->first = blocks->owner + room;
    blocks->container = blocks->first + room;
    blocks->levels = blocks->container + room;
    blocks->low = blocks->levels + LEVELS * room;
    blocks->high = blocks->low + LEVELS * room;
    blocks->before = blocks->high + LEVELS * room;
    *holder = blocks->before + nodes;
    page->kinds = (uint32_t *)(*holder + nodes);
    *ended = (uint8_t *)(page->kinds + nodes);
    memset(page->look, 0, nodes * sizeof(uint64_t));
    memset(page->kinds, 0, nodes * sizeof(uint32_t));
    return memory;
}

static size_t count_texts(const PageTree *page)
{
    size_t texts = 0;
    for (size_t i = 0; i < page->count; i++)
        texts += page->tag[i] == 0 && page->shown[i] && page->text_length[i] > 0;
    return texts;
}

/* --- keys --- */

/* The path of a node and the classes of the nearest elements, itself included. */
static uint64_t place_of(const PageTree *page, int32_t node)
{
    uint64_t place = page->path_hash[node];
    for (uint64_t level = 1; level <= CLASSES_ABOVE; level++) {
        place += mix(page->look[node] + level);
        node = page->parent[node] < 0 ? 0 : page->parent[node];
    }
    return mix(place);
}

/* The arrays of 8 bytes an item, one behind another; what comes next begins where they stop. */
static char *write_keys(const PageTree *page, const Blocks *blocks, char *memory)
{
    size_t count = blocks->count, segments = blocks->segment_count;
    uint64_t *places = (uint64_t *)memory, *surroundings = places + count;
    uint64_t *keys = surroundings + LEVELS * count, *texts = keys + segments;
    double *chars = (double *)(texts + segments), *link_chars = chars + count;
    double *lengths = link_chars + count;
    for (size_t i = 0; i < LEVELS * count; i++)
        surroundings[i] = is_shared(blocks, i / LEVELS, i % LEVELS)
                              ? surroundings[i - LEVELS]
                              : place_of(page, blocks->levels[i]);
    for (size_t i = 0; i < count; i++)
        places[i] = surroundings[i * LEVELS]; /* The container is what stands nearest around it. */
    for (size_t i = 0; i < segments; i++) {
        uint64_t place = places[blocks->owner[i]];
        texts[i] = mix(page->own_hash[blocks->segments[i]]);
        keys[i] = place >> PLACE_BITS << PLACE_BITS | texts[i] >> (64 - PLACE_BITS);
        lengths[i] = page->text_length[blocks->segments[i]];
    }
    memcpy(chars, blocks->chars, count * sizeof(double));
    memcpy(link_chars, blocks->link_chars, count * sizeof(double));
    return (char *)(lengths + segments);
}

static char *put(char *to, const int32_t *from, size_t count)
{
    memcpy(to, from, count * sizeof(int32_t));
    return to + count * sizeof(int32_t);
}

static PyObject *write_reading(const PageTree *page, const LookTables *tables,
                               const Blocks *blocks)
{
    size_t count = blocks->count, segments = blocks->segment_count;
    size_t size = (3 + LEVELS) * 8 * count + 3 * 8 * segments + 4 * LOOKS * count +
                  4 * (2 * segments + (2 + 3 * LEVELS) * count);
    PyObject *memory = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (!memory)
        return NULL;
    float *looks = (float *)write_keys(page, blocks, PyByteArray_AsString(memory));
    if (!fill_looks(page, tables, blocks, looks)) {
        Py_DECREF(memory);
        return PyErr_NoMemory();
    }
    if (!fill_title(page, tables, blocks, looks)) {
        Py_DECREF(memory);
        return NULL;
    }
    char *to = (char *)(looks + LOOKS * count);
    to = put(to, blocks->segments, segments);
    to = put(to, blocks->owner, segments);
    to = put(to, blocks->first, count);
    to = put(to, blocks->container, count);
    to = put(to, blocks->levels, LEVELS * count);
    to = put(to, blocks->low, LEVELS * count);
    put(to, blocks->high, LEVELS * count);
    return Py_BuildValue("(Nnn)", memory, (Py_ssize_t)count, (Py_ssize_t)segments);
}

static PyObject *read_page(PageTree *page, const LookTables *tables, const Words *words)
{
    Blocks blocks;
    uint8_t *ended;
    int32_t *holder;
    void *room = make_room(page, count_texts(page), &blocks, &ended, &holder);
    if (!room)
        return PyErr_NoMemory();
    read_names(page, words);
    cut_blocks(page, tables, &blocks, ended, holder);
    read_letters(page, tables, &blocks);
    sum_blocks(&blocks);
    PyObject *reading = write_reading(page, tables, &blocks);
    free(room);
    return reading;
}

PyObject *kernel_read(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    View views[GIVEN];
    long width, tags[3];
    if (count < 4 && !check_count("read", count, 4))
        return NULL;
    width = PyLong_AsLong(arguments[0]);
    for (size_t i = 0; i < 3; i++)
        tags[i] = PyLong_AsLong(arguments[1 + i]);
    if (PyErr_Occurred() || !open_all("read", views, GIVEN, arguments + 4, count - 4))
        return NULL;
    PyObject *reading = NULL;
    PageTree page = page_in(views);
    if (width != LOOKS)
        PyErr_Format(PyExc_ValueError, "read: the looks have %d columns here", LOOKS);
    else if (fits(views, &page)) {
        LookTables tables = tables_in(views, tags);
        Words words = {views[WORDS_LOW].buffer.buf, views[WORDS_HIGH].buffer.buf,
                       views[WORDS_BITS].buffer.buf,
                       (size_t)views[WORDS_BITS].buffer.len / 4 - 1};
        reading = read_page(&page, &tables, &words);
    }
    close_views(views, GIVEN);
    return reading;
}
