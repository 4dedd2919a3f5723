/* `links`: where the links of a page lead, and what they say, as `dehusk.answer.text` puts it. */

#include "tree.h"

#include <stdlib.h>

#include "addresses.h"
#include "escapes.h"
#include "tags.h"
#include "white.h"

#define MARKED (BREAKS | SET_CELL | SET_ANCHOR)
#define LOOKED_AT (MARKED | SET_LEADS | SET_IMAGE)

/* A piece of the source that a link says: a text, or what stands for an image. */
typedef struct {
    int32_t start, stop;
    int32_t next;  /* The next piece of the same link; -1 for none. */
    uint8_t is_apart;
} Piece;

typedef struct {
    int32_t first, last; /* Pieces; -1 for none. */
} Chain;

typedef struct {
    int32_t node;
    int is_simple; /* It holds one text and nothing else, by its source. */
    int is_open;   /* It was walked through: what it says is in its chains. */
    Chain words, pictures;
} Link;

typedef struct {
    const Tree *page;
    const int8_t *labels;
    int32_t *marked, *open;      /* Marked elements and links that have not ended, innermost last. */
    size_t marked_count, open_count;
    int32_t anchors;             /* How many of the marked are anchors. */
    int has_moved, is_new_anchor, was_anchored;
    Piece *pieces;
    size_t piece_count;
    Link *links;
    size_t link_count;
} Walk;

static uint32_t sets_of(const Tree *page, size_t node)
{
    return tag_sets[page->tag[node]];
}

/* --- what links say --- */

static void add_piece(Walk *walk, Chain *chain, size_t start, size_t stop, int is_apart)
{
    int32_t piece = (int32_t)walk->piece_count++;
    walk->pieces[piece] = (Piece){(int32_t)start, (int32_t)stop, -1, (uint8_t)is_apart};
    if (chain->first < 0)
        chain->first = piece;
    else
        walk->pieces[chain->last].next = piece;
    chain->last = piece;
}

static void leave_elements(Walk *walk, size_t node)
{
    const Tree *page = walk->page;
    while (walk->marked_count && (size_t)page->end[walk->marked[walk->marked_count - 1]] <= node) {
        uint32_t sets = sets_of(page, (size_t)walk->marked[--walk->marked_count]);
        walk->has_moved |= (sets & (BREAKS | SET_CELL)) != 0;
        walk->anchors -= (sets & SET_ANCHOR) != 0;
    }
    while (walk->open_count &&
           (size_t)page->end[walk->links[walk->open[walk->open_count - 1]].node] <= node)
        walk->open_count--;
}

/* Does the link hold one text and nothing else? */
static int is_simple(const Tree *page, size_t node)
{
    size_t stop = (size_t)page->stop[node], close = (size_t)page->close[node];
    size_t at = find_byte(page->source, '<', stop, close);
    return at > stop && at < close && close - at == 4;
}

static void enter_link(Walk *walk, size_t node)
{
    Link *link = &walk->links[walk->link_count];
    *link = (Link){(int32_t)node, is_simple(walk->page, node), 0, {-1, -1}, {-1, -1}};
    if (!link->is_simple || walk->open_count) {
        link->is_open = 1;
        walk->open[walk->open_count++] = (int32_t)walk->link_count;
    }
    walk->link_count++;
}

static void enter_element(Walk *walk, size_t node, uint32_t sets)
{
    const Tree *page = walk->page;
    Attribute alt;
    walk->has_moved |= (sets & (BREAKS | SET_CELL)) != 0;
    walk->is_new_anchor |= (sets & SET_ANCHOR) != 0;
    if (sets & MARKED) {
        walk->anchors += (sets & SET_ANCHOR) != 0;
        walk->marked[walk->marked_count++] = (int32_t)node;
    }
    if (!page->shown[node])
        return;
    if (sets & SET_LEADS)
        enter_link(walk, node);
    if ((page->tag[node] == TAG_img || page->tag[node] == TAG_area) && walk->open_count) {
        Chain *chain = &walk->links[walk->open[walk->open_count - 1]].pictures;
        if (find_attribute(page->source, (size_t)page->start[node], (size_t)page->stop[node], "alt", &alt))
            add_piece(walk, chain, alt.value, alt.value_stop, 1);
        else
            add_piece(walk, chain, 0, 0, 1);
    }
}

static void meet_text(Walk *walk, size_t node)
{
    const Tree *page = walk->page;
    if (page->text_length[node] <= 0) {
        walk->has_moved |= page->shown[node];
        return;
    }
    if (!walk->open_count)
        return;
    int is_apart = walk->has_moved || (walk->is_new_anchor && walk->anchors && walk->was_anchored);
    Link *link = &walk->links[walk->open[walk->open_count - 1]];
    add_piece(walk, &link->words, (size_t)page->start[node], (size_t)page->stop[node], is_apart);
    walk->has_moved = walk->is_new_anchor = 0;
    walk->was_anchored = walk->anchors > 0;
}

static void walk_page(Walk *walk)
{
    const Tree *page = walk->page;
    for (size_t i = 0; i < page->count; i++) {
        leave_elements(walk, i);
        if (page->tag[i] == TAG_TEXT)
            meet_text(walk, i);
        else if (sets_of(page, i) & LOOKED_AT)
            enter_element(walk, i, sets_of(page, i));
    }
}

/* --- what is written of them --- */

static size_t chain_size(const Walk *walk, Chain chain)
{
    size_t size = 0;
    for (int32_t i = chain.first; i >= 0; i = walk->pieces[i].next)
        size += (size_t)(walk->pieces[i].stop - walk->pieces[i].start) + 1;
    return size;
}

static size_t put_chain(const Walk *walk, Chain chain, uint8_t *to)
{
    size_t size = 0;
    for (int32_t i = chain.first; i >= 0; i = walk->pieces[i].next) {
        const Piece *piece = &walk->pieces[i];
        if (piece->is_apart)
            to[size++] = ' ';
        memcpy(to + size, walk->page->source.bytes + piece->start, (size_t)(piece->stop - piece->start));
        size += (size_t)(piece->stop - piece->start);
    }
    return size;
}

/* Room for the source of a link's words and address, and for both without escapes. */
static size_t room_for(const Walk *walk)
{
    size_t most = 0;
    for (size_t i = 0; i < walk->link_count; i++) {
        const Link *link = &walk->links[i];
        size_t tag = (size_t)(walk->page->stop[link->node] - walk->page->start[link->node]);
        size_t size = link->is_open ? chain_size(walk, link->words) + chain_size(walk, link->pictures)
                                    : (size_t)(walk->page->close[link->node] -
                                               walk->page->stop[link->node]);
        size = size > tag ? size : tag;
        most = size > most ? size : most;
    }
    return most + 1;
}

/* What the link says, in one line; `room` has twice `most` bytes. */
static PyObject *words_of(const Walk *walk, const Link *link, uint8_t *room, size_t most)
{
    const Tree *page = walk->page;
    const uint8_t *from = page->source.bytes + page->stop[link->node];
    size_t size = (size_t)(page->close[link->node] - page->stop[link->node]) - (link->is_open ? 0 : 4);
    if (link->is_open) {
        from = room;
        size = put_chain(walk, link->words.first >= 0 ? link->words : link->pictures, room);
    }
    size = put_unescaped(from, size, room + most);
    return as_text(room + most, collapse(room + most, size));
}

/* How links are made: by which call addresses become absolute, of which class (None: as dicts), with which fields. */
typedef struct {
    PyObject *absolute, *class, *fields[3];
} Makers;

/* A link of the class `Link`, its fields set as its own `__init__` would set them: calling that takes
   longer than all else that is done for a link. NULL with an exception set. */
static PyObject *make_link(const Makers *makers, PyObject *address, PyObject *words,
                           PyObject *is_template)
{
    PyObject *const values[] = {address, words, is_template};
    int is_dict = makers->class == Py_None;
    PyObject *made = is_dict ? PyDict_New() : PyType_GenericAlloc((PyTypeObject *)makers->class, 0);
    for (size_t i = 0; i < 3 && made; i++)
        if ((is_dict ? PyDict_SetItem : PyObject_GenericSetAttr)(made, makers->fields[i], values[i]) < 0)
            Py_CLEAR(made);
    return made;
}

/* Add the link to the list, if it leads somewhere; 0 with an exception set. */
static int add_link(const Walk *walk, const Link *link, const Bases *bases, const Makers *makers,
                    uint8_t *room, size_t most, PyObject *found)
{
    const Tree *page = walk->page;
    size_t start = (size_t)page->start[link->node], stop = (size_t)page->stop[link->node];
    int is_changed;
    PyObject *address = address_of(page->source, start, stop, bases, makers->absolute, room, &is_changed);
    if (!address || address == Py_None) {
        Py_XDECREF(address);
        return address != NULL;
    }
    PyObject *words = words_of(walk, link, room, most), *made = NULL;
    PyObject *is_template = walk->labels[link->node] == LABEL_TEMPLATE ? Py_True : Py_False;
    if (words)
        made = make_link(makers, address, words, is_template);
    int is_done = made && PyList_Append(found, made) == 0;
    Py_DECREF(address);
    Py_XDECREF(words);
    Py_XDECREF(made);
    return is_done;
}

static PyObject *list_links(const Walk *walk, const Bases *bases, const Makers *makers)
{
    size_t most = room_for(walk);
    uint8_t *room = malloc(2 * most);
    PyObject *found = room ? PyList_New(0) : PyErr_NoMemory();
    int is_done = found != NULL;
    for (size_t i = 0; i < walk->link_count && is_done; i++)
        is_done = add_link(walk, &walk->links[i], bases, makers, room, most, found);
    free(room);
    if (!is_done)
        Py_CLEAR(found);
    return found;
}

/* --- memory --- */

static PyObject *links_of(const Tree *page, const int8_t *labels, const Bases *bases, const Makers *makers)
{
    size_t nodes = page->count + 1, links = 0;
    for (size_t i = 0; i < page->count; i++)
        links += page->shown[i] && sets_of(page, i) & SET_LEADS;
    Walk walk = {.page = page, .labels = labels};
    walk.links = malloc((links + 1) * (sizeof(Link) + sizeof(int32_t)) +
                        nodes * (sizeof(Piece) + sizeof(int32_t)));
    if (!walk.links)
        return PyErr_NoMemory();
    walk.pieces = (Piece *)(walk.links + links + 1);
    walk.marked = (int32_t *)(walk.pieces + nodes);
    walk.open = walk.marked + nodes;
    walk_page(&walk);
    PyObject *found = list_links(&walk, bases, makers);
    free(walk.links);
    return found;
}

/* The links of a page; NULL with an exception set. */
static PyObject *links_by(const Tree *page, const int8_t *labels, const Bases *bases, PyObject *absolute,
                          PyObject *class)
{
    static const char *const names[] = {"url", "text", "template"};
    Makers makers = {absolute, class, {NULL, NULL, NULL}};
    PyObject *found = NULL;
    int is_ready = 1;
    for (size_t i = 0; i < 3; i++)
        is_ready &= (makers.fields[i] = PyUnicode_InternFromString(names[i])) != NULL;
    if (is_ready)
        found = links_of(page, labels, bases, &makers);
    for (size_t i = 0; i < 3; i++)
        Py_XDECREF(makers.fields[i]);
    return found;
}

/* Is it None, or a class whose objects `make_link` may make, past what the class makes them by? `object` tells that. 0
   with an exception set. */
static int may_make(PyObject *class)
{
    if (class == Py_None)
        return 1;
    if (!PyType_Check(class)) {
        PyErr_SetString(PyExc_TypeError, "links: the last argument is a class or None");
        return 0;
    }
    PyObject *empty = PyObject_CallMethod((PyObject *)&PyBaseObject_Type, "__new__", "O", class);
    Py_XDECREF(empty);
    return empty != NULL;
}

PyObject *kernel_links(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    View labels;
    Bases bases;
    const Tree *tree = check_count("links", count, 5) ? given_tree(module, arguments[0]) : NULL;
    if (!tree || !read_bases(arguments[2], &bases))
        return NULL;
    if (!may_make(arguments[4]))
        return NULL;
    if (!open_of_nodes(&labels, arguments[1], tree, 'B'))
        return NULL;
    PyObject *found = links_by(tree, labels.buffer.buf, &bases, arguments[3], arguments[4]);
    close_views(&labels, 1);
    return found;
}
