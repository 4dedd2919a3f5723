/* Whether blocks begin with a part of `<title>`, and headings with another text. */

#include "reading.h"

#include <stdlib.h>

#include "escapes.h"
#include "tags.h"

#define MAX_TEXT 1000 /* A title is not looked at further either. */
enum { NOT_IN_TITLE, IN_TITLE, NOT_PLAIN };

static int is_gap(uint8_t byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r') || (byte >= 0x1C && byte <= 0x1F);
}

/* A text in lower case, white space as one space and none at its ends; how long it is, SIZE_MAX if
   it has other than plain letters, and one more than there is room for if it is longer. */
static size_t read_plain(Bytes source, size_t at, size_t stop, uint8_t *text)
{
    size_t size = 0;
    int has_gap = 0;
    for (; at < stop && size <= MAX_TEXT; at++) {
        uint8_t byte = source.bytes[at];
        if (is_gap(byte)) {
            has_gap = size > 0;
            continue;
        }
        if (byte >= 0x80 || byte < ' ' || byte == '&')
            return SIZE_MAX;
        if (has_gap)
            text[size++] = ' ';
        has_gap = 0;
        text[size++] = lower(byte);
    }
    return size;
}

/* Is the text in the title? (Knuth, Morris and Pratt: in one pass, whatever both are.) */
static int is_inside(Bytes title, const uint8_t *text, size_t size)
{
    size_t falls[MAX_TEXT + 2], known = 0;
    falls[0] = 0;
    for (size_t i = 1; i < size; i++) {
        while (known && text[i] != text[known])
            known = falls[known - 1];
        known += text[i] == text[known];
        falls[i] = known;
    }
    known = 0;
    for (size_t i = 0; i < title.size; i++) {
        while (known && title.bytes[i] != text[known])
            known = falls[known - 1];
        known += title.bytes[i] == text[known];
        if (known == size)
            return 1;
    }
    return 0;
}

#define MIN_TEXT 8
#define PAIR_WORDS (1 << 10) /* A bit for each pair of bytes. */

static size_t pair_at(const uint8_t *bytes)
{
    return (size_t)bytes[0] << 8 | bytes[1];
}

static int has_pair(const uint64_t *pairs, const uint8_t *bytes)
{
    return (int)(pairs[pair_at(bytes) / 64] >> pair_at(bytes) % 64 & 1);
}

/* Do two plain letters follow each other in a text that do not in the title? Up to its first escape. */
static int has_other_pair(const uint64_t *pairs, Bytes source, size_t at, size_t stop)
{
    for (uint8_t pair[2] = {' ', ' '}; at < stop && source.bytes[at] != '&'; at++) {
        pair[0] = pair[1];
        pair[1] = lower(source.bytes[at]);
        if (pair[0] > ' ' && pair[0] < 0x7F && pair[1] > ' ' && pair[1] < 0x7F && !has_pair(pairs, pair))
            return 1;
    }
    return 0;
}

/* Is a text of `MIN_TEXT` letters or more in the title? `pairs` are the two letters that follow
   each other there. */
static int find_in_title(Bytes title, const uint64_t *pairs, Bytes source, size_t at, size_t stop)
{
    uint8_t text[MAX_TEXT + 2];
    if (has_other_pair(pairs, source, at, stop))
        return NOT_IN_TITLE;
    size_t size = read_plain(source, at, stop, text);
    if (size == SIZE_MAX)
        return NOT_PLAIN;
    if (size < MIN_TEXT || size > title.size || size > MAX_TEXT)
        return NOT_IN_TITLE;
    return is_inside(title, text, size) ? IN_TITLE : NOT_IN_TITLE;
}

/* --- what is not plain: Python's own strings know all letters --- */

/* A text as the page means it; NULL with an exception set. */
static PyObject *text_of(const Tree *tree, size_t node)
{
    const uint8_t *from = tree->source.bytes + tree->start[node];
    size_t size = (size_t)(tree->stop[node] - tree->start[node]);
    if (tree->raw[node])
        return PyUnicode_DecodeUTF8((const char *)from, (Py_ssize_t)size, "surrogatepass");
    uint8_t *text = malloc(size + 1);
    if (!text)
        return PyErr_NoMemory();
    size = put_unescaped(from, size, text);
    PyObject *found = PyUnicode_DecodeUTF8((const char *)text, (Py_ssize_t)size, "surrogatepass");
    free(text);
    return found;
}

/* The text in small letters; NULL with an exception set. */
static PyObject *in_small(PyObject *text)
{
    return text ? PyObject_CallMethod(text, "lower", NULL) : NULL;
}

/* The text in small letters, white space as one space; it takes the text over, NULL too. */
static PyObject *in_one_line(PyObject *text)
{
    PyObject *small = in_small(text);
    PyObject *words = small ? PyUnicode_Split(small, NULL, -1) : NULL;
    PyObject *space = words ? PyUnicode_FromString(" ") : NULL;
    PyObject *line = space ? PyUnicode_Join(space, words) : NULL;
    Py_XDECREF(text);
    Py_XDECREF(small);
    Py_XDECREF(words);
    Py_XDECREF(space);
    return line;
}

/* Is the first word of a text in the title? Most texts need not be looked at further. -1 with an exception set. */
static int begins_inside(PyObject *title, PyObject *text)
{
    PyObject *parts = PyUnicode_Split(text, NULL, 1);
    if (!parts || PyList_Size(parts) < 1) {
        Py_XDECREF(parts);
        return parts ? 0 : -1;
    }
    PyObject *word = in_small(PyList_GetItem(parts, 0));
    int found = word ? PyUnicode_Contains(title, word) : -1;
    Py_XDECREF(word);
    Py_DECREF(parts);
    return found;
}

/* Is the text of a node, in one line, a part of the title? -1 with an exception set. */
static int is_part(PyObject *title, const Tree *tree, size_t node)
{
    PyObject *text = text_of(tree, node);
    int found = text ? begins_inside(title, text) : -1;
    if (found <= 0) {
        Py_XDECREF(text);
        return found;
    }
    PyObject *line = in_one_line(text);
    if (!line)
        return -1;
    found = PyUnicode_GetLength(line) >= MIN_TEXT ? PyUnicode_Contains(title, line) : 0;
    Py_DECREF(line);
    return found;
}

/* --- the title --- */

/* The title in one line, empty where there is none; NULL with an exception set. */
static PyObject *title_of(const Tree *tree)
{
    for (size_t i = 1; i < tree->count; i++) {
        if (tree->tag[i] != TAG_title || tree->parent[i] < 0 || tree->tag[tree->parent[i]] != TAG_head)
            continue; /* Drawings have titles too. */
        if ((size_t)tree->end[i] <= i + 1)
            break;
        PyObject *whole = text_of(tree, i + 1);
        PyObject *first = whole ? PyUnicode_Substring(whole, 0, MAX_TEXT) : NULL;
        Py_XDECREF(whole);
        return in_one_line(first);
    }
    return PyUnicode_FromString("");
}

/* Look for each block in the title; 0 with an exception set. */
static int find_blocks(const Reading *reading, PyObject *title)
{
    const Tree *tree = reading->tree;
    uint64_t pairs[PAIR_WORDS] = {0};
    char *written;
    Py_ssize_t size, most = PyUnicode_GetLength(title);
    PyObject *encoded = PyUnicode_AsEncodedString(title, "utf-8", "surrogatepass");
    if (!encoded || PyBytes_AsStringAndSize(encoded, &written, &size) < 0) {
        Py_XDECREF(encoded);
        return 0;
    }
    Bytes bytes = {(const uint8_t *)written, (size_t)size};
    for (size_t i = 0; i + 1 < bytes.size; i++)
        pairs[pair_at(bytes.bytes + i) / 64] |= UINT64_C(1) << pair_at(bytes.bytes + i) % 64;
    int found = 0;
    for (size_t i = 0; i < reading->blocks && found >= 0; i++) {
        size_t node = (size_t)reading->segments[reading->first[i]];
        if (tree->text_length[node] < MIN_TEXT || tree->text_length[node] > most)
            continue;
        found = find_in_title(bytes, pairs, tree->source, (size_t)tree->start[node],
                              (size_t)tree->stop[node]);
        if (found == NOT_PLAIN)
            found = is_part(title, tree, node);
        features_of(reading, i)[PAGE_IN_TITLE] = found == IN_TITLE;
    }
    Py_DECREF(encoded);
    return found >= 0;
}

/* The first `<h1>` that is in the title, or without one the first of all. */
static size_t find_own_heading(const Reading *reading)
{
    size_t first = find_headline(reading);
    for (size_t i = first; i < reading->blocks; i++)
        if (reading->tree->tag[reading->container[i]] == TAG_h1 && features_of(reading, i)[PAGE_IN_TITLE] > 0)
            return i;
    return first;
}

/* Which blocks stand behind another `<h1>` than the page's own, where both have text: in articles
   that are appended to the page's own. */
static void fill_other_heading(const Reading *reading, const double *running)
{
    size_t count = reading->blocks, own = find_own_heading(reading), other = count;
    for (size_t i = own + 1; i <= count; i++) {
        if (i < count && reading->tree->tag[reading->container[i]] != TAG_h1)
            continue;
        if (other < count && running[i] - running[other + 1] >= ARTICLE_CHARS)
            break;
        int is_other = i < count && !features_of(reading, i)[PAGE_IN_TITLE];
        other = is_other && running[i] - running[own + 1] >= ARTICLE_CHARS ? i : count;
    }
    float is_in_title = own < count ? features_of(reading, own)[PAGE_IN_TITLE] : 0;
    for (; other < count; other++)
        features_of(reading, other)[PAGE_OTHER_HEADING] = is_in_title > 0 ? 1 : 0.5F;
}

int fill_title(const Reading *reading, const Sums *sums)
{
    PyObject *title = title_of(reading->tree);
    if (!title)
        return 0;
    int is_done = 1;
    if (PyUnicode_GetLength(title) >= MIN_TEXT && reading->blocks)
        is_done = find_blocks(reading, title);
    Py_DECREF(title);
    fill_other_heading(reading, sums->running_chars);
    return is_done;
}
