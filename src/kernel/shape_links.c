/* The images and links of a sheet: which count, and where they lead. */

#include "sheet.h"

#include "white.h"

enum { MAX_PERMALINK = 8 /* `marks._MAX_PERMALINK`. */ };

/* --- images --- */

static Bytes stripped(Bytes text)
{
    size_t white;
    while (text.size && (white = white_at(text.bytes, text.size))) {
        text.bytes += white;
        text.size -= white;
    }
    /* White space is one, two or three bytes long; a longer one does not end in a shorter one. */
    for (size_t size = 1; size <= 3 && size <= text.size; size++)
        if (white_at(text.bytes + text.size - size, size) == size) {
            text.size -= size;
            size = 0;
        }
    return text;
}

static int is_pixel(Sheet *sheet, size_t node, const char *name)
{
    Bytes value;
    return attribute_of(sheet, node, name, &value) && value.size == 1 &&
           (value.bytes[0] == '0' || value.bytes[0] == '1');
}

/* Is it nothing but an address? Data stand in it, and what scripts have not filled in. */
static int is_address(Bytes source)
{
    return source.size && source.bytes[0] != '{' && source.bytes[0] != '[' &&
           !stands_at(source, 0, "data:");
}

/* Where an image is loaded from, in `scratch`: the twin of `draft._image_source`. */
static int image_source(Sheet *sheet, size_t node, Bytes *source)
{
    static const struct {
        const char *name;
        int is_set;
    } places[] = {{"data-src", 0}, {"data-lazy-src", 0}, {"data-original", 0},
                  {"src", 0},      {"srcset", 1},        {"data-srcset", 1}};
    if (is_pixel(sheet, node, "width") || is_pixel(sheet, node, "height"))
        return 0;
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        if (!attribute_of(sheet, node, places[i].name, source))
            continue;
        *source = stripped(*source);
        if (places[i].is_set) {
            source->size = find_byte(*source, ' ', 0, source->size);
            while (source->size && source->bytes[source->size - 1] == ',')
                source->size--;
        }
        if (is_address(*source))
            return 1;
    }
    return 0;
}

static int has_words(Sheet *sheet, size_t node)
{
    Bytes alt;
    return attribute_of(sheet, node, "alt", &alt) && stripped(alt).size;
}

/* --- what counts --- */

/* Does any of the texts in an element have a letter or a digit? -1 with an exception set. */
static int says_something(Sheet *sheet, size_t node)
{
    for (size_t i = node + 1; i < (size_t)sheet->page.end[node]; i++) {
        if (sheet->page.tag[i] != 0)
            continue;
        Bytes text = text_of(sheet, i);
        int is_ascii = 1;
        for (size_t at = 0; at < text.size; at++) {
            uint8_t letter = lower(text.bytes[at]);
            if ((letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9'))
                return 1;
            is_ascii &= letter < 0x80;
        }
        int answer = is_ascii ? 0 : says_yes(sheet->is_word, text);
        if (answer)
            return answer;
    }
    return 0;
}

/* A link in a heading to a place on the page, such as '#' or '¶'; -1 with an exception set. */
static int is_permalink(Sheet *sheet, size_t node)
{
    Bytes href;
    if (!attribute_of(sheet, node, "href", &href) || find_byte(href, '#', 0, href.size) == href.size)
        return 0;
    int answer = says_something(sheet, node);
    return answer < 0 ? answer : !answer;
}

int find_marks(Sheet *sheet, int32_t *images, int32_t *permalinks)
{
    DraftPage *page = &sheet->page;
    int32_t reach = 0; /* Where the headings so far have all ended. */
    Bytes source;
    page->images = images;
    page->permalinks = permalinks;
    for (size_t i = 0; i < page->count; i++) {
        uint32_t kind = kind_of(sheet, i);
        if (kind & IS_IMAGE && page->shown[i] && page->labels[i] == LABEL_CONTENT &&
            (image_source(sheet, i, &source) || has_words(sheet, i)))
            images[page->image_count++] = (int32_t)i;
        if (kind & IS_LINK && reach > (int32_t)i && page->text_length[i] <= MAX_PERMALINK) {
            int answer = is_permalink(sheet, i);
            if (answer < 0)
                return 0;
            if (answer)
                permalinks[page->permalink_count++] = (int32_t)i;
        }
        if (kind & IS_HEADING && page->end[i] > reach)
            reach = page->end[i];
    }
    return 1;
}

/* --- where they lead --- */

/* Put the absolute address, as HTML writes it, behind the extras: 1, 0 if there is none, or -1 with an
   exception set. */
static int put_address(Sheet *sheet, Bytes url)
{
    Bytes base = {NULL, 0}, left = url;
    Lead lead = find_lead(&left, &sheet->bases, &base);
    if (lead == NOWHERE)
        return 0;
    if (lead != NOT_SIMPLE) {
        put_escaped(&sheet->extras, base.bytes, base.size);
        put_escaped(&sheet->extras, left.bytes, left.size);
        return 1;
    }
    PyObject *written = as_text(url.bytes, url.size), *bytes = NULL;
    PyObject *whole = written ? ask_twin(sheet->absolute, written) : NULL;
    int answer = whole ? whole != Py_None && PyUnicode_GetLength(whole) > 0 : -1;
    if (answer > 0) {
        bytes = PyUnicode_AsEncodedString(whole, "utf-8", "surrogatepass");
        if (bytes)
            put_escaped(&sheet->extras, (const uint8_t *)PyBytes_AsString(bytes),
                        (size_t)PyBytes_Size(bytes));
        else
            answer = -1;
    }
    Py_XDECREF(written);
    Py_XDECREF(whole);
    Py_XDECREF(bytes);
    return answer;
}

/* The alternative text of an image, on one line, behind the extras. */
static void put_alternative(Sheet *sheet, size_t node)
{
    Bytes alt;
    if (!attribute_of(sheet, node, "alt", &alt))
        return;
    size_t size = collapse((uint8_t *)alt.bytes, alt.size);
    put_escaped(&sheet->extras, alt.bytes, size);
}

/* An image that leads somewhere keeps its address and alternative text, parted by a zero. */
static int place_image(Sheet *sheet, size_t node)
{
    Bytes url = {NULL, 0};
    Item *item = &sheet->items[node];
    size_t first = sheet->extras.size;
    if (!image_source(sheet, node, &url))
        url = (Bytes){(const uint8_t *)"", 0};
    int answer = put_address(sheet, url);
    if (answer < 0)
        return 0;
    if (answer)
        put(&sheet->extras, "", 1);
    put_alternative(sheet, node);
    set_extra(sheet, node, first);
    item->flags |= answer ? HAS_EXTRA : IS_LITERAL;
    if (!answer)
        item->name = 0;
    return 1;
}

int place_images(Sheet *sheet)
{
    for (size_t i = 0; i < sheet->page.image_count; i++)
        if (!place_image(sheet, (size_t)sheet->page.images[i]))
            return 0;
    return 1;
}

/* The first kept heading from a place among the elements on. */
static size_t next_heading(const Sheet *sheet, size_t place)
{
    while (place < sheet->element_count && !(kind_of(sheet, (size_t)sheet->elements[place]) & IS_HEADING))
        place++;
    return place;
}

/* Move a link around a heading into it. */
static int link_heading(Sheet *sheet, size_t node, size_t heading)
{
    int32_t link = new_element(sheet, NAME_A);
    if (link < 0)
        return 0;
    Item *item = &sheet->items[link];
    item->extra = sheet->items[node].extra;
    item->extra_size = sheet->items[node].extra_size;
    item->flags |= HAS_EXTRA;
    move_children(sheet, (int32_t)heading, link);
    attach(sheet, link, (int32_t)heading, -1);
    rename_item(sheet, node, NAME_DIV);
    return 1;
}

static int point_link(Sheet *sheet, size_t node, size_t heading)
{
    Bytes url;
    size_t first = sheet->extras.size;
    int answer = 0;
    if (!(sheet->held[node] & HOLDS_FIXED) && sheet->found.inked[node] &&
        attribute_of(sheet, node, "href", &url))
        answer = put_address(sheet, url);
    if (answer < 0)
        return 0;
    if (!answer) {
        rename_item(sheet, node, sheet->held[node] & HOLDS_BLOCK ? NAME_DIV : NAME_SPAN);
        return 1;
    }
    set_extra(sheet, node, first);
    if (sheet->held[node] & HOLDS_HEADING)
        return link_heading(sheet, node, heading);
    sheet->items[node].flags |= HAS_EXTRA;
    return 1;
}

int point_links(Sheet *sheet)
{
    size_t heading = 0;
    for (size_t place = 0; place < sheet->element_count && sheet->present & IS_LINK; place++) {
        size_t node = (size_t)sheet->elements[place];
        if (!(kind_of(sheet, node) & IS_LINK))
            continue;
        if (heading <= place && sheet->held[node] & HOLDS_HEADING)
            heading = next_heading(sheet, place + 1);
        if (!point_link(sheet, node, (size_t)sheet->elements[heading]))
            return 0;
    }
    return 1;
}
