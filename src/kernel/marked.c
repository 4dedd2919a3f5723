/* `marked`: where a page may show its dates and its authors, as `dehusk.answer.shown` asks. */

#include "tree.h"

#include "addresses.h"
#include "stated.h"
#include "tags.h"
#include "white.h"

#define CLASSES_ABOVE 4 /* Elements whose classes make a place. */
#define MAX_CLASSES 500 /* Bytes of them: each mark reads them again. */
#define MAX_BYTES 4000 /* Of an element that says something short: each may stand in many others. */

#define MIN_TAG 9 /* Bytes of a start tag with an attribute, and of `<time>`, which has one if it says a date. */
#define LEAD_TEXT 60  /* Characters of the content's first text that is more than a byline. */
#define BEFORE_HEAD 40 /* Nodes before the headline, and behind the first of the lead, that are near. */
#define BEHIND_LEAD 15
#define FAR_FROM_HEAD 400 /* Nodes before the headline, and behind the content, that are looked at. */
#define BEHIND_CONTENT 150

/* Where a node stands, seen from the headline. */
typedef enum { UNKNOWN, FAR_BEFORE, JUST_BEFORE, IN_HEAD, LATER } Where;

/* What a mark has: a date in its text or its value, a byline's first words, a name or a link of an author. */
enum { HAS_DATE = 1, IS_BYLINE = 2, NAMES_AUTHOR = 4 };

#define MAX_LINES 64
#define PREFIX 3
#define LOW_FIVE 0x1F /* Bits of a byte that are the same in capital and in small letters. */

/* Lines in small letters, and which of them have a byte with these low bits first, second and third. */
typedef struct {
    Bytes lines[MAX_LINES];
    size_t count;
    uint64_t having[PREFIX][LOW_FIVE + 1];
} Lines;

/* What is looked for. */
typedef struct {
    const Tree *tree;
    const int8_t *labels;
    long headline; /* Its node; -1 for none. */
    size_t lead;   /* The first node behind the article's head. */
    long wanted;   /* What is wanted of the marks below, together. */
    Lines names;      /* Pieces of the names of elements that hold authors, and of those that hold dates. */
    uint64_t authors; /* Which of them, as bits, are those of authors. */
    Lines starts;     /* What texts begin with that name an author. */
    Lines links;      /* What the addresses of authors hold. */
    int max_text;
    Py_ssize_t max_marks;
    PyObject *found;
} Search;

/* Read lines that each end with a line end and have three bytes or more before it; 0 for others. */
static int read_lines(Bytes lines, Lines *to)
{
    for (size_t at = 0, end; at < lines.size; at = end + 1, to->count++) {
        end = find_byte(lines, '\n', at, lines.size);
        if (to->count == MAX_LINES || end - at < PREFIX)
            return 0;
        to->lines[to->count] = (Bytes){lines.bytes + at, end - at};
        for (size_t i = 0; i < PREFIX; i++)
            to->having[i][lines.bytes[at + i] & LOW_FIVE] |= UINT64_C(1) << to->count;
    }
    return 1;
}

/* Which of the lines, as bits, stand at a place that has so many bytes, whatever the case of their letters. */
static inline uint64_t standing_at(const Lines *lines, const uint8_t *at, size_t left)
{
    uint64_t found = 0, like = left < PREFIX ? 0 : lines->having[0][at[0] & LOW_FIVE] &
                                                       lines->having[1][at[1] & LOW_FIVE] &
                                                       lines->having[2][at[2] & LOW_FIVE];
    for (size_t i = 0; like; i++, like >>= 1) {
        Bytes line = lines->lines[i];
        size_t same = 0;
        if (!(like & 1) || left < line.size)
            continue;
        while (same < line.size && line.bytes[same] == lower(at[same]))
            same++;
        found |= (uint64_t)(same == line.size) << i;
    }
    return found;
}

/* Which of the lines, as bits, the value holds. */
static uint64_t held_lines(const Search *search, const Lines *lines, const Attribute *attribute)
{
    const uint8_t *bytes = search->tree->source.bytes;
    uint64_t found = 0;
    for (size_t i = attribute->value; i < attribute->value_stop; i++)
        found |= standing_at(lines, bytes + i, attribute->value_stop - i);
    return found;
}

static int is_digit(Bytes source, size_t at, size_t stop)
{
    return at < stop && source.bytes[at] >= '0' && source.bytes[at] <= '9';
}

static size_t digits_at(Bytes source, size_t at, size_t stop)
{
    size_t count = 0;
    while (is_digit(source, at + count, stop))
        count++;
    return count;
}

/* Has the text a year and a day, or days, months and years with a sign between them? */
static int may_hold_date(Bytes source, size_t at, size_t stop)
{
    int has_year = 0, has_day = 0;
    for (;;) {
        while (at < stop && !is_digit(source, at, stop))
            at++;
        if (at == stop)
            return 0;
        size_t count = digits_at(source, at, stop);
        const uint8_t *digits = source.bytes + at;
        at += count;
        /* Times are written without signs between them too: 20240502. */
        has_year |= (count == 4 || count >= 8) &&
                    (memcmp(digits, "19", 2) == 0 || memcmp(digits, "20", 2) == 0);
        has_day |= count <= 2 || count >= 8;
        if (has_year && has_day)
            return 1;
        if (count > 2 || at >= stop || !strchr("./-", source.bytes[at]))
            continue;
        size_t month = digits_at(source, at + 1, stop), behind = at + 1 + month;
        if (month && month <= 2 && behind < stop && source.bytes[behind] == source.bytes[at] &&
            is_digit(source, behind + 1, stop))
            return 1;
    }
}

/* Has the text, tags and all, a year? */
static int may_hold_year(Bytes source, size_t at, size_t stop)
{
    for (; at + 4 <= stop; at++)
        if ((memcmp(source.bytes + at, "19", 2) == 0 || memcmp(source.bytes + at, "20", 2) == 0) &&
            digits_at(source, at, stop) == 4)
            return 1;
    return 0;
}

/* --- what is found --- */

static Where where_is(const Search *search, size_t node)
{
    if (search->headline < 0)
        return UNKNOWN;
    size_t headline = (size_t)search->headline;
    if (node < headline)
        return node + BEFORE_HEAD > headline ? JUST_BEFORE : FAR_BEFORE;
    return node < search->lead ? IN_HEAD : LATER;
}

/* The path of a node and the classes of the nearest elements, without their digits: numbers in them differ
   from page to page. */
static uint64_t place_of(const Tree *page, size_t node)
{
    uint64_t place = page->path_hash[node];
    int32_t at = (int32_t)node;
    for (int level = 0; level < CLASSES_ABOVE && at >= 0; at = page->parent[at]) {
        Attribute classes;
        if (page->tag[at] == TAG_TEXT)
            continue;
        place = mix(place + (uint64_t)++level);
        if (!find_attribute(page->source, (size_t)page->start[at], (size_t)page->stop[at], "class", &classes))
            continue;
        size_t stop = classes.value + MAX_CLASSES;
        for (size_t i = classes.value; i < classes.value_stop && i < stop; i++)
            if (!is_digit(page->source, i, stop))
                place = place * PATH_FACTOR + page->source.bytes[i];
    }
    return mix(place);
}

/* Append a node with its label, its path, its place, what it has, where it is, the names of its element, what
   an attribute says, and what is said up to before `stop`. */
static int append_mark(const Search *search, size_t node, long has, size_t stop, PyObject *names,
                       PyObject *value)
{
    PyObject *items[] = {PyLong_FromSize_t(node),
                         PyLong_FromLong(search->labels[node]),
                         PyLong_FromUnsignedLongLong(search->tree->path_hash[node]),
                         PyLong_FromUnsignedLongLong(place_of(search->tree, node)),
                         PyLong_FromLong(has),
                         PyLong_FromLong(where_is(search, node)),
                         names,
                         value,
                         said_in_line(search->tree, node, stop)};
    size_t count = sizeof(items) / sizeof(*items), made = 0;
    while (made < count && items[made])
        made++;
    PyObject *mark = made == count ? PyTuple_Pack((Py_ssize_t)count, items[0], items[1], items[2], items[3],
                                                  items[4], items[5], items[6], items[7], items[8])
                                   : NULL;
    int is_done = mark && PyList_Append(search->found, mark) == 0;
    for (size_t i = 0; i < count; i++)
        Py_XDECREF(items[i]);
    Py_XDECREF(mark);
    return is_done;
}

static int is_short(const Search *search, size_t node)
{
    const Tree *page = search->tree;
    return page->text_length[node] <= search->max_text && page->close[node] - page->start[node] <= MAX_BYTES;
}

/* One behind the byline that a text begins: behind the nearest element with more text, where that is short, else
   behind the text: 'By' may have an element of its own. */
static size_t byline_end(const Search *search, size_t node)
{
    const Tree *page = search->tree;
    size_t last = node;
    while (page->text_length[last] == page->text_length[node] && page->parent[last] >= 0 &&
           is_short(search, (size_t)page->parent[last]))
        last = (size_t)page->parent[last];
    return (size_t)page->end[last];
}

static int add_text(const Search *search, size_t node)
{
    const Tree *page = search->tree;
    size_t at = (size_t)page->start[node], stop = (size_t)page->stop[node];
    if (page->text_length[node] <= 0 || !page->shown[node] || page->raw[node] || !is_short(search, node))
        return 1;
    for (size_t white; at < stop && (white = white_at(page->source.bytes + at, stop - at)); at += white)
        ;
    int is_byline = search->wanted & IS_BYLINE && standing_at(&search->starts, page->source.bytes + at, stop - at);
    int has_date = search->wanted & HAS_DATE && may_hold_date(page->source, at, stop);
    if (!is_byline && !has_date)
        return 1;
    return append_mark(search, node, (has_date ? HAS_DATE : 0) | (is_byline ? IS_BYLINE : 0),
                       is_byline ? byline_end(search, node) : node + 1, PyTuple_New(0),
                       as_text((const uint8_t *)"", 0));
}

/* The attributes of an element that may say what it holds; one that is not there has no length. */
enum { CLASS, ID, ITEMPROP, REL, HREF, TEST_ID, NAMES };
typedef struct {
    Attribute names[NAMES], value;
    int is_author, is_date;
} Names;

/* Which of the attributes above it is; NAMES for none. Names differ in their length or their first byte. */
static int name_number(Bytes source, const Attribute *found)
{
    static const char *const named[NAMES] = {"class", "id", "itemprop", "rel", "href", "data-testid"};
    static const uint8_t sizes[NAMES] = {5, 2, 8, 3, 4, 11};
    size_t size = found->name_stop - found->name;
    for (int i = 0; i < NAMES; i++)
        if (size == sizes[i] && memcmp(source.bytes + found->name, named[i], size) == 0)
            return i;
    return NAMES;
}

static Names names_of(const Search *search, size_t node)
{
    Bytes source = search->tree->source;
    size_t at = (size_t)search->tree->start[node], stop = (size_t)search->tree->stop[node];
    Names names = {{{0, 0, 0, 0}}, {0, 0, 0, 0}, 0, search->tree->tag[node] == TAG_time};
    for (Attribute found; next_attribute(source, &at, stop, &found);) {
        int number = name_number(source, &found);
        if (number == HREF) {
            /* Lists and comments link to many authors. */
            if (node < search->lead && search->wanted & NAMES_AUTHOR &&
                held_lines(search, &search->links, &found)) {
                names.names[HREF] = found;
                names.is_author = 1;
            }
        } else if (number < NAMES) {
            names.names[number] = found;
            uint64_t held = held_lines(search, &search->names, &found);
            names.is_author |= search->wanted & NAMES_AUTHOR && held & search->authors;
            names.is_date |= search->wanted & HAS_DATE && held & ~search->authors;
        } else if (is_named(source, &found, "datetime") ||
                   (!names.value.name &&
                    (is_named(source, &found, "content") || is_named(source, &found, "title")))) {
            names.value = found;
        }
    }
    return names;
}

static PyObject *values_of(const Tree *page, const Attribute *attributes, Py_ssize_t count)
{
    PyObject *values = PyTuple_New(count);
    for (Py_ssize_t i = 0; values && i < count; i++) {
        PyObject *value = meant_value(page, &attributes[i]);
        if (!value || PyTuple_SetItem(values, i, value) < 0)
            Py_CLEAR(values);
    }
    return values;
}

/* May the value of an attribute, or texts of several elements together, be a date? One text alone is a mark
   of its own. */
static int has_date(const Tree *page, size_t node, const Attribute *value)
{
    if (may_hold_date(page->source, value->value, value->value_stop))
        return 1;
    return page->end[node] - (int32_t)node > 2 && page->text_length[node] > 0 &&
           may_hold_year(page->source, (size_t)page->stop[node], (size_t)page->close[node]);
}

static int add_marked(const Search *search, size_t node)
{
    const Tree *page = search->tree;
    int has_value = page->tag[node] == TAG_time || page->tag[node] == TAG_meta;
    if (page->stop[node] - page->start[node] < MIN_TAG || (page->text_length[node] <= 0 && !has_value) ||
        !is_short(search, node))
        return 1;
    Names names = names_of(search, node);
    long has = names.is_author ? NAMES_AUTHOR : 0;
    if (search->wanted & HAS_DATE && names.is_date && has_date(page, node, &names.value))
        has |= HAS_DATE;
    if (!has || (page->text_length[node] <= 0 && names.value.value == names.value.value_stop))
        return 1;
    return append_mark(search, node, has, (size_t)page->end[node], values_of(page, names.names, NAMES),
                       meant_value(page, &names.value));
}

/* The first long text of the content behind the headline; the page's end where there is none. */
static size_t lead_of(const Search *search)
{
    const Tree *page = search->tree;
    for (size_t i = search->headline < 0 ? 0 : (size_t)search->headline; i < page->count; i++)
        if (page->tag[i] == TAG_TEXT && search->labels[i] == LABEL_CONTENT &&
            page->text_length[i] > LEAD_TEXT)
            return i;
    return page->count;
}

/* The first node that is far behind the content: what stands there is not the article's. */
static size_t end_of_content(const Search *search)
{
    const Tree *page = search->tree;
    size_t i = page->count;
    while (i > 0 && !(page->tag[i - 1] == TAG_TEXT && search->labels[i - 1] == LABEL_CONTENT &&
                      page->text_length[i - 1] > 0))
        i--;
    return i == 0 || i + BEHIND_CONTENT > page->count ? page->count : i + BEHIND_CONTENT;
}

static PyObject *marks_of_page(Search *search, int is_head_only)
{
    const Tree *page = search->tree;
    size_t first = 0, stop = is_head_only ? page->count : end_of_content(search);
    long before = is_head_only ? BEFORE_HEAD : FAR_FROM_HEAD;
    size_t lead = lead_of(search);
    search->lead = lead + BEHIND_LEAD < page->count ? lead + BEHIND_LEAD : page->count;
    if (search->headline > before)
        first = (size_t)(search->headline - before);
    if (is_head_only && search->headline >= 0)
        stop = search->lead;
    search->found = PyList_New(0);
    for (size_t i = first; search->found && i < stop && PyList_Size(search->found) < search->max_marks; i++)
        if (!(page->tag[i] == TAG_TEXT ? add_text(search, i) : add_marked(search, i)))
            Py_CLEAR(search->found);
    return search->found;
}

static int given_lines(PyObject *object, Lines *lines)
{
    char *bytes;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(object, &bytes, &size) < 0)
        return 0;
    if (read_lines((Bytes){(const uint8_t *)bytes, (size_t)size}, lines))
        return 1;
    PyErr_SetString(PyExc_ValueError, "marked: too many lines, or one that is too short");
    return 0;
}

PyObject *kernel_marked(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    Search search = {0};
    View labels;
    search.tree = check_count("marked", count, 11) ? given_tree(module, arguments[0]) : NULL;
    if (!search.tree || !given_lines(arguments[2], &search.names))
        return NULL;
    for (size_t i = 0; i < search.names.count; i++)
        search.authors |= UINT64_C(1) << i;
    if (!given_lines(arguments[3], &search.names) || !given_lines(arguments[4], &search.starts) ||
        !given_lines(arguments[5], &search.links))
        return NULL;
    search.headline = PyLong_AsLong(arguments[6]);
    search.wanted = PyLong_AsLong(arguments[8]);
    search.max_text = (int)PyLong_AsLong(arguments[9]);
    search.max_marks = PyLong_AsSsize_t(arguments[10]);
    if (PyErr_Occurred() || !open_of_nodes(&labels, arguments[1], search.tree, 'B'))
        return NULL;
    search.labels = labels.buffer.buf;
    PyObject *found = marks_of_page(&search, PyObject_IsTrue(arguments[7]));
    close_views(&labels, 1);
    return found;
}
