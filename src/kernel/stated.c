/* `stated` and `heading`: where a page says what it is, as `dehusk.answer.describe` asks. */

#include "tree.h"

#include <stdlib.h>

#include "addresses.h"
#include "escapes.h"
#include "stated.h"
#include "tags.h"
#include "white.h"

#define MAX_NAMES 128

/* What is asked of a page. */
typedef struct {
    const Tree *tree;
    Bytes names[MAX_NAMES]; /* Of metas. */
    size_t count;
    int max_headings, max_title, max_script;
} Asked;

/* What is found: lists of Python's. */
typedef struct {
    PyObject *languages, *metas, *links, *scripts, *headings, *title;
} Stated;

static int find_in(const Tree *page, size_t node, const char *name, Attribute *found)
{
    return find_attribute(page->source, (size_t)page->start[node], (size_t)page->stop[node], name,
                          found);
}

/* --- attributes --- */

PyObject *meant_value(const Tree *page, const Attribute *attribute)
{
    const uint8_t *from = page->source.bytes + attribute->value;
    size_t size = attribute->value_stop - attribute->value;
    if (!size || !memchr(from, '&', size))
        return as_text(from, size);
    uint8_t *room = malloc(size);
    if (!room)
        return PyErr_NoMemory();
    PyObject *value = as_text(room, put_unescaped(from, size, room));
    free(room);
    return value;
}

/* Append the values of two attributes as a pair; 0 with an exception set. */
static int append_pair(PyObject *list, const Tree *page, const Attribute *one, const Attribute *other)
{
    PyObject *first = meant_value(page, one), *second = first ? meant_value(page, other) : NULL;
    PyObject *pair = second ? PyTuple_Pack(2, first, second) : NULL;
    int is_done = pair && PyList_Append(list, pair) == 0;
    Py_XDECREF(first);
    Py_XDECREF(second);
    Py_XDECREF(pair);
    return is_done;
}

/* Does this piece of the source hold a word, in letters of any size? */
static int holds(Bytes source, size_t start, size_t stop, const char *word)
{
    size_t size = strlen(word);
    for (size_t i = start; i + size <= stop; i++)
        if (stands_at(source, i, word))
            return 1;
    return 0;
}

/* May the value be one of the names asked for, in letters of any size, white space around it? Python is
   asked about what is not plain. */
static int may_be_asked(const Asked *asked, const Attribute *attribute)
{
    const uint8_t *bytes = asked->tree->source.bytes;
    size_t first = attribute->value, behind = attribute->value_stop;
    for (size_t i = first; i < behind; i++)
        if (bytes[i] >= 0x80 || bytes[i] == '&')
            return 1;
    while (first < behind && white_at(bytes + first, behind - first))
        first++;
    while (first < behind && white_at(bytes + behind - 1, 1))
        behind--;
    for (size_t i = 0; i < asked->count; i++) {
        Bytes name = asked->names[i];
        size_t same = 0;
        if (name.size != behind - first)
            continue;
        while (same < name.size && name.bytes[same] == lower(bytes[first + same]))
            same++;
        if (same == name.size)
            return 1;
    }
    return 0;
}

/* --- elements --- */

static int add_meta(const Asked *asked, size_t node, Stated *stated)
{
    const Tree *page = asked->tree;
    static const char *const names[] = {"property", "name", "http-equiv"};
    Attribute content, name;
    /* Some write `value` for `content`. */
    if ((!find_in(page, node, "content", &content) && !find_in(page, node, "value", &content)) ||
        content.value == content.value_stop)
        return 1;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (find_in(page, node, names[i], &name) && name.value < name.value_stop &&
            may_be_asked(asked, &name) && !append_pair(stated->metas, page, &name, &content))
            return 0;
    return 1;
}

static int add_link(const Tree *page, size_t node, Stated *stated)
{
    Attribute rel, href;
    if (!find_in(page, node, "rel", &rel) ||
        !holds(page->source, rel.value, rel.value_stop, "canonical") ||
        !find_in(page, node, "href", &href))
        return 1;
    return append_pair(stated->links, page, &rel, &href);
}

/* Does the script's start tag name JSON-LD? */
static int is_linked(const Tree *page, size_t node)
{
    return holds(page->source, (size_t)page->start[node], (size_t)page->stop[node], "ld+json");
}

static int add_languages(const Tree *page, Stated *stated)
{
    static const char *const names[] = {"lang", "xml:lang"};
    for (size_t i = 0; i < 2 && page->count; i++) {
        Attribute language;
        if (!find_in(page, 0, names[i], &language))
            continue;
        PyObject *value = meant_value(page, &language);
        int is_done = value && PyList_Append(stated->languages, value) == 0;
        Py_XDECREF(value);
        if (!is_done)
            return 0;
    }
    return 1;
}

/* --- texts --- */

/* How the texts of an element are said: all of them; those shown; those with spaces between elements. */
typedef enum { WHOLE, AS_HEADING, AS_PIECES } Manner;

/* Is the text of this node a part of what an element says? A heading does not say what is not shown. */
static int is_said(const Tree *page, size_t node, Manner manner)
{
    if (manner == WHOLE)
        return 1;
    size_t parent = page->parent[node] < 0 ? 0 : (size_t)page->parent[node];
    return page->tag[node] == TAG_TEXT && page->shown[node] && page->tag[parent] != TAG_title;
}

static size_t put_texts(const Tree *page, size_t first, size_t stop, Manner manner, uint8_t *room)
{
    size_t size = 0;
    for (size_t i = first; i < stop; i++) {
        const uint8_t *from = page->source.bytes + page->start[i];
        size_t left = (size_t)(page->stop[i] - page->start[i]);
        int is_here = is_said(page, i, manner);
        if (manner == AS_PIECES || (!is_here && tag_sets[page->tag[i]] & BREAKS))
            room[size++] = ' ';
        if (!is_here)
            continue;
        if (page->raw[i]) {
            memcpy(room + size, from, left);
            size += left;
        } else {
            size += put_unescaped(from, left, room + size);
        }
    }
    return size;
}

/* What nodes say, in one line; NULL with an exception set. */
static PyObject *texts_of(const Tree *page, size_t first, size_t stop, Manner manner)
{
    size_t most = 1;
    for (size_t i = first; i < stop; i++)
        most += (size_t)(page->stop[i] - page->start[i]) + 1;
    uint8_t *room = malloc(most);
    if (!room)
        return PyErr_NoMemory();
    PyObject *text = as_text(room, collapse(room, put_texts(page, first, stop, manner, room)));
    free(room);
    return text;
}

/* What is below an element says. */
static PyObject *text_of(const Tree *page, size_t node, Manner manner)
{
    return texts_of(page, page->tag[node] == TAG_TEXT ? node : node + 1, (size_t)page->end[node], manner);
}

PyObject *said_in_line(const Tree *page, size_t first, size_t stop)
{
    return texts_of(page, first, stop, AS_PIECES);
}

static int add_title(const Tree *page, size_t node, Stated *stated)
{
    int32_t parent = page->parent[node];
    if (stated->title || parent < 0 || (page->tag[parent] != TAG_head && page->tag[parent] != TAG_body))
        return 1;
    stated->title = text_of(page, node, WHOLE);
    return stated->title != NULL;
}

/* Append a heading that is shown: its node, its level, what it says, and the label of content. */
static int add_heading(const Asked *asked, size_t node, long level, Stated *stated)
{
    const Tree *page = asked->tree;
    if (!page->shown[node] || page->text_length[node] <= 0 || page->text_length[node] > asked->max_title ||
        PyList_Size(stated->headings) >= asked->max_headings)
        return 1;
    PyObject *number = PyLong_FromSize_t(node), *rank = PyLong_FromLong(level);
    PyObject *text = text_of(page, node, AS_HEADING), *label = PyLong_FromLong(LABEL_CONTENT);
    PyObject *heading = number && rank && text && label ? PyTuple_Pack(4, number, rank, text, label) : NULL;
    int is_done = heading && PyList_Append(stated->headings, heading) == 0;
    Py_XDECREF(number);
    Py_XDECREF(rank);
    Py_XDECREF(text);
    Py_XDECREF(label);
    Py_XDECREF(heading);
    return is_done;
}

/* Append the JSON-LD of a script, as it is written. */
static int add_script(const Asked *asked, size_t node, Stated *stated)
{
    const Tree *page = asked->tree;
    size_t text = node + 1;
    if (!is_linked(page, node) || text >= (size_t)page->end[node] ||
        page->stop[text] - page->start[text] > asked->max_script)
        return 1;
    PyObject *script = as_text(page->source.bytes + page->start[text],
                               (size_t)(page->stop[text] - page->start[text]));
    int is_done = script && PyList_Append(stated->scripts, script) == 0;
    Py_XDECREF(script);
    return is_done;
}

static int add_element(const Asked *asked, size_t node, Stated *stated)
{
    const Tree *page = asked->tree;
    switch (page->tag[node]) {
    case TAG_meta:
        return add_meta(asked, node, stated);
    case TAG_script:
        return add_script(asked, node, stated);
    case TAG_link:
        return add_link(page, node, stated);
    case TAG_title:
        return add_title(page, node, stated);
    case TAG_h1:
        return add_heading(asked, node, 1, stated);
    case TAG_h2:
        return add_heading(asked, node, 2, stated);
    case TAG_h3:
        return add_heading(asked, node, 3, stated);
    case TAG_h4:
        return add_heading(asked, node, 4, stated);
    }
    return 1;
}

static int walk_page(const Asked *asked, Stated *stated)
{
    if (!add_languages(asked->tree, stated))
        return 0;
    for (size_t i = 0; i < asked->tree->count; i++)
        if (!add_element(asked, i, stated))
            return 0;
    if (!stated->title)
        stated->title = as_text((const uint8_t *)"", 0);
    return stated->title != NULL;
}

static PyObject *stated_of(const Asked *asked)
{
    Stated stated = {PyList_New(0), PyList_New(0), PyList_New(0), PyList_New(0), PyList_New(0), NULL};
    PyObject *found = NULL;
    if (stated.languages && stated.metas && stated.links && stated.scripts && stated.headings &&
        walk_page(asked, &stated))
        found = PyTuple_Pack(6, stated.languages, stated.metas, stated.links, stated.scripts, stated.title,
                             stated.headings);
    Py_XDECREF(stated.languages);
    Py_XDECREF(stated.metas);
    Py_XDECREF(stated.links);
    Py_XDECREF(stated.scripts);
    Py_XDECREF(stated.headings);
    Py_XDECREF(stated.title);
    return found;
}

PyObject *kernel_stated(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    char *names;
    Py_ssize_t size;
    const Tree *tree = check_count("stated", count, 5) ? given_tree(module, arguments[0]) : NULL;
    if (!tree || PyBytes_AsStringAndSize(arguments[1], &names, &size) < 0)
        return NULL;
    long max_headings = PyLong_AsLong(arguments[2]), max_title = PyLong_AsLong(arguments[3]);
    long max_script = PyLong_AsLong(arguments[4]);
    if (PyErr_Occurred())
        return NULL;
    Asked asked = {tree, {{0}}, 0, (int)max_headings, (int)max_title, (int)max_script};
    Bytes lines = {(const uint8_t *)names, (size_t)size};
    for (size_t at = 0, end; at < lines.size && asked.count < MAX_NAMES; at = end + 1) {
        end = find_byte(lines, '\n', at, lines.size);
        asked.names[asked.count++] = (Bytes){lines.bytes + at, end - at};
    }
    return stated_of(&asked);
}

PyObject *kernel_heading(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    const Tree *tree = check_count("heading", count, 2) ? given_tree(module, arguments[0]) : NULL;
    size_t node = tree ? PyLong_AsSize_t(arguments[1]) : 0;
    if (PyErr_Occurred())
        return NULL;
    if (node < tree->count)
        return text_of(tree, node, AS_HEADING);
    PyErr_SetString(PyExc_IndexError, "heading: no such node");
    return NULL;
}
