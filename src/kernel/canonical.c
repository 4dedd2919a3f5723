/* A page to canonical HTML, in one pass. */

#include "builder.h"
#include "references.h"

/* Read the comment whose `<!--` is at `at`. */
static void read_comment(Builder *builder, size_t at)
{
    Bytes page = builder->page;
    size_t first = at + 4;
    if (stands_at(page, first, ">") || stands_at(page, first, "->")) {
        take_comment(builder, first, first);
        builder->at = first + (page.bytes[first] == '>' ? 1 : 2);
        return;
    }
    for (size_t end = first; (end = find_byte(page, '>', end, page.size)) < page.size; end++) {
        size_t dashes = end;
        if (dashes > first && page.bytes[dashes - 1] == '!')
            dashes--;
        if (dashes < first + 2 || page.bytes[dashes - 1] != '-' || page.bytes[dashes - 2] != '-')
            continue;
        take_comment(builder, first, dashes - 2);
        builder->at = end + 1;
        return;
    }
    builder->gives_up = 1;
}

/* Is it one of the doctypes that XHTML 1 has, all of which are without quirks? */
static int is_xhtml(Bytes page, size_t at)
{
    static const char named[] = "<!doctype html public \"-//w3c//dtd xhtml 1.";
    if (!stands_at(page, at, named))
        return 0;
    size_t quote = find_byte(page, '"', at + sizeof(named), page.size) + 1;
    while (quote < page.size && is_white(page.bytes[quote]))
        quote++;
    return stands_at(page, quote, "\"http://www.w3.org/tr/xhtml1");
}

/* What the doctype says of old pages, as far as that is certain. */
static void read_doctype(Builder *builder, size_t at)
{
    Bytes page = builder->page;
    size_t end = find_byte(page, '>', at, page.size);
    if (end == page.size) {
        builder->gives_up = 1;
        return;
    }
    if (builder->mode == MODE_INITIAL) {
        size_t behind = end;
        while (behind > at && page.bytes[behind - 1] == ' ')
            behind--;
        int is_new = behind - at == 14 && stands_at(page, at, "<!doctype html");
        builder->quirks = is_new || is_xhtml(page, at) ? QUIRKS_NO : QUIRKS_UNKNOWN;
        size_t quotes = 0;
        for (size_t i = at; i < end; i++)
            quotes += page.bytes[i] == '"';
        if (quotes % 2)
            builder->gives_up = 1; /* The `>` may stand between them. */
        builder->mode = MODE_BEFORE_HTML;
    }
    builder->at = end + 1;
}

/* Is what begins with `<!` or `<?` a comment by mistake? Else it is an instruction, or text of an island. */
static int is_comment(Builder *builder, size_t at)
{
    if (builder->page.bytes[at + 1] == '!')
        return !builder->level || current(builder)->space == SPACE_HTML;
    return at + 2 < builder->page.size &&
           ((!is_letter(builder->page.bytes[at + 2]) && builder->page.bytes[at + 2] != '_') ||
            stands_at(builder->page, at, "<?xml "));
}

/* Read `<!` or `<?`, and all that belongs to it. */
static void read_declaration(Builder *builder, size_t at)
{
    if (stands_at(builder->page, at, "<!--")) {
        read_comment(builder, at);
    } else if (stands_at(builder->page, at, "<!doctype")) {
        read_doctype(builder, at);
    } else if (is_comment(builder, at)) {
        size_t end = find_byte(builder->page, '>', at, builder->page.size);
        take_comment(builder, at + 1 + (builder->page.bytes[at + 1] == '!'), end);
        builder->at = end + (end < builder->page.size);
    } else {
        builder->gives_up = 1;
    }
}

/* Is there markup at this `<`? */
static int is_markup(Bytes page, size_t at)
{
    uint8_t next = at + 1 < page.size ? page.bytes[at + 1] : 0;
    return is_letter(next) || next == '!' || next == '?' || (next == '/' && at + 2 < page.size);
}

static void read_markup(Builder *builder, size_t at)
{
    uint8_t next = builder->page.bytes[at + 1];
    if (next == '!' || next == '?') {
        read_declaration(builder, at);
    } else if (next != '/') {
        if (read_tag(builder, at + 1))
            take_start_tag(builder);
        else
            builder->at = builder->page.size;
    } else if (is_letter(builder->page.bytes[at + 2])) {
        if (read_tag(builder, at + 2))
            take_end_tag(builder);
        else
            builder->at = builder->page.size;
    } else {
        size_t end = find_byte(builder->page, '>', at, builder->page.size);
        if (end > at + 2)
            take_comment(builder, at + 2, end);
        else if (builder->out.size == builder->fresh)
            builder->gives_up = 1; /* A newline behind it would still be eaten. */
        builder->at = end + (end < builder->page.size);
    }
}

/* Write the page; 0 if it is one for the parser. */
static int build(Builder *builder)
{
    Bytes page = builder->page;
    while (builder->at < page.size && !builder->gives_up && !builder->out.is_short) {
        size_t first = builder->at, at = first;
        while ((at = find_near(page, '<', at, page.size)) < page.size && !is_markup(page, at))
            at++;
        builder->at = at;
        if (at > first)
            take_text(builder, first, at);
        if (at < page.size && !builder->gives_up)
            read_markup(builder, at);
    }
    if (!builder->gives_up && !builder->out.is_short)
        take_end(builder);
    return !builder->gives_up;
}

/* The page with \n for each end of a line. */
static Bytes with_newlines(Bytes page, Buffer *room)
{
    size_t at = find_byte(page, '\r', 0, page.size), done = 0;
    while (at < page.size) {
        put(room, page.bytes + done, at - done);
        put(room, "\n", 1);
        done = at + 1 + (at + 1 < page.size && page.bytes[at + 1] == '\n');
        at = find_byte(page, '\r', done, page.size);
    }
    if (!done)
        return page;
    put(room, page.bytes + done, page.size - done);
    return (Bytes){room->bytes, room->size};
}

/* How many bytes the character has that begins at a place, no plain letter; 0 if there is none. */
static size_t size_of_character(Bytes page, size_t at)
{
    uint8_t first = page.bytes[at], low = 0x80, high = 0xBF;
    size_t size = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
    if (!size || page.size - at < size)
        return 0;
    if (first == 0xE0 || first == 0xF0) /* Neither longer than needed, */
        low = first == 0xE0 ? 0xA0 : 0x90;
    else if (first == 0xED || first == 0xF4) /* nor half a pair, nor behind the last. */
        high = first == 0xED ? 0x9F : 0x8F;
    for (size_t i = 1; i < size; i++, low = 0x80, high = 0xBF)
        if (page.bytes[at + i] < low || page.bytes[at + i] > high)
            return 0;
    return size;
}

int is_utf_8(Bytes page)
{
    for (size_t at = 0, size; at < page.size; at += size) {
        while (page.size - at >= WORD && !(load_word(page.bytes + at) & TOP_BITS))
            at += WORD;
        if (at == page.size)
            return 1;
        size = page.bytes[at] < 0x80 ? 1 : size_of_character(page, at);
        if (!size)
            return 0;
    }
    return 1;
}

int make_canonical(Bytes page, const TagNames *names, int is_decoded, size_t max_elements, Canonical *made)
{
    Buffer lines = {0};
    *made = (Canonical){0};
    if (find_byte(page, 0, 0, page.size) < page.size)
        return 0;
    Builder *builder = calloc(1, sizeof(Builder));
    if (!builder) {
        made->source.is_short = 1;
        return 0;
    }
    builder->page = with_newlines(page, &lines);
    builder->names = names;
    builder->made = made;
    builder->is_decoded = (uint8_t)is_decoded;
    builder->max_elements = max_elements;
    builder->fresh = SIZE_MAX;
    room_in(&builder->out, page.size + page.size / 16);
    int is_done = build(builder);
    made->source = builder->out;
    made->source.is_short |= builder->gap.is_short | builder->tail.is_short | lines.is_short |
                             made->raws.is_short | made->voids.is_short | made->eaters.is_short |
                             made->lengths.is_short;
    free(builder->gap.bytes);
    free(builder->tail.bytes);
    free(lines.bytes);
    free(builder);
    return is_done && !made->source.is_short;
}

void free_canonical(Canonical *made)
{
    free(made->source.bytes);
    free(made->raws.bytes);
    free(made->voids.bytes);
    free(made->eaters.bytes);
    free(made->lengths.bytes);
}
