/* `shape`: the content of a page as HTML, in the shape that the parser's Markdown writer wants. The twin of
   all that `dehusk.render.as_markdown` does before it calls that writer. */

#include "sheet.h"

#include "escapes.h"

/* --- items --- */

int32_t new_item(Sheet *sheet, int16_t name)
{
    if (sheet->count == sheet->room) {
        size_t room = 2 * sheet->room + 16;
        Item *moved = room > INT32_MAX / 2 ? NULL : realloc(sheet->items, room * sizeof(Item));
        if (!moved) {
            PyErr_NoMemory();
            return -1;
        }
        sheet->items = moved;
        sheet->room = room;
    }
    sheet->items[sheet->count] = (Item){-1, -1, -1, -1, -1, 0, 0, name, 0};
    return (int32_t)sheet->count++;
}

int32_t new_element(Sheet *sheet, int name)
{
    return new_item(sheet, sheet->new_names[name]);
}

int32_t new_text(Sheet *sheet, const char *text)
{
    int32_t item = new_item(sheet, 0);
    size_t first = sheet->extras.size;
    if (item < 0)
        return item;
    put_text(&sheet->extras, text);
    set_extra(sheet, (size_t)item, first);
    sheet->items[item].flags |= IS_LITERAL;
    return item;
}

void set_extra(Sheet *sheet, size_t item, size_t first)
{
    if (sheet->extras.size > INT32_MAX) {
        sheet->is_refused = 1;
        return;
    }
    sheet->items[item].extra = (int32_t)first;
    sheet->items[item].extra_size = (int32_t)(sheet->extras.size - first);
}

/* --- what the page says --- */

static Bytes unescaped_in(Buffer *scratch, const uint8_t *bytes, size_t size, int is_raw)
{
    scratch->size = 0;
    uint8_t *room = room_in(scratch, size);
    if (!room)
        return (Bytes){(const uint8_t *)"", 0};
    if (is_raw)
        memcpy(room, bytes, size);
    else
        size = put_unescaped(bytes, size, room);
    return (Bytes){room, size};
}

Bytes text_of(Sheet *sheet, size_t node)
{
    size_t start = (size_t)sheet->page.start[node], stop = (size_t)sheet->page.stop[node];
    return unescaped_in(&sheet->scratch, sheet->page.source.bytes + start, stop - start,
                        sheet->raw[node]);
}

int attribute_of(Sheet *sheet, size_t node, const char *name, Bytes *value)
{
    Attribute found;
    Bytes source = sheet->page.source;
    if (!find_attribute(source, (size_t)sheet->page.start[node], (size_t)sheet->page.stop[node], name,
                        &found))
        return 0;
    *value = unescaped_in(&sheet->scratch, source.bytes + found.value, found.value_stop - found.value, 0);
    return 1;
}

int says_yes(PyObject *function, Bytes text)
{
    PyObject *words = as_text(text.bytes, text.size);
    PyObject *answer = words ? PyObject_CallFunctionObjArgs(function, words, NULL) : NULL;
    int is_yes = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(words);
    Py_XDECREF(answer);
    return is_yes;
}

/* --- the sheet --- */

/* Put a comment last into an element where one stands between two places of its source. What the Markdown
   writer does with an element may depend on it. 0 with an exception set. */
static int add_comment(Sheet *sheet, int32_t parent, size_t first, size_t behind)
{
    Bytes source = sheet->page.source;
    /* A line feed at the front of preformatted text is no text of it. */
    first += first < behind && source.bytes[first] == '\n';
    if (first >= behind)
        return 1;
    int32_t comment = new_item(sheet, 0);
    if (comment < 0)
        return 0;
    sheet->items[comment].flags |= IS_COMMENT;
    attach(sheet, comment, parent, -1);
    return 1;
}

/* How long an element's end tag is. */
static size_t end_tag_size(const Sheet *sheet, size_t node)
{
    Bytes source = sheet->page.source;
    size_t name = (size_t)sheet->page.start[node] + 1, stop = (size_t)sheet->page.stop[node] - 1;
    return find_byte(source, ' ', name, stop) - name + strlen("</>");
}

/* Put comments behind all else into elements; `done` is where the last of what they hold has ended. */
static int add_last_comments(Sheet *sheet, const int32_t *done)
{
    for (size_t place = 0; place < sheet->element_count; place++) {
        size_t node = (size_t)sheet->elements[place], close = (size_t)sheet->page.close[node];
        if (sheet->items[node].parent < 0 || (size_t)done[node] + strlen("</a>") >= close)
            continue;
        size_t size = end_tag_size(sheet, node);
        if (close > size && !add_comment(sheet, (int32_t)node, (size_t)done[node], close - size))
            return 0;
    }
    return 1;
}

/* All nodes of the page under the names that they get, those that stay linked as they are there; and a
   list of the kept elements. 0 with an exception set. */
static int lay_out(Sheet *sheet, int32_t *elements)
{
    const DraftPage *page = &sheet->page;
    int32_t *done = sheet->numbers;
    size_t reach = 0; /* Where all that was dropped so far has ended. */
    sheet->elements = elements;
    sheet->count = page->count;
    for (size_t i = 0; i < page->count; i++) {
        int32_t parent = page->parent[i];
        int is_kept = sheet->found.kept[i];
        sheet->items[i] = (Item){-1, -1, -1, -1, -1, 0, 0, sheet->renamed[page->tag[i]], 0};
        done[i] = page->stop[i];
        if (i >= reach && parent >= 0) {
            if (done[parent] < page->start[i] &&
                !add_comment(sheet, parent, (size_t)done[parent], (size_t)page->start[i]))
                return 0;
            done[parent] = page->close[i];
            if (is_kept)
                attach(sheet, (int32_t)i, parent, -1);
        }
        if (!is_kept && (size_t)page->end[i] > reach)
            reach = (size_t)page->end[i];
        if (is_kept && page->tag[i]) {
            elements[sheet->element_count++] = (int32_t)i;
            sheet->present |= kind_of(sheet, i);
        }
    }
    return add_last_comments(sheet, done);
}

/* Which kinds of kept elements each kept element is or holds. From the last one on: `next` is where the
   next one of a kind stands behind it, or at it. */
static void find_held(Sheet *sheet)
{
    static const uint32_t kinds[] = {IS_BLOCK, IS_FIXED, IS_BREAK, IS_HEADING};
    size_t next[4] = {SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX};
    for (size_t place = sheet->element_count; place-- > 0;) {
        size_t node = (size_t)sheet->elements[place], end = (size_t)sheet->page.end[node];
        uint32_t kind = kind_of(sheet, node);
        uint8_t held = 0;
        for (size_t k = 0; k < 4; k++) {
            if (kind & kinds[k])
                next[k] = node;
            if (next[k] < end)
                held |= (uint8_t)(1 << k);
        }
        sheet->held[node] = held;
    }
}

/* The body of the page; -1 if there is content elsewhere, or elements are nested too deep. */
static int32_t find_body(const Sheet *sheet)
{
    const DraftPage *page = &sheet->page;
    int32_t body = -1;
    if (memcmp(sheet->found.ends, page->end, page->count * sizeof(*page->end)) != 0)
        return -1;
    for (int32_t child = 1; child < page->end[0]; child = page->end[child]) {
        if (!sheet->found.inked[child])
            continue;
        size_t start = (size_t)page->start[child];
        if (body >= 0 ||
            !(stands_at(page->source, start, "<body>") || stands_at(page->source, start, "<body ")))
            return -1;
        body = child;
    }
    return body;
}

/* The steps of `as_markdown._shape`; 0 with an exception set. */
static int shape(Sheet *sheet, int32_t *elements)
{
    if (!lay_out(sheet, elements))
        return 0;
    find_held(sheet);
    return mend_texts(sheet) && shape_blocks(sheet) && shape_code(sheet) && shape_tables(sheet) &&
           part_paragraphs(sheet) && shape_definitions(sheet) && mark_exponents(sheet) &&
           flatten_emphasis(sheet) && place_images(sheet) && point_links(sheet) && protect_code(sheet);
}

/* Does the page have characters that begin like those which stand in for others in code? */
static int has_reserved(Bytes source)
{
    for (size_t at = 0; (at = find_byte(source, 0xEF, at, source.size)) + 1 < source.size; at++)
        if (source.bytes[at + 1] == 0xB7)
            return 1;
    return 0;
}

/* The page as HTML, '' without content, or None where the twin must be asked; NULL with an exception. */
static PyObject *shaped(Sheet *sheet, int32_t *images, int32_t *elements)
{
    Buffer to = {0};
    PyObject *html = NULL;
    if (has_reserved(sheet->page.source))
        Py_RETURN_NONE;
    if (!find_marks(sheet, images, sheet->numbers) || !draft_page(&sheet->page, &sheet->found))
        return NULL;
    if (!sheet->found.inked[0])
        return as_text((const uint8_t *)"", 0);
    int32_t body = find_body(sheet);
    if (body < 0)
        Py_RETURN_NONE;
    if (!shape(sheet, elements))
        return NULL;
    if (!sheet->is_refused)
        write_sheet(sheet, body, &to);
    if (to.is_short || sheet->extras.is_short || sheet->scratch.is_short)
        PyErr_NoMemory();
    else
        html = sheet->is_refused ? Py_NewRef(Py_None) : as_text(to.bytes, to.size);
    free(to.bytes);
    return html;
}

/* --- memory --- */

static PyObject *in_memory(Sheet *sheet)
{
    size_t nodes = sheet->page.count;
    if (nodes > INT32_MAX / 2 / sizeof(Item))
        return PyErr_NoMemory();
    char *memory = malloc((nodes + 1) * (6 * sizeof(int32_t) + DRAFTED_BYTES + 3));
    sheet->room = nodes + 64;
    sheet->items = malloc(sheet->room * sizeof(Item));
    PyObject *html = NULL;
    if (memory && sheet->items && room_in(&sheet->extras, 1) && room_in(&sheet->scratch, 1)) {
        int32_t *images = (int32_t *)memory, *elements = images + nodes + 1;
        sheet->numbers = elements + nodes + 1;
        sheet->found = drafted_in(sheet->numbers + 4 * (nodes + 1), nodes);
        sheet->held = sheet->found.is_cut + nodes;
        sheet->in_data = sheet->held + nodes;
        sheet->in_fixed = sheet->in_data + nodes;
        html = shaped(sheet, images, elements);
    } else {
        PyErr_NoMemory();
    }
    free(memory);
    free(sheet->items);
    free(sheet->extras.bytes);
    free(sheet->scratch.bytes);
    return html;
}

/* Is every tag one of the table, and every end behind its node? 0 with an exception set. */
static int fits(const Sheet *sheet)
{
    const DraftPage *page = &sheet->page;
    for (size_t i = 0; i < page->count; i++)
        if (page->tag[i] < 0 || (size_t)page->tag[i] >= sheet->tags || page->end[i] <= (int32_t)i ||
            (size_t)page->end[i] > page->count || (page->tag[i] && page->stop[i] - page->start[i] < 3)) {
            PyErr_SetString(PyExc_ValueError, "shape: a node lies outside of the tree");
            return 0;
        }
    for (size_t i = 0; i < sheet->tags + NEW_NAMES; i++) {
        int16_t name = i < sheet->tags ? sheet->renamed[i] : sheet->new_names[i - sheet->tags];
        if (name < 0 || (size_t)name >= sheet->tags || (i == 0) != (name == 0)) {
            PyErr_SetString(PyExc_ValueError, "shape: no such tag");
            return 0;
        }
    }
    return 1;
}

#define ASKED 4
#define GIVEN 20

PyObject *kernel_shape(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    static const Py_ssize_t sizes[] = {2, 4, 4, 4, 4, 4, 4, 1, 1, 1}, tag_sizes[] = {4, 2, NAME_BYTES};
    View views[GIVEN];
    if ((count < ASKED && !check_count("shape", count, ASKED)) ||
        !open_all("shape", views, GIVEN, arguments + ASKED, count - ASKED))
        return NULL;
    const View *tree = views + 10;
    Py_ssize_t nodes = tree[9].buffer.len, tags = views[6].buffer.len / 4;
    DraftPage page = {bytes_of(&views[3]), tree[0].buffer.buf, tree[1].buffer.buf, tree[2].buffer.buf,
                      tree[3].buffer.buf,  tree[4].buffer.buf, tree[5].buffer.buf, tree[6].buffer.buf,
                      tree[7].buffer.buf,  tree[9].buffer.buf, bytes_of(&views[4]), bytes_of(&views[5]),
                      NULL, NULL, 0, 0, (size_t)nodes};
    Sheet sheet = {
        .page = page, .raw = tree[8].buffer.buf, .kinds = views[6].buffer.buf,
        .renamed = views[7].buffer.buf, .names = views[8].buffer.buf, .tags = (size_t)tags,
        .new_names = views[9].buffer.buf,
        .bases = {bytes_of(&views[0]), bytes_of(&views[1]), bytes_of(&views[2])},
        .absolute = arguments[0], .language = arguments[1], .is_word = arguments[2],
        .is_power = arguments[3],
    };
    static const Py_ssize_t new_sizes[] = {2};
    PyObject *html = NULL;
    if (check_sizes("shape", tree, sizes, 10, nodes) &&
        check_sizes("shape", views + 6, tag_sizes, 3, tags) &&
        check_sizes("shape", views + 9, new_sizes, 1, NEW_NAMES) && is_tree(&sheet.page) && fits(&sheet))
        html = nodes ? in_memory(&sheet) : as_text((const uint8_t *)"", 0);
    close_views(views, GIVEN);
    return html;
}
