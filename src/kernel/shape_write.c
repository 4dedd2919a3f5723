/* A sheet written out as HTML, for the parser to read again and its Markdown writer to write.

   Written are the names, the texts, and of attributes those that the Markdown writer asks for. An HTML
   parser rearranges what stands where it must not: an item in an item, a link in a link, text between
   cells. Where the sheet has such a thing, it is refused. Pages are read in quirks mode, without a
   doctype: there a table does not end the paragraph before it. Paragraphs are written as `<div>`, which is
   the same to the Markdown writer and holds anything. */

#include "sheet.h"

#include "white.h"

enum { MAX_DEPTH = 400 }; /* The parser nests 512 elements. */

typedef struct {
    Sheet *sheet;
    Buffer *to;
    int links, cells, depth; /* How many of those are open. */
    int is_inked;            /* The last thing written is a text, and more than white space. */
} Writer;

/* --- texts --- */

/* Where polishing would find these characters, it finds others: `as_markdown._FIRST_STAND_INS`. */
static const char *stand_in(const uint8_t *at, size_t left, size_t *length)
{
    static const struct {
        const char *written, *stand_in;
    } all[] = {{"&lt;", "\xEF\xB7\x90"}, {"&amp;", "\xEF\xB7\x91"}, {"\\", "\xEF\xB7\x92"}};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        *length = strlen(all[i].written);
        if (left >= *length && memcmp(at, all[i].written, *length) == 0)
            return all[i].stand_in;
    }
    return NULL;
}

/* Text as it is to be written, with some of it replaced. */
static void put_changed(Buffer *to, Bytes text, uint16_t flags)
{
    size_t done = 0, length = 1;
    for (size_t at = 0; at < text.size; at += length) {
        const char *other = NULL;
        uint8_t byte = text.bytes[at];
        length = 1;
        if (byte == '&' && flags & FREE_SPACES && text.size - at >= 6 &&
            memcmp(text.bytes + at, "&nbsp;", 6) == 0) {
            other = " ";
            length = 6;
        } else if ((byte == '&' || byte == '\\') && flags & PROTECTED) {
            other = stand_in(text.bytes + at, text.size - at, &length);
            length = other ? length : 1;
        }
        if (!other)
            continue;
        put(to, text.bytes + done, at - done);
        put_text(to, other);
        done = at + length;
    }
    put(to, text.bytes + done, text.size - done);
}

/* Is any of it more than white space to HTML? There a space that may not break is. */
static int has_ink(const uint8_t *bytes, size_t size)
{
    size_t at = 0;
    while (at < size && (bytes[at] == ' ' || bytes[at] == '\n' || bytes[at] == '\t' || bytes[at] == '\f' ||
                         bytes[at] == '\r'))
        at++;
    return at < size;
}

/* The text of a node of the page. */
static void write_page_text(Writer *writer, const Item *item, size_t number)
{
    Sheet *sheet = writer->sheet;
    const DraftPage *page = &sheet->page;
    Bytes text = {page->source.bytes + page->start[number],
                  (size_t)(page->stop[number] - page->start[number])};
    text.bytes += item->extra;
    text.size -= (size_t)item->extra;
    if (item->flags & SPACE_BEFORE)
        put(writer->to, " ", 1);
    if (sheet->raw[number]) {
        sheet->scratch.size = 0;
        put_escaped(&sheet->scratch, text.bytes, text.size);
        text = (Bytes){sheet->scratch.bytes, sheet->scratch.size};
    }
    if (item->flags & (FREE_SPACES | PROTECTED))
        put_changed(writer->to, text, item->flags);
    else
        put(writer->to, text.bytes, text.size);
}

/* Two texts stay two: whether an escape is needed at the end of one depends on it. Behind white space
   alone, a comment would be the first thing on its line. */
static void write_text(Writer *writer, const Item *item, size_t number)
{
    Sheet *sheet = writer->sheet;
    uint32_t around = sheet->kinds[sheet->items[item->parent].name];
    if (writer->is_inked || item->flags & IS_COMMENT)
        put_text(writer->to, "<!---->");
    size_t first = writer->to->size;
    if (item->flags & IS_LITERAL)
        put(writer->to, sheet->extras.bytes + item->extra, (size_t)item->extra_size);
    else if (!(item->flags & IS_COMMENT))
        write_page_text(writer, item, number);
    if (writer->to->is_short)
        return;
    writer->is_inked = has_ink(writer->to->bytes + first, writer->to->size - first);
    if (writer->is_inked && around & (IS_TABLE | IS_SECTION | IS_ROW))
        sheet->is_refused = 1;
}

/* --- attributes --- */

/* Does a style perhaps say that white space is kept? */
static int may_keep_space(Bytes source, size_t at, size_t stop)
{
    for (; at < stop; at++)
        if (source.bytes[at] == '\\' ||
            (lower(source.bytes[at]) == 's' && stop - at >= 5 && stands_at(source, at, "space")))
            return 1;
    return 0;
}

/* Is it a number that a list of CommonMark begins with? `blocks._NUMBER`. */
static int is_number(Sheet *sheet, size_t node, const char *name)
{
    Bytes value;
    size_t at = 0, digits = 0, white;
    if (!attribute_of(sheet, node, name, &value))
        return 0;
    while (at < value.size && (white = white_at(value.bytes + at, value.size - at)))
        at += white;
    at += at < value.size && value.bytes[at] == '+';
    while (at + digits < value.size && value.bytes[at + digits] >= '0' && value.bytes[at + digits] <= '9')
        digits++;
    return digits >= 1 && digits <= 9;
}

static void put_attribute(Writer *writer, Bytes name, const uint8_t *value, size_t size)
{
    put(writer->to, " ", 1);
    put(writer->to, name.bytes, name.size);
    put_text(writer->to, "=\"");
    put(writer->to, value, size);
    put(writer->to, "\"", 1);
}

static Bytes named(const char *name)
{
    return (Bytes){(const uint8_t *)name, strlen(name)};
}

/* Which attributes of the page's own does the Markdown writer ask for? */
static int is_wanted(Sheet *sheet, size_t node, const Attribute *attribute)
{
    Bytes source = sheet->page.source;
    const uint8_t *name = source.bytes + attribute->name;
    uint32_t kind = kind_of(sheet, node);
    const Item *item = &sheet->items[node];
    if (kind & IS_INPUT)
        return 1; /* One in an item may be a box that is ticked or not. */
    if (attribute->name_stop - attribute->name != 5)
        return 0;
    if (memcmp(name, "style", 5) == 0)
        return may_keep_space(source, attribute->value, attribute->value_stop);
    if (memcmp(name, "class", 5) == 0)
        return kind & IS_CODE && !(item->flags & NO_CLASS);
    if (memcmp(name, "start", 5) == 0)
        return kind & IS_ORDERED && is_number(sheet, node, "start");
    if (memcmp(name, "value", 5) == 0 && is_named(sheet, node, NAME_LI)) {
        if (kind & IS_ITEM)
            return item->flags & FIRST_ITEM && is_number(sheet, node, "value");
        sheet->is_refused |= (sheet->present & IS_ORDERED) != 0;
    }
    return 0;
}

/* Is a style written in a start tag? To look for its rarest letter costs less than to read the tag. */
static int may_have_style(Bytes source, size_t at, size_t stop)
{
    for (at += 2; (at = find_byte(source, 'y', at, stop)) + 3 < stop; at++)
        if (memcmp(source.bytes + at - 2, "style", 5) == 0)
            return 1;
    return 0;
}

static void write_own_attributes(Writer *writer, size_t node)
{
    Sheet *sheet = writer->sheet;
    Bytes source = sheet->page.source;
    size_t at = (size_t)sheet->page.start[node], stop = (size_t)sheet->page.stop[node];
    Attribute found;
    if (!(kind_of(sheet, node) & (IS_CODE | IS_ORDERED | IS_INPUT)) && !is_named(sheet, node, NAME_LI) &&
        !may_have_style(source, at, stop))
        return;
    while (next_attribute(source, &at, stop, &found))
        if (is_wanted(sheet, node, &found))
            put_attribute(writer, (Bytes){source.bytes + found.name, found.name_stop - found.name},
                          source.bytes + found.value, found.value_stop - found.value);
}

/* What was found out of a link, an image, or a block of code. */
static void write_extra(Writer *writer, const Item *item)
{
    const Sheet *sheet = writer->sheet;
    const uint8_t *extra = sheet->extras.bytes + item->extra;
    size_t size = (size_t)item->extra_size;
    uint32_t kind = sheet->kinds[item->name];
    if (kind & IS_LINK) {
        put_attribute(writer, named("href"), extra, size);
    } else if (kind & IS_IMAGE) {
        size_t zero = find_byte((Bytes){extra, size}, 0, 0, size);
        put_attribute(writer, named("src"), extra, zero);
        put_attribute(writer, named("alt"), extra + zero + 1, size - zero - 1);
    } else if (kind & IS_FIXED) {
        put_text(writer->to, " class=\"language-");
        put(writer->to, extra, size);
        put(writer->to, "\"", 1);
    }
}

/* --- elements --- */

/* May an element of this kind stand in one of that kind, with those around it that are open? */
static int is_allowed(const Writer *writer, uint32_t kind, const Item *parent)
{
    uint32_t around = writer->sheet->kinds[parent->name];
    if (kind & IS_REFUSED || writer->depth > MAX_DEPTH)
        return 0;
    if (around & IS_TABLE)
        return (kind & (IS_CAPTION | IS_SECTION)) != 0;
    if (around & IS_SECTION)
        return (kind & IS_ROW) != 0;
    if (around & IS_ROW)
        return (kind & IS_CELL) != 0;
    if (kind & IS_PART)
        return 0;
    if (kind & IS_HEADING && around & IS_HEADING)
        return 0;
    if (kind & IS_ANY_ITEM && parent->flags & WITHIN_ITEM)
        return 0;
    if (kind & IS_LINK && writer->links)
        return 0;
    return !(kind & (IS_TABLE | IS_LIST) && writer->cells);
}

static void put_name(Writer *writer, const Item *item, size_t number)
{
    const Sheet *sheet = writer->sheet;
    if (item->name != 1) {
        const char *name = sheet->names + (size_t)item->name * NAME_BYTES;
        const char *end = memchr(name, 0, NAME_BYTES);
        put(writer->to, name, end ? (size_t)(end - name) : NAME_BYTES);
        return;
    }
    /* No name of HTML: as it stands in the page. */
    Bytes source = sheet->page.source;
    size_t at = (size_t)sheet->page.start[number] + 1, stop = (size_t)sheet->page.stop[number] - 1;
    put(writer->to, source.bytes + at, find_byte(source, ' ', at, stop) - at);
}

static void start_element(Writer *writer, Item *item, size_t number)
{
    Sheet *sheet = writer->sheet;
    uint32_t kind = sheet->kinds[item->name];
    const Item *parent = &sheet->items[item->parent];
    if (!is_allowed(writer, kind, parent))
        sheet->is_refused = 1;
    if (kind & IS_ANY_ITEM || (parent->flags & WITHIN_ITEM && !(kind & STOPS_ITEMS)))
        item->flags |= WITHIN_ITEM;
    put(writer->to, "<", 1);
    put_name(writer, item, number);
    if (number < sheet->page.count)
        write_own_attributes(writer, number);
    if (item->flags & HAS_EXTRA)
        write_extra(writer, item);
    put(writer->to, ">", 1);
    if (is_named(sheet, number, NAME_PRE))
        put(writer->to, "\n", 1); /* A parser takes the first one away. */
    writer->is_inked = 0;
    writer->depth++;
    writer->links += (kind & IS_LINK) != 0;
    writer->cells += (kind & IS_CELL) != 0;
}

static void end_element(Writer *writer, const Item *item, size_t number)
{
    uint32_t kind = writer->sheet->kinds[item->name];
    writer->is_inked = 0;
    writer->depth--;
    writer->links -= (kind & IS_LINK) != 0;
    writer->cells -= (kind & IS_CELL) != 0;
    if (kind & IS_VOID)
        return;
    put(writer->to, "</", 2);
    put_name(writer, item, number);
    put(writer->to, ">", 1);
}

void write_sheet(Sheet *sheet, int32_t body, Buffer *to)
{
    Writer writer = {.sheet = sheet, .to = to};
    int32_t at = sheet->items[body].first;
    put_text(to, "<body>");
    while (at >= 0 && !sheet->is_refused) {
        Item *item = &sheet->items[at];
        if (item->name == 0) {
            write_text(&writer, item, (size_t)at);
        } else {
            start_element(&writer, item, (size_t)at);
            if (item->first >= 0) {
                at = item->first;
                continue;
            }
            end_element(&writer, item, (size_t)at);
        }
        while (sheet->items[at].next < 0 && (at = sheet->items[at].parent) != body)
            end_element(&writer, &sheet->items[at], (size_t)at);
        at = at == body ? -1 : sheet->items[at].next;
    }
    /* A carriage return would be read as a line feed. */
    if (!to->is_short && memchr(to->bytes, '\r', to->size))
        sheet->is_refused = 1;
}
