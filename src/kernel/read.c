/* `read`: a page as `auto` reads it, and its keys in the memory. */

#include "reading.h"

#include <stdlib.h>

#define CLASSES_ABOVE 4 /* Elements whose classes make a place: one class on <body> that differs from page to
                           page would else make every place of a page unknown. */

#define OWNER Reading

static const Column columns[] = {READING_COLUMNS(COLUMN_ENTRY) NO_COLUMN};

/* The path of a node and the classes of the nearest elements, itself included. */
static uint64_t place_of(const Tree *tree, const Names *names, int32_t node)
{
    uint64_t place = tree->path_hash[node];
    for (uint64_t level = 1; level <= CLASSES_ABOVE; level++, node = parent_of(tree, node))
        place += mix(names->classes[node] + level);
    return mix(place);
}

static void fill_keys(const Reading *reading, const Names *names)
{
    for (size_t i = 0; i < LEVELS * reading->blocks; i++)
        reading->surroundings[i] = is_shared(reading, i / LEVELS, i % LEVELS)
                                       ? reading->surroundings[i - LEVELS]
                                       : place_of(reading->tree, names, reading->levels[i]);
    for (size_t i = 0; i < reading->blocks; i++)
        reading->places[i] = reading->surroundings[i * LEVELS]; /* Nearest around it is the container. */
    for (size_t i = 0; i < reading->segment_count; i++) {
        uint64_t place = reading->places[reading->owners[i]];
        reading->texts[i] = mix(reading->tree->own_hash[reading->segments[i]]);
        reading->keys[i] = place >> PLACE_BITS << PLACE_BITS | reading->texts[i] >> (64 - PLACE_BITS);
    }
}

/* Room for what is noted of blocks; 0 without memory. To be freed at `letters`. */
static int make_sums(Notes *notes, size_t blocks)
{
    size_t room = blocks + 1;
    notes->letters = malloc(room * (sizeof(Letters) + 4 * sizeof(double)));
    if (!notes->letters)
        return 0;
    notes->sums.running = (double *)(notes->letters + room);
    notes->sums.chars = notes->sums.running + room;
    notes->sums.link_chars = notes->sums.chars + room;
    notes->sums.running_chars = notes->sums.link_chars + room;
    return 1;
}

/* Fill the reading, but for what the title tells; 0 without memory. */
static int fill_reading(Reading *reading, Notes *notes, const Lexicon *lexicon, const uint8_t *is_begun,
                        const int32_t *holder)
{
    if (!make_sums(notes, reading->blocks))
        return 0;
    cut_blocks(reading, is_begun, holder, notes->before);
    read_letters(reading, notes->letters);
    sum_blocks(reading, &notes->sums);
    fill_keys(reading, &notes->names);
    int is_done = fill_features(reading, notes);
    fill_texts(reading, &lexicon->texts);
    return is_done;
}

/* Read the tree; 0 without memory. */
static int read_blocks(Reading *reading, Notes *notes, const Lexicon *lexicon, uint8_t *is_begun, int32_t *holder)
{
    size_t counts[2];
    read_names(reading->tree, &lexicon->names, &notes->names);
    find_cuts(reading->tree, is_begun, holder, counts);
    reading->blocks = counts[0];
    reading->segment_count = counts[1];
    return lay_out(reading, counts) && fill_reading(reading, notes, lexicon, is_begun, holder);
}

static PyObject *read_tree(const Types *types, const Tree *tree, PyObject *held, const Lexicon *lexicon)
{
    size_t nodes = tree->count + 1;
    uint64_t *classes = calloc(nodes, sizeof(uint64_t) + (NAME_NUMBERS + 2) * sizeof(int32_t) + 2);
    if (!classes)
        return PyErr_NoMemory();
    Notes notes = {.names = {.classes = classes, .told = (float *)(classes + nodes)}};
    notes.before = (int32_t *)(notes.names.told + NAME_NUMBERS * nodes);
    int32_t *holder = notes.before + nodes;
    uint8_t *is_begun = (uint8_t *)(holder + nodes);
    notes.names.hidden = is_begun + nodes;
    Reading *reading = new_owner(types->reading, columns, held);
    if (reading) {
        int is_done;
        reading->tree = tree;
        Py_BEGIN_ALLOW_THREADS
        is_done = read_blocks(reading, &notes, lexicon, is_begun, holder);
        Py_END_ALLOW_THREADS
        if (!is_done)
            PyErr_NoMemory();
        if (!is_done || !fill_title(reading, &notes.sums))
            Py_CLEAR(reading);
        free(notes.letters);
    }
    free(classes);
    return (PyObject *)reading;
}

PyObject *kernel_read(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    const Types *types = types_of(module);
    const Tree *tree = check_count("read", count, 2) ? given_tree(module, arguments[0]) : NULL;
    const Lexicon *lexicon = tree ? given_owner(arguments[1], types->lexicon) : NULL;
    return lexicon ? read_tree(types, tree, arguments[0], lexicon) : NULL;
}

static Py_ssize_t count_blocks(PyObject *self)
{
    return (Py_ssize_t)((Reading *)self)->blocks;
}

static void free_reading(PyObject *self)
{
    Py_XDECREF(((Reading *)self)->network);
    Py_XDECREF(((Reading *)self)->opinion);
    free_owner(self);
}

static PyGetSetDef attributes[] = {READING_COLUMNS(COLUMN_ATTRIBUTE) {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, (void *)free_reading},
    {Py_bf_getbuffer, (void *)view_owner},
    {Py_tp_doc, "A page as `auto` reads it, as arrays over its blocks and segments."},
    {Py_tp_getset, attributes},
    {Py_sq_length, (void *)count_blocks},
    {0, NULL},
};

PyType_Spec reading_spec = {"dehusk._kernel.Reading", sizeof(Reading), 0, OWNER_FLAGS, slots};
