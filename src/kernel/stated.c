/* `stated`: where a page says what it is. The twin of `dehusk.describe.stated.read_stated`. */

#include "kernel.h"

#include <stdlib.h>

#include "addresses.h"
#include "escapes.h"
#include "white.h"

/* What a tag is, by its number: the bits of `stated.STATED_KINDS`. */
enum {
    IS_META = 1, IS_LINK = 2, IS_TIME = 4, IS_SCRIPT = 8, IS_TITLE = 16, HOLDS_TITLE = 32,
    IS_HEADING = 64, BREAKS = 128,
};

enum { MAX_HEADINGS = 5, MAX_TITLE = 300 };

typedef struct {
    Bytes source, kinds;
    Bytes names; /* Of metas that are asked for, a line end between them. */
    const int32_t *parent, *end, *start, *stop, *text_length;
    const int16_t *tag;
    const uint8_t *shown, *raw;
    const int8_t *labels;
    size_t count;
} Page;

/* What is found: lists of Python's, and what only has to be known to be there. */
typedef struct {
    PyObject *languages, *metas, *links, *headings, *title;
    int has_marks, has_linked;
} Stated;

static uint8_t kind_of(const Page *page, size_t node)
{
    return kind_in(page->kinds, page->tag[node]);
}

static int find_in(const Page *page, size_t node, const char *name, Attribute *found)
{
    return find_attribute(page->source, (size_t)page->start[node], (size_t)page->stop[node], name,
                          found);
}

/* --- attributes --- */

/* An attribute's value as the page means it; NULL with an exception set. */
static PyObject *value_of(const Page *page, const Attribute *attribute)
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
static int append_pair(PyObject *list, const Page *page, const Attribute *one, const Attribute *other)
{
    PyObject *first = value_of(page, one), *second = first ? value_of(page, other) : NULL;
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
static int may_be_asked(const Page *page, const Attribute *attribute)
{
    const uint8_t *bytes = page->source.bytes;
    size_t first = attribute->value, behind = attribute->value_stop;
    for (size_t i = first; i < behind; i++)
        if (bytes[i] >= 0x80 || bytes[i] == '&')
            return 1;
    while (first < behind && white_at(bytes + first, behind - first))
        first++;
    while (first < behind && white_at(bytes + behind - 1, 1))
        behind--;
    Bytes names = page->names;
    for (size_t at = 0, line; at < names.size; at = line + 1) {
        size_t same = 0;
        line = find_byte(names, '\n', at, names.size);
        if (line - at != behind - first)
            continue;
        while (at + same < line && names.bytes[at + same] == lower(bytes[first + same]))
            same++;
        if (at + same == line)
            return 1;
    }
    return 0;
}

/* --- elements --- */

/* May the element be marked as a date of publication? */
static int may_be_date(const Page *page, size_t node)
{
    Attribute mark;
    return find_in(page, node, "pubdate", &mark) ||
           (find_in(page, node, "itemprop", &mark) &&
            holds(page->source, mark.value, mark.value_stop, "datepublished"));
}

static int add_meta(const Page *page, size_t node, Stated *stated)
{
    static const char *const names[] = {"property", "name", "http-equiv"};
    Attribute content, name;
    if (!find_in(page, node, "content", &content) || content.value == content.value_stop)
        return 1;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (find_in(page, node, names[i], &name) && name.value < name.value_stop &&
            may_be_asked(page, &name) && !append_pair(stated->metas, page, &name, &content))
            return 0;
    return 1;
}

static int add_link(const Page *page, size_t node, Stated *stated)
{
    Attribute rel, href;
    if (!find_in(page, node, "rel", &rel) ||
        !holds(page->source, rel.value, rel.value_stop, "canonical") ||
        !find_in(page, node, "href", &href))
        return 1;
    return append_pair(stated->links, page, &rel, &href);
}

/* Does the script's start tag name JSON-LD? */
static int is_linked(const Page *page, size_t node)
{
    return holds(page->source, (size_t)page->start[node], (size_t)page->stop[node], "ld+json");
}

static int add_languages(const Page *page, Stated *stated)
{
    static const char *const names[] = {"lang", "xml:lang"};
    for (size_t i = 0; i < 2 && page->count; i++) {
        Attribute language;
        if (!find_in(page, 0, names[i], &language))
            continue;
        PyObject *value = value_of(page, &language);
        int is_done = value && PyList_Append(stated->languages, value) == 0;
        Py_XDECREF(value);
        if (!is_done)
            return 0;
    }
    return 1;
}

/* --- texts --- */

/* Is the text of this node a part of what an element says? A heading does not say what is not shown. */
static int is_said(const Page *page, size_t node, int is_heading)
{
    if (!is_heading)
        return 1;
    size_t parent = page->parent[node] < 0 ? 0 : (size_t)page->parent[node];
    return page->tag[node] == 0 && page->shown[node] && !(kind_of(page, parent) & IS_TITLE);
}

static size_t put_texts(const Page *page, size_t node, int is_heading, uint8_t *room)
{
    size_t size = 0;
    for (size_t i = node + 1; i < (size_t)page->end[node]; i++) {
        const uint8_t *from = page->source.bytes + page->start[i];
        size_t left = (size_t)(page->stop[i] - page->start[i]);
        if (!is_said(page, i, is_heading)) {
            if (page->tag[i] && kind_of(page, i) & BREAKS)
                room[size++] = ' ';
        } else if (page->raw[i]) {
            memcpy(room + size, from, left);
            size += left;
        } else {
            size += put_unescaped(from, left, room + size);
        }
    }
    return size;
}

/* What an element says, in one line; NULL with an exception set. */
static PyObject *text_of(const Page *page, size_t node, int is_heading)
{
    size_t most = 1;
    for (size_t i = node + 1; i < (size_t)page->end[node]; i++)
        most += (size_t)(page->stop[i] - page->start[i]) + 1;
    uint8_t *room = malloc(most);
    if (!room)
        return PyErr_NoMemory();
    PyObject *text = as_text(room, collapse(room, put_texts(page, node, is_heading, room)));
    free(room);
    return text;
}

static int add_title(const Page *page, size_t node, Stated *stated)
{
    int32_t parent = page->parent[node];
    if (stated->title || parent < 0 || !(kind_of(page, (size_t)parent) & HOLDS_TITLE))
        return 1;
    stated->title = text_of(page, node, 0);
    return stated->title != NULL;
}

static int add_heading(const Page *page, size_t node, Stated *stated)
{
    if (!page->shown[node] || page->labels[node] != LABEL_CONTENT || page->text_length[node] <= 0 ||
        page->text_length[node] > MAX_TITLE || PyList_Size(stated->headings) >= MAX_HEADINGS)
        return 1;
    PyObject *text = text_of(page, node, 1);
    int is_done = text && PyList_Append(stated->headings, text) == 0;
    Py_XDECREF(text);
    return is_done;
}

static int add_element(const Page *page, size_t node, uint8_t kind, Stated *stated)
{
    if (kind & (IS_META | IS_TIME))
        stated->has_marks |= may_be_date(page, node);
    if (kind & IS_SCRIPT)
        stated->has_linked |= is_linked(page, node);
    if (kind & IS_META)
        return add_meta(page, node, stated);
    if (kind & IS_LINK)
        return add_link(page, node, stated);
    if (kind & IS_TITLE)
        return add_title(page, node, stated);
    return kind & IS_HEADING ? add_heading(page, node, stated) : 1;
}

static int walk_page(const Page *page, Stated *stated)
{
    if (!add_languages(page, stated))
        return 0;
    for (size_t i = 0; i < page->count; i++) {
        uint8_t kind = kind_of(page, i);
        if (kind & (IS_META | IS_LINK | IS_TIME | IS_SCRIPT | IS_TITLE | IS_HEADING) &&
            !add_element(page, i, kind, stated))
            return 0;
    }
    if (!stated->title)
        stated->title = as_text((const uint8_t *)"", 0);
    return stated->title != NULL;
}

static PyObject *stated_of(const Page *page)
{
    Stated stated = {PyList_New(0), PyList_New(0), PyList_New(0), PyList_New(0), NULL, 0, 0};
    PyObject *found = NULL;
    if (stated.languages && stated.metas && stated.links && stated.headings &&
        walk_page(page, &stated))
        found = PyTuple_Pack(7, stated.languages, stated.metas, stated.links,
                             stated.has_marks ? Py_True : Py_False,
                             stated.has_linked ? Py_True : Py_False, stated.title, stated.headings);
    Py_XDECREF(stated.languages);
    Py_XDECREF(stated.metas);
    Py_XDECREF(stated.links);
    Py_XDECREF(stated.headings);
    Py_XDECREF(stated.title);
    return found;
}

/* Do all nodes lie in the source, and all that is below one among the nodes? */
static int fits(const Page *page)
{
    for (size_t i = 0; i < page->count; i++)
        if (page->start[i] < 0 || page->stop[i] < page->start[i] ||
            (size_t)page->stop[i] > page->source.size || page->end[i] < 0 ||
            (size_t)page->end[i] > page->count || page->parent[i] >= (int32_t)i) {
            PyErr_SetString(PyExc_ValueError, "stated: a node lies outside of the page");
            return 0;
        }
    return 1;
}

#define GIVEN 12

PyObject *kernel_stated(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    static const Py_ssize_t sizes[] = {4, 4, 4, 4, 4, 2, 1, 1, 1};
    View views[GIVEN];
    if (!open_all("stated", views, GIVEN, arguments, count))
        return NULL;
    PyObject *found = NULL;
    Py_ssize_t nodes = views[GIVEN - 1].buffer.len;
    if (check_sizes("stated", views + 3, sizes, 9, nodes)) {
        Page page = {bytes_of(&views[1]),   bytes_of(&views[2]),   bytes_of(&views[0]),
                     views[3].buffer.buf,   views[4].buffer.buf,   views[5].buffer.buf,
                     views[6].buffer.buf,   views[7].buffer.buf,   views[8].buffer.buf,
                     views[9].buffer.buf,   views[10].buffer.buf,  views[11].buffer.buf,
                     (size_t)nodes};
        if (fits(&page))
            found = stated_of(&page);
    }
    close_views(views, GIVEN);
    return found;
}
