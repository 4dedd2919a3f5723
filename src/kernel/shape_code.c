/* The code of a sheet: blocks with their language, and pieces in running text. The twin of
   `dehusk.render.blocks.shape_code`, which says why, and of `as_markdown._protect_code`. */

#include "sheet.h"

enum {
    LANGUAGE_LEVELS = 6,  /* `blocks._LANGUAGE_LEVELS`. */
    MAX_BESIDE_CODE = 20, /* `blocks._MAX_BESIDE_CODE`. */
    MAX_FRONT = 20,       /* `blocks._MAX_FRONT`. */
};

/* --- languages --- */

/* Is any mark of a language written in a start tag? `blocks._MARKS`. */
static int may_say_language(Bytes source, size_t start, size_t stop)
{
    for (size_t at = start; at < stop; at++) {
        uint8_t byte = source.bytes[at];
        size_t left = stop - at;
        if ((byte == 'l' && left >= 4 && memcmp(source.bytes + at, "lang", 4) == 0) ||
            (byte == 'h' && left >= 10 && memcmp(source.bytes + at, "highlight-", 10) == 0) ||
            (byte == 'b' && left >= 6 && memcmp(source.bytes + at, "brush:", 6) == 0))
            return 1;
    }
    return 0;
}

/* Give a block of code the language that an element is marked with: 1, 0 if it has none, or -1 with an
   exception set. */
static int take_language(Sheet *sheet, size_t block, size_t node, int is_around)
{
    size_t start = (size_t)sheet->page.start[node], stop = (size_t)sheet->page.stop[node];
    if (!may_say_language(sheet->page.source, start, stop))
        return 0;
    PyObject *tag = PyBytes_FromStringAndSize((const char *)sheet->page.source.bytes + start,
                                              (Py_ssize_t)(stop - start));
    PyObject *found = NULL, *bytes = NULL;
    if (tag)
        found = PyObject_CallFunctionObjArgs(sheet->language, tag, is_around ? Py_True : Py_False, NULL);
    int answer = found ? found != Py_None : -1;
    if (answer > 0) {
        size_t first = sheet->extras.size;
        bytes = PyUnicode_AsEncodedString(found, "utf-8", "surrogatepass");
        if (bytes) {
            put_escaped(&sheet->extras, (const uint8_t *)PyBytes_AsString(bytes),
                        (size_t)PyBytes_Size(bytes));
            set_extra(sheet, block, first);
            sheet->items[block].flags |= HAS_EXTRA;
        } else {
            answer = -1;
        }
    }
    Py_XDECREF(tag);
    Py_XDECREF(found);
    Py_XDECREF(bytes);
    return answer;
}

/* Give a block the language of an element around it, once `known`: by element 0 at first, then -1 where
   it has none, or a block that has its language, and 1. As `take_language`. */
static int take_around(Sheet *sheet, size_t block, size_t around, int32_t *known)
{
    if (known[around] > 0) {
        const Item *other = &sheet->items[known[around] - 1];
        sheet->items[block].extra = other->extra;
        sheet->items[block].extra_size = other->extra_size;
        sheet->items[block].flags |= HAS_EXTRA;
        return 1;
    }
    if (known[around] < 0)
        return 0;
    int answer = take_language(sheet, block, around, 1);
    known[around] = answer > 0 ? (int32_t)block + 1 : -1;
    return answer;
}

/* Give a block its language; `outside` is the length of texts in no block, before each node. 0 with an
   exception set. */
static int find_language(Sheet *sheet, size_t node, const int32_t *outside, int32_t *known)
{
    const DraftPage *page = &sheet->page;
    size_t below = node + 1, end = (size_t)page->end[node];
    int answer = 0;
    if (below < end && page->tag[below] == 0 && page->text_length[below] == 0)
        below++;
    if (below < end && kept_kind(sheet, below) & IS_CODE) {
        answer = take_language(sheet, node, below, 0);
        sheet->items[below].flags |= NO_CLASS;
    }
    if (!answer)
        answer = take_language(sheet, node, node, 0);
    size_t around = node;
    for (int level = 0; level < LANGUAGE_LEVELS && !answer && page->parent[around] > 0; level++) {
        around = (size_t)page->parent[around];
        if (outside[page->end[around]] - outside[around] > MAX_BESIDE_CODE)
            break;
        answer = take_around(sheet, node, around, known);
    }
    return answer >= 0;
}

/* --- blocks --- */

/* Take empty lines from the front of a block. `texts` are the kept texts from its first one on. */
static void strip_front(Sheet *sheet, size_t node, const int32_t *texts, size_t count)
{
    const DraftPage *page = &sheet->page;
    for (size_t i = 0; i < count && i < MAX_FRONT && texts[i] < page->end[node]; i++) {
        size_t text = (size_t)texts[i], size = (size_t)(page->stop[text] - page->start[text]);
        const uint8_t *bytes = page->source.bytes + page->start[text];
        Item *item = &sheet->items[text];
        if (item->flags & SPACE_BEFORE)
            return;
        while ((size_t)item->extra < size && bytes[item->extra] == '\n')
            item->extra++;
        if ((size_t)item->extra < size)
            return;
    }
}

static int shape_fixed(Sheet *sheet)
{
    const DraftPage *page = &sheet->page;
    int32_t *outside = sheet->numbers, *texts = outside + page->count + 1, *known = texts + page->count;
    size_t text_count = 0, first = 0;
    memset(known, 0, page->count * sizeof(*known));
    outside[0] = 0;
    for (size_t i = 0; i < page->count; i++) {
        int is_text = page->tag[i] == 0;
        outside[i + 1] = outside[i] + (is_text && !sheet->in_fixed[i] ? page->text_length[i] : 0);
        if (is_text && sheet->found.kept[i])
            texts[text_count++] = (int32_t)i;
    }
    for (size_t i = 0; i < page->count; i++) {
        if (!(kept_kind(sheet, i) & IS_FIXED))
            continue;
        if (!find_language(sheet, i, outside, known))
            return 0;
        sheet->items[i].flags |= NO_CLASS;
        while (first < text_count && (size_t)texts[first] < i)
            first++;
        strip_front(sheet, i, texts + first, text_count - first);
    }
    return 1;
}

/* --- pieces --- */

/* Make blocks of pieces that have lines, and put a space between two that touch. `order` says how many
   nodes are kept up to each. */
static int shape_pieces(Sheet *sheet)
{
    const DraftPage *page = &sheet->page;
    int32_t *order = sheet->numbers, kept = 0, before = -1;
    for (size_t i = 0; i < page->count; i++)
        order[i] = kept += sheet->found.kept[i];
    for (size_t i = 0; i < page->count; i++) {
        if (!(kept_kind(sheet, i) & IS_CODE) || sheet->in_fixed[i])
            continue;
        int touches = before >= 0 && order[i] == order[page->end[before] - 1] + 1;
        before = (int32_t)i;
        if (sheet->held[i] & HOLDS_FIXED) {
            rename_item(sheet, i, NAME_DIV);
        } else if (sheet->held[i] & HOLDS_BREAK) {
            rename_item(sheet, i, NAME_PRE);
        } else if (touches) {
            int32_t space = new_text(sheet, " ");
            if (space < 0)
                return 0;
            insert_before(sheet, space, (int32_t)i);
        }
    }
    return 1;
}

int shape_code(Sheet *sheet)
{
    size_t reach = 0;
    if (!(sheet->present & (IS_FIXED | IS_CODE | IS_BREAK)))
        return 1; /* Nobody asks what stands in code. */
    for (size_t i = 0; i < sheet->page.count; i++) {
        if (kind_of(sheet, i) & IS_FIXED && (size_t)sheet->page.end[i] > reach)
            reach = (size_t)sheet->page.end[i];
        sheet->in_fixed[i] = i < reach;
    }
    return (!(sheet->present & IS_FIXED) || shape_fixed(sheet)) &&
           (!(sheet->present & IS_CODE) || shape_pieces(sheet));
}

int protect_code(Sheet *sheet)
{
    size_t reach = 0;
    for (size_t place = 0; place < sheet->element_count; place++) {
        size_t node = (size_t)sheet->elements[place], end = (size_t)sheet->page.end[node];
        if (node < reach || !(kind_of(sheet, node) & (IS_CODE | IS_FIXED)) ||
            is_named(sheet, node, NAME_DIV))
            continue;
        reach = end;
        for (size_t i = node; i < end; i++)
            sheet->items[i].flags |= sheet->page.tag[i] == 0 ? PROTECTED : 0;
    }
    return 1;
}
