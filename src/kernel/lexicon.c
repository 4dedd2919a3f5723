/* `Lexicon`: the words that tell something, and what. */

#include "lexicon.h"

#include <stdlib.h>

#include "columns.h"

static uint64_t hash_word(Bytes source, size_t at, size_t stop)
{
    uint64_t sum = stop - at;
    for (; at < stop; at++) {
        uint8_t byte = source.bytes[at];
        sum = (sum ^ (byte >= 'A' && byte <= 'Z' ? byte | 0x20u : byte)) * TEXT_FACTOR;
    }
    return mix(sum) | 1; /* 0 is a slot that is free. */
}

/* The slot of a word, or the one that is free for it. */
static size_t find_slot(const WordList *list, uint64_t key)
{
    size_t slot = (size_t)(key >> 1) & (list->slots - 1);
    while (list->keys[slot] && list->keys[slot] != key)
        slot = (slot + 1) & (list->slots - 1);
    return slot;
}

const float *find_word(const WordList *list, size_t width, Bytes source, size_t at, size_t stop)
{
    size_t slot = find_slot(list, hash_word(source, at, stop));
    return list->keys[slot] ? list->numbers + slot * width : NULL;
}

/* --- what Python sees --- */

/* Fill a list with words that stand behind each other, a line feed behind each, and a row of numbers for each; 0
   with an exception set. */
static int fill_list(WordList *list, size_t width, const View *words, const View *numbers)
{
    Bytes source = bytes_of(words);
    size_t count = 0, row = width * sizeof(float);
    for (size_t at = 0; at < source.size; at++)
        count += source.bytes[at] == '\n';
    if ((size_t)numbers->buffer.len != count * row) {
        PyErr_SetString(PyExc_ValueError, "Lexicon: not as many rows of numbers as words");
        return 0;
    }
    for (list->slots = 2; list->slots < 2 * count + 2;)
        list->slots *= 2;
    list->keys = calloc(list->slots, sizeof(uint64_t) + row);
    if (!list->keys) {
        PyErr_NoMemory();
        return 0;
    }
    list->numbers = (float *)(list->keys + list->slots);
    for (size_t at = 0, word = 0; word < count; word++) {
        size_t stop = find_byte(source, '\n', at, source.size);
        uint64_t key = hash_word(source, at, stop);
        size_t slot = find_slot(list, key);
        list->keys[slot] = key;
        memcpy(list->numbers + slot * width, (const float *)numbers->buffer.buf + word * width, row);
        at = stop + 1;
    }
    return 1;
}

enum { NAMES, NAME_ROWS, TEXTS, TEXT_ROWS, ARRAYS };

static PyObject *new_lexicon(PyTypeObject *type, PyObject *arguments, PyObject *named)
{
    static char *names[] = {"names", "name_numbers", "texts", "text_numbers", NULL};
    PyObject *objects[ARRAYS];
    View views[ARRAYS];
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "OOOO:Lexicon", names, &objects[NAMES], &objects[NAME_ROWS],
                                     &objects[TEXTS], &objects[TEXT_ROWS]) ||
        !open_views(views, objects, "BfBf"))
        return NULL;
    Lexicon *lexicon = (Lexicon *)PyType_GenericAlloc(type, 0);
    if (lexicon && !(fill_list(&lexicon->names, NAME_NUMBERS, &views[NAMES], &views[NAME_ROWS]) &&
                     fill_list(&lexicon->texts, TEXT_NUMBERS, &views[TEXTS], &views[TEXT_ROWS])))
        Py_CLEAR(lexicon);
    close_views(views, ARRAYS);
    return (PyObject *)lexicon;
}

static void free_lexicon(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    free(((Lexicon *)self)->names.keys);
    free(((Lexicon *)self)->texts.keys);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)new_lexicon},
    {Py_tp_dealloc, (void *)free_lexicon},
    {Py_tp_doc, "What words in names and in short texts tell."},
    {0, NULL},
};

PyType_Spec lexicon_spec = {"dehusk._kernel.Lexicon", sizeof(Lexicon), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, slots};
