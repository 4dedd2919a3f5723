/* `images`: the images of a page, each with what a memory knows it by; `image_source`: where one is loaded from. */

#include "images.h"

#include "addresses.h"
#include "buffer.h"
#include "escapes.h"

/* How much speaks for an address: its place among the attributes that hold one alone, a density, or a width. */
#define OF_DENSITY 10.0
#define OF_WIDTH 1e8
#define MAX_SIZE 1e6
#define MAX_SOURCES 32 /* Nodes before the image in its `<picture>`. */

/* The address that most speaks for, in the source. */
typedef struct {
    size_t at, stop;
    double worth;
} Candidate;

/* Values that scripts would fill in are none, nor are placeholders in `data:`. */
static void offer(Bytes source, size_t at, size_t stop, double worth, Candidate *best)
{
    while (at < stop && is_white(source.bytes[at]))
        at++;
    while (stop > at && is_white(source.bytes[stop - 1]))
        stop--;
    Bytes url = {source.bytes + at, stop - at};
    if (worth > best->worth && url.size && url.bytes[0] != '{' && url.bytes[0] != '[' && !leads_nowhere(url))
        *best = (Candidate){at, stop, worth};
}

/* What speaks for a candidate of a set, by what stands behind its address: `640w`, `1.5x`, or nothing. */
static double worth_said(Bytes source, size_t at, size_t stop)
{
    double number = 0, unit = 1;
    int is_behind_point = 0;
    while (at < stop && is_white(source.bytes[at]))
        at++;
    for (; at < stop; at++) {
        uint8_t byte = source.bytes[at];
        if (byte == '.')
            is_behind_point = 1;
        else if (byte < '0' || byte > '9')
            break;
        else if (is_behind_point)
            number += (unit /= 10) * (byte - '0');
        else if (number < MAX_SIZE)
            number = 10 * number + (byte - '0');
    }
    return at < stop && lower(source.bytes[at]) == 'w' ? OF_WIDTH + number : OF_DENSITY + (number > 0 ? number : 1);
}

/* Addresses may hold commas; only one at the end of an address, or behind what is said of it, ends a candidate. */
static void offer_set(Bytes source, size_t at, size_t stop, Candidate *best)
{
    while (at < stop) {
        while (at < stop && (is_white(source.bytes[at]) || source.bytes[at] == ','))
            at++;
        size_t first = at;
        while (at < stop && !is_white(source.bytes[at]))
            at++;
        size_t behind = at;
        while (behind > first && source.bytes[behind - 1] == ',')
            behind--;
        size_t next = behind < at ? at : find_byte(source, ',', at, stop);
        offer(source, first, behind, worth_said(source, behind, behind < at ? behind : next), best);
        at = next;
    }
}

static void offer_attributes(const Tree *tree, size_t node, Candidate *best)
{
    static const struct {
        const char *name;
        size_t size;
        double worth; /* 0 for a set. */
    } sources[] = {
        {"src", 3, 1},    {"data-original", 13, 2}, {"data-lazy-src", 13, 3},    {"data-src", 8, 4},
        {"srcset", 6, 0}, {"data-srcset", 11, 0},   {"data-lazy-srcset", 16, 0},
    };
    Bytes source = tree->source;
    size_t at = (size_t)tree->start[node], stop = (size_t)tree->stop[node];
    Attribute found;
    while (next_attribute(source, &at, stop, &found))
        for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
            if (found.name_stop - found.name != sources[i].size ||
                memcmp(source.bytes + found.name, sources[i].name, sources[i].size) != 0)
                continue;
            if (sources[i].worth > 0)
                offer(source, found.value, found.value_stop, sources[i].worth, best);
            else
                offer_set(source, found.value, found.value_stop, best);
        }
}

/* The `<picture>` that an image is the first one of; -1 for none. */
static int32_t picture_of(const Tree *tree, size_t node)
{
    int32_t picture = tree->parent[node], at = picture + 1;
    if (picture < 0 || tree->tag[picture] != TAG_picture)
        return -1;
    for (int seen = 0; at < (int32_t)node && seen < MAX_SOURCES && !is_image(tree, (size_t)at); seen++)
        at = tree->end[at];
    return at == (int32_t)node ? picture : -1;
}

int find_image_source(const Tree *tree, size_t node, Bytes *written)
{
    Candidate best = {0};
    int32_t picture = picture_of(tree, node);
    offer_attributes(tree, node, &best);
    for (int32_t i = picture + 1; picture >= 0 && i < (int32_t)node; i = tree->end[i])
        if (tree->tag[i] == TAG_source)
            offer_attributes(tree, (size_t)i, &best);
    *written = (Bytes){tree->source.bytes + best.at, best.stop - best.at};
    return best.worth > 0;
}

/* --- what a memory knows images by --- */

/* What relative addresses are relative to: a URL without its scheme, up to its last slash, and the length of its host. */
typedef struct {
    Bytes whole;
    size_t host;
} Folder;

static size_t web_scheme(Bytes url)
{
    return stands_at(url, 0, "http:") ? 5 : stands_at(url, 0, "https:") ? 6 : 0;
}

/* The folder of a page. */
static Folder folder_of(Bytes url)
{
    size_t scheme = web_scheme(url), front = scheme ? scheme + 2 : stands_at(url, 0, "file:") ? 5 : 0;
    front = front < url.size ? front : url.size;
    url = (Bytes){url.bytes + front, find_either(url, '?', '#', front, url.size) - front};
    size_t host = scheme ? find_byte(url, '/', 0, url.size) : 0;
    while (url.size > host && url.bytes[url.size - 1] != '/')
        url.size--;
    return (Folder){url, host};
}

/* Put down an address without its scheme, a relative one behind the folder of its page: `../up.png` is the same image
   wherever it stands. */
static void put_absolute(Folder folder, Bytes url, Buffer *to)
{
    size_t scheme = web_scheme(url);
    url = (Bytes){url.bytes + scheme, url.size - scheme};
    int has_host = stands_at(url, 0, "//");
    while (!has_host && stands_at(url, 0, ".")) {
        size_t up = stands_at(url, 0, "../") ? 3 : stands_at(url, 0, "./") ? 2 : 0;
        if (!up)
            break;
        url = (Bytes){url.bytes + up, url.size - up};
        if (up == 2 || folder.whole.size <= folder.host + (folder.host > 0))
            continue;
        do
            folder.whole.size--;
        while (folder.whole.size > folder.host && folder.whole.bytes[folder.whole.size - 1] != '/');
    }
    int is_of_host = url.size && url.bytes[0] == '/';
    to->size = 0;
    if (has_host)
        url = (Bytes){url.bytes + 2, url.size - 2};
    else
        put(to, folder.whole.bytes, is_of_host ? folder.host : folder.whole.size);
    if (!has_host && !is_of_host && folder.host && folder.whole.size == folder.host)
        put(to, "/", 1);
    put(to, url.bytes, url.size);
}

/* Unescaped, in `room`; nothing without memory. */
static Bytes unescaped_in(Buffer *room, Bytes written)
{
    room->size = 0;
    uint8_t *to = room_in(room, written.size);
    return (Bytes){to, to ? put_unescaped(written.bytes, written.size, to) : 0};
}

/* The nodes of the images that a page shows, and their keys. Buffers are short without memory. */
static void find_images(const Tree *tree, Bytes page, Buffer *nodes, Buffer *keys)
{
    Folder folder = folder_of(page);
    Buffer url = {0}, room = {0};
    Bytes written;
    for (size_t i = 0; i < tree->count; i++) {
        if (!is_image(tree, i) || !tree->shown[i] || !find_image_source(tree, i, &written))
            continue;
        int32_t node = (int32_t)i;
        put_absolute(folder, unescaped_in(&url, written), &room);
        uint64_t key = mix(hash_run((Bytes){room.bytes, room.size}, 0, room.size) + PATH_FACTOR); /* No text has it. */
        put(nodes, &node, sizeof(node));
        put(keys, &key, sizeof(key));
    }
    keys->is_short |= url.is_short | room.is_short;
    free(url.bytes);
    free(room.bytes);
}

PyObject *kernel_images(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    const Tree *tree = check_count("images", count, 2) ? given_tree(module, arguments[0]) : NULL;
    Buffer nodes = {0}, keys = {0};
    PyObject *found = NULL;
    View page;
    if (!tree || !open_array(&page, arguments[1], 'B'))
        return NULL;
    find_images(tree, bytes_of(&page), &nodes, &keys);
    close_views(&page, 1);
    if (nodes.is_short || keys.is_short)
        PyErr_NoMemory();
    else
        found = Py_BuildValue("(NN)", PyByteArray_FromStringAndSize((const char *)nodes.bytes, (Py_ssize_t)nodes.size),
                              PyByteArray_FromStringAndSize((const char *)keys.bytes, (Py_ssize_t)keys.size));
    free(nodes.bytes);
    free(keys.bytes);
    return found;
}

PyObject *kernel_image_source(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    const Tree *tree = check_count("image_source", count, 2) ? given_tree(module, arguments[0]) : NULL;
    size_t node = tree ? PyLong_AsSize_t(arguments[1]) : 0;
    PyObject *found = NULL;
    Buffer room = {0};
    Bytes written;
    if (!tree || PyErr_Occurred())
        return NULL;
    if (node >= tree->count)
        return PyErr_Format(PyExc_IndexError, "node %zu of a page of %zu", node, tree->count);
    if (!find_image_source(tree, node, &written))
        Py_RETURN_NONE;
    uint8_t *to = room_in(&room, written.size);
    if (to)
        found = as_text(to, put_unescaped(written.bytes, written.size, to));
    free(room.bytes);
    return to ? found : PyErr_NoMemory();
}
