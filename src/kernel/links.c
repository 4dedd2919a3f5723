/* `links`: where the links of a page lead, and what they say, as JSON. */

#include "tree.h"

#include <stdlib.h>

#include "addresses.h"
#include "buffer.h"
#include "escapes.h"
#include "images.h"
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
    if ((is_image(page, node) || page->tag[node] == TAG_area) && walk->open_count) {
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

/* --- as JSON --- */

/* The number of the half of a pair of surrogates that stands at a place, in three bytes; 0 for none. */
static uint32_t half_at(Bytes text, size_t at)
{
    if (text.size - at < 3 || text.bytes[at] != 0xED || text.bytes[at + 1] < 0xA0)
        return 0;
    return 0xD000u | (uint32_t)(text.bytes[at + 1] & 0x3F) << 6 | (text.bytes[at + 2] & 0x3F);
}

/* Write the halves that stand at a place: two that belong together as the character they are, else one as U+FFFD. How
   many bytes they have. */
static size_t put_halves(Buffer *to, Bytes text, size_t at)
{
    uint32_t first = half_at(text, at), second = text.size - at > 3 ? half_at(text, at + 3) : 0;
    if (first >= 0xDC00 || second < 0xDC00) {
        put_text(to, "\xEF\xBF\xBD");
        return 3;
    }
    uint32_t code = 0x10000 + ((first & 0x3FF) << 10 | (second & 0x3FF));
    uint8_t whole[4];
    put(to, whole, put_utf8(code, whole));
    return 6;
}

/* Write a byte that a string of JSON does not hold as it is. */
static void put_escape(Buffer *to, uint8_t byte)
{
    static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt", digits[] = "0123456789abcdef";
    char escape[] = "\\u00__";
    for (const char *name = named; *name; name += 2)
        if ((uint8_t)name[0] == byte) {
            escape[1] = name[1];
            put(to, escape, 2);
            return;
        }
    escape[4] = digits[byte >> 4];
    escape[5] = digits[byte & 15];
    put(to, escape, 6);
}

/* May the byte begin what is not written as it is? */
static int is_special(uint8_t byte)
{
    return (byte < ' ') | (byte == '"') | (byte == '\\') | (byte == 0xED);
}

/* Write a text as the inside of a string. */
static void put_json(Buffer *to, Bytes text)
{
    size_t done = 0;
    int is_any = 0;
    if (!text.size)
        return;
    for (size_t i = 0; i < text.size; i++)
        is_any |= is_special(text.bytes[i]); /* Without a way out, so that it is done by vectors. */
    for (size_t at = 0; at < text.size && is_any; at++) {
        uint8_t byte = text.bytes[at];
        if (!is_special(byte) || (byte == 0xED && !half_at(text, at)))
            continue;
        put(to, text.bytes + done, at - done);
        if (byte == 0xED)
            at += put_halves(to, text, at) - 1;
        else
            put_escape(to, byte);
        done = at + 1;
    }
    put(to, text.bytes + done, text.size - done);
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

/* What the link says, in one line, at the end of `room`, which has twice `most` bytes. */
static Bytes words_of(const Walk *walk, const Link *link, uint8_t *room, size_t most)
{
    const Tree *page = walk->page;
    const uint8_t *from = page->source.bytes + page->stop[link->node];
    size_t size = (size_t)(page->close[link->node] - page->stop[link->node]) - (link->is_open ? 0 : 4);
    if (link->is_open) {
        from = room;
        size = put_chain(walk, link->words.first >= 0 ? link->words : link->pictures, room);
    }
    size = put_unescaped(from, size, room + most);
    return (Bytes){room + most, collapse(room + most, size)};
}

/* Write the address as Python makes it absolute; 0 with an exception set, -1 where it leads nowhere. */
static int put_asked(PyObject *absolute, Bytes written, Buffer *to)
{
    PyObject *whole = ask_base(absolute, written);
    int leads = whole && whole != Py_None;
    if (leads) {
        put_text(to, "{\"url\":\"");
        put_json(to, (Bytes){(const uint8_t *)PyBytes_AsString(whole), (size_t)PyBytes_Size(whole)});
    }
    Py_XDECREF(whole);
    return leads ? 1 : whole ? -1 : 0;
}

/* Write where the link leads; 0 with an exception set, -1 where it leads nowhere. */
static int put_address(const Walk *walk, const Link *link, const Bases *bases, PyObject *absolute, uint8_t *room,
                       Buffer *to)
{
    const Tree *page = walk->page;
    size_t start = (size_t)page->start[link->node], stop = (size_t)page->stop[link->node];
    Bytes written = {room, 0}, base = {NULL, 0};
    Attribute href;
    if (find_attribute(page->source, start, stop, "href", &href))
        written.size = put_unescaped(page->source.bytes + href.value, href.value_stop - href.value, room);
    Bytes left = written;
    Lead lead = find_lead(&left, bases, &base);
    if (lead == NOWHERE)
        return -1;
    if (lead == NOT_SIMPLE)
        return put_asked(absolute, written, to);
    put_text(to, "{\"url\":\"");
    put_json(to, base);
    put_json(to, left);
    return 1;
}

/* The links in an array of JSON; NULL with an exception set. */
static PyObject *write_links(const Walk *walk, const Bases *bases, PyObject *absolute)
{
    size_t most = room_for(walk);
    uint8_t *room = malloc(2 * most);
    Buffer to = {.is_short = !room};
    PyObject *found = NULL;
    int is_done = 1;
    put_text(&to, "[");
    for (size_t i = 0; i < walk->link_count && is_done && !to.is_short; i++) {
        const Link *link = &walk->links[i];
        if ((is_done = put_address(walk, link, bases, absolute, room, &to)) <= 0)
            continue;
        put_text(&to, "\",\"text\":\"");
        put_json(&to, words_of(walk, link, room, most));
        put_text(&to, walk->labels[link->node] == LABEL_TEMPLATE ? "\",\"template\":true}," : "\",\"template\":false},");
    }
    if (to.size > 1)
        to.size--; /* The last comma. */
    put_text(&to, "]");
    if (to.is_short && is_done)
        PyErr_NoMemory();
    else if (is_done)
        found = PyBytes_FromStringAndSize((const char *)to.bytes, (Py_ssize_t)to.size);
    free(room);
    free(to.bytes);
    return found;
}

/* --- memory --- */

static PyObject *links_of(const Tree *page, const int8_t *labels, const Bases *bases, PyObject *absolute)
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
    PyObject *found = write_links(&walk, bases, absolute);
    free(walk.links);
    return found;
}

PyObject *kernel_links(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    View labels;
    Bases bases;
    const Tree *tree = check_count("links", count, 4) ? given_tree(module, arguments[0]) : NULL;
    if (!tree || !read_bases(arguments[2], &bases))
        return NULL;
    if (!open_of_nodes(&labels, arguments[1], tree, 'B'))
        return NULL;
    PyObject *found = links_of(tree, labels.buffer.buf, &bases, arguments[3]);
    close_views(&labels, 1);
    return found;
}
