/* A paragraph as it is gathered. White space moves out of links and emphasis on the way: it is written only
   once the next word comes, between the marks that end before it and those that begin behind it. */

#include "markdown.h"

#include "escapes.h"
#include "white.h"

enum {
    MAX_SOFT_LINK = 300,  /* Characters of blocks that a link may join to one line. */
    FIGURE_LEVELS = 4,    /* How far above an image its figure may stand, */
    FIGURE_PARTS = 16,    /* among how many parts of it the caption, */
    CAPTION_NODES = 64,   /* and in how many nodes of that its words. */
    MAX_CAPTION = 200,    /* Bytes of a caption that say what an image shows. */
};

/* --- characters --- */

static int ask_kind(Writer *writer, const uint8_t *at, size_t size)
{
    PyObject *text = as_text(at, size);
    PyObject *answer = text ? PyObject_CallFunctionObjArgs(writer->character_kind, text, NULL) : NULL;
    long kind = answer ? PyLong_AsLong(answer) : 0;
    Py_XDECREF(text);
    Py_XDECREF(answer);
    writer->is_failed |= PyErr_Occurred() != NULL;
    return (int)kind;
}

int kind_of_character(Writer *writer, const uint8_t *at, size_t left)
{
    uint8_t first = *at, letter = lower(first);
    if (first < 0x80) {
        if (white_at(at, left))
            return CHARACTER_WHITE;
        if ((letter >= 'a' && letter <= 'z') || (first >= '0' && first <= '9'))
            return CHARACTER_WORD;
        return first == '_' ? CHARACTER_WORD | CHARACTER_PUNCTUATION : CHARACTER_PUNCTUATION;
    }
    if (white_at(at, left))
        return CHARACTER_WHITE;
    if (writer->is_failed)
        return 0;
    size_t size = character_size(at, left);
    uint32_t code = 0;
    for (size_t i = 0; i < size; i++)
        code = code << 8 | at[i];
    size_t place = (code ^ code >> 6) % 64;
    if (writer->known[place] != code) {
        writer->known_kinds[place] = (uint8_t)ask_kind(writer, at, size);
        writer->known[place] = code;
    }
    return writer->known_kinds[place];
}

/* How many bytes there are no word, a character of them: white space, or a space without width. `is_plain`
   says that it is as good as a plain space. */
static size_t blank_at(const uint8_t *at, size_t left, int *is_plain)
{
    size_t size = white_at(at, left);
    *is_plain = size == 1 || *at == 0xC2 ||
                (size == 3 && at[0] == 0xE2 && at[1] == 0x80 && (at[2] == 0xA8 || at[2] == 0xA9));
    if (!size && left >= 3 && (memcmp(at, "\xE2\x80\x8B", 3) == 0 || memcmp(at, "\xEF\xBB\xBF", 3) == 0))
        size = 3;
    return size;
}

/* --- marks --- */

static int32_t add_mark(Paragraph *paragraph, Mark mark)
{
    if (paragraph->mark_count == paragraph->mark_room) {
        size_t room = 2 * paragraph->mark_room + 32;
        Mark *moved = room > INT32_MAX / 2 ? NULL : realloc(paragraph->marks, room * sizeof(Mark));
        if (!moved) {
            paragraph->text.is_short = 1;
            return -1;
        }
        paragraph->marks = moved;
        paragraph->mark_room = room;
    }
    mark.at = paragraph->text.size;
    paragraph->marks[paragraph->mark_count] = mark;
    return (int32_t)paragraph->mark_count++;
}

static void end_styles(Paragraph *paragraph, size_t kept)
{
    while (paragraph->open.count > kept) {
        paragraph->open.count--;
        int32_t first = paragraph->open.all[paragraph->open.count].place;
        if (first < 0)
            continue;
        Mark mark = paragraph->marks[first];
        mark.is_end = 1;
        mark.partner = first;
        int32_t last = add_mark(paragraph, mark); /* The marks may move on the way. */
        paragraph->marks[first].partner = last;
    }
}

static void begin_styles(Writer *writer, const Styles *styles)
{
    Paragraph *paragraph = &writer->paragraph;
    while (paragraph->open.count < styles->count) {
        size_t place = paragraph->open.count++;
        paragraph->open.all[place] = styles->all[place];
        Mark mark = {.style = styles->all[place].style, .link = styles->all[place].place};
        if (mark.style == STYLE_LINK)
            writer->links[mark.link].is_used = 1;
        int32_t first = add_mark(paragraph, mark);
        paragraph->open.all[place].place = first;
    }
}

/* The styles that a word gets now. */
static Styles current_styles(const Writer *writer, int is_image)
{
    Styles found = {.count = 0};
    for (size_t i = 0; i < writer->styles.count; i++) {
        int32_t node = writer->styles.all[i].node, place = writer->styles.all[i].place;
        uint8_t style = writer->styles.all[i].style;
        if ((style == STYLE_STRONG && writer->heading) || (style == STYLE_CODE && is_image))
            continue;
        if (style == STYLE_LINK) {
            const Link *link = &writer->links[place];
            int is_open = 0;
            for (size_t k = 0; k < writer->paragraph.open.count; k++)
                is_open |= writer->paragraph.open.all[k].style == style &&
                           writer->paragraph.open.all[k].node == node;
            if ((link->is_heading_only && !writer->heading) || (link->is_used && !is_open))
                continue;
        }
        found.all[found.count++] = writer->styles.all[i];
    }
    return found;
}

/* How many styles of the paragraph go on: those of the same element, and those with nothing between. */
static size_t shared_styles(const Paragraph *paragraph, const Styles *styles, int has_gap, int is_break)
{
    size_t shared = 0;
    while (shared < styles->count && shared < paragraph->open.count) {
        uint8_t style = styles->all[shared].style;
        int is_same = paragraph->open.all[shared].node == styles->all[shared].node;
        int is_joined = !is_break && style != STYLE_LINK && !(style == STYLE_CODE && has_gap);
        if (paragraph->open.all[shared].style != style || !(is_same || is_joined) ||
            (style == STYLE_CODE && is_break))
            break;
        shared++;
    }
    return shared;
}

/* --- words --- */

static int is_empty(const Paragraph *paragraph)
{
    return !paragraph->text.size && !paragraph->mark_count;
}

int is_blank(const Paragraph *paragraph)
{
    return is_empty(paragraph);
}

/* Would two words run together that something stood between? */
static int is_in_word(Writer *writer, const uint8_t *next, size_t left)
{
    const Buffer *text = &writer->paragraph.text;
    if (!text->size || !left)
        return 0;
    size_t last = before_character(text->bytes, text->size);
    return kind_of_character(writer, text->bytes + last, text->size - last) & CHARACTER_WORD &&
           kind_of_character(writer, next, left) & CHARACTER_WORD;
}

/* Get ready for a word that begins so: end the paragraph where another begins, and write what stands between. */
static void begin_word(Writer *writer, const uint8_t *next, size_t left)
{
    Paragraph *paragraph = &writer->paragraph;
    int is_one_line = writer->heading || writer->soft, is_line = paragraph->breaks || paragraph->has_moved;
    if (!is_one_line && !writer->table.is_in_row && (paragraph->has_moved || paragraph->breaks > 1))
        flush(writer);
    Styles styles = current_styles(writer, !left);
    if (is_empty(paragraph)) {
        paragraph->node = writer->node;
        begin_styles(writer, &styles);
    } else {
        int is_break = is_line && !is_one_line;
        int is_spaced = paragraph->has_space || is_line ||
                        (paragraph->is_new_anchor && writer->anchors && paragraph->was_anchored) ||
                        (paragraph->is_cut && is_in_word(writer, next, left));
        int has_gap = is_spaced || paragraph->gap.size;
        end_styles(paragraph, shared_styles(paragraph, &styles, has_gap, is_break));
        if (is_spaced)
            put(&paragraph->text, is_break ? "\n" : " ", 1);
        if (paragraph->gap.size && !is_break)
            put(&paragraph->text, paragraph->gap.bytes, paragraph->gap.size);
        begin_styles(writer, &styles);
    }
    paragraph->gap.size = 0;
    paragraph->has_space = paragraph->breaks = paragraph->has_moved = 0;
    paragraph->is_cut = paragraph->is_new_anchor = 0;
    paragraph->was_anchored = writer->anchors > 0;
}

/* A byte that stands for itself in words. */
static inline int is_plain(uint8_t byte)
{
    return byte > ' ' && byte != '&' && byte != 0x7F && byte != 0xC2 && (byte < 0xE1 || byte > 0xE3) && byte != 0xEF;
}

/* How many bytes are to be written as they are: words, with one space between them. */
static size_t count_plain(const uint8_t *at, const uint8_t *stop)
{
    const uint8_t *from = at;
    while (at < stop) {
        if (is_plain(*at))
            at++;
        else if (*at == ' ' && at > from && stop - at > 1 && is_plain(at[1]))
            at += 2;
        else
            break;
    }
    return (size_t)(at - from);
}

static void add_part(Writer *writer, size_t node, const uint8_t *at, const uint8_t *stop)
{
    const Tree *tree = writer->tree;
    Paragraph *paragraph = &writer->paragraph;
    int is_begun = 0, is_free;
    while (at < stop) {
        size_t left = (size_t)(stop - at), size = count_plain(at, stop);
        const uint8_t *from = at;
        uint8_t character = 0;
        if (!size && *at == '&' && !tree->raw[node])
            character = unescaped(at, left, &size);
        if (character == NO_BREAK_SPACE) {
            paragraph->has_space = 1;
            is_begun = 0;
        } else if (!size && (size = blank_at(at, left, &is_free))) {
            if (is_free)
                paragraph->has_space = 1;
            else if (!is_empty(paragraph))
                put(&paragraph->gap, at, size);
            is_begun = 0;
        } else if (!size && (size = control_at(at, left))) {
            paragraph->is_cut = 1; /* It is nothing, but parts words. */
            is_begun = 0;
        } else {
            size = size ? size : character_size(at, left);
            if (!is_begun)
                begin_word(writer, from, left);
            is_begun = 1;
            put(&paragraph->text, character ? &character : from, character ? 1 : size);
        }
        at += size;
    }
}

/* Preformatted text in a cell: its lines are parted by breaks, and its spaces stay. */
static void add_fixed(Writer *writer, size_t node)
{
    const Tree *tree = writer->tree;
    const uint8_t *at = tree->source.bytes + tree->start[node], *stop = tree->source.bytes + tree->stop[node];
    Paragraph *paragraph = &writer->paragraph;
    int is_begun = paragraph->is_in_fixed;
    for (size_t size; at < stop; at += size) {
        if ((size = control_at(at, (size_t)(stop - at))))
            continue;
        uint8_t byte = fixed_byte(*at);
        size = 1;
        if (byte == '&' && !tree->raw[node])
            byte = unescaped(at, (size_t)(stop - at), &size);
        if (byte == NO_BREAK_SPACE && size > 1)
            byte = ' ';
        if (byte == '\n') {
            paragraph->breaks++;
            is_begun = 0;
        } else {
            if (!is_begun)
                begin_word(writer, at, (size_t)(stop - at));
            is_begun = 1;
            put(&paragraph->text, byte == '\t' ? (const uint8_t *)"    " : &byte, byte == '\t' ? 4 : 1);
        }
    }
    paragraph->is_in_fixed = is_begun;
}

void add_text(Writer *writer, size_t node)
{
    const Tree *tree = writer->tree;
    if (node < writer->fixed_end) {
        add_fixed(writer, node);
        return;
    }
    writer->paragraph.is_in_fixed = 0;
    add_part(writer, node, tree->source.bytes + tree->start[node], tree->source.bytes + tree->stop[node]);
}

void add_formula(Writer *writer, const Formula *formula)
{
    Paragraph *paragraph = &writer->paragraph;
    Bytes latex = latex_of(&writer->wording, formula);
    int is_block = formula->is_block && !writer->heading && !writer->soft && !writer->table.is_in_row;
    paragraph->has_moved |= is_block;
    begin_word(writer, latex.bytes, latex.size);
    int32_t first = add_mark(paragraph, (Mark){.style = MARK_FORMULA, .is_block = (uint8_t)is_block});
    put(&paragraph->text, latex.bytes, latex.size);
    int32_t last = add_mark(paragraph, (Mark){.style = MARK_FORMULA, .is_end = 1, .partner = first});
    if (last >= 0)
        paragraph->marks[first].partner = last;
    paragraph->has_moved |= is_block;
}

void add_reference(Writer *writer, int32_t number)
{
    Paragraph *paragraph = &writer->paragraph;
    char written[24];
    size_t size = (size_t)PyOS_snprintf(written, sizeof(written), "[^%d]", (int)number);
    paragraph->is_new_anchor = 0;
    begin_word(writer, (const uint8_t *)written, size);
    int32_t first = add_mark(paragraph, (Mark){.style = MARK_FORMULA, .is_bare = 1});
    put(&paragraph->text, written, size);
    int32_t last = add_mark(paragraph, (Mark){.style = MARK_FORMULA, .is_end = 1, .partner = first});
    if (last >= 0)
        paragraph->marks[first].partner = last;
}

void add_mixed(Writer *writer, size_t node)
{
    const Tree *tree = writer->tree;
    const uint8_t *source = tree->source.bytes, *at = source + tree->start[node];
    const Formula *formula;
    while ((formula = take_formula(&writer->wording, node))) {
        add_part(writer, node, at, source + formula->from);
        add_formula(writer, formula);
        at = source + formula->to;
    }
    add_part(writer, node, at, source + tree->stop[node]);
}

void add_literal(Writer *writer, const char *text)
{
    begin_word(writer, (const uint8_t *)text, strlen(text));
    put_text(&writer->paragraph.text, text);
}

void clear_paragraph(Writer *writer)
{
    Paragraph *paragraph = &writer->paragraph;
    paragraph->text.size = paragraph->mark_count = paragraph->open.count = paragraph->gap.size = 0;
    paragraph->has_space = paragraph->breaks = paragraph->has_moved = paragraph->is_cut = 0;
    paragraph->is_in_fixed = 0;
    for (size_t i = 0; i < writer->styles.count; i++)
        if (writer->styles.all[i].style == STYLE_LINK)
            return;
    writer->addresses.size = writer->link_count = 0;
}

void end_paragraph(Writer *writer)
{
    end_styles(&writer->paragraph, 0);
}

/* --- links and images --- */

int attribute_value(Writer *writer, size_t node, const char *name, Bytes *value)
{
    const Tree *tree = writer->tree;
    Attribute found;
    if (!find_attribute(tree->source, (size_t)tree->start[node], (size_t)tree->stop[node], name, &found))
        return 0;
    size_t size = found.value_stop - found.value;
    writer->scratch.size = 0;
    uint8_t *room = room_in(&writer->scratch, size);
    if (!room)
        return 0;
    *value = (Bytes){room, put_unescaped(tree->source.bytes + found.value, size, room)};
    return 1;
}

/* Put down what an address leads to; 0 if it leads nowhere. */
static int put_address(Writer *writer, Bytes url)
{
    Bytes left = url, base = {NULL, 0};
    Lead lead = find_lead(&left, &writer->bases, &base);
    size_t front = 0; /* White space there is nothing to browsers. */
    while (front < url.size && url.bytes[front] <= ' ')
        front++;
    if (lead == NOWHERE || writer->is_failed || stands_at(url, front, "file:"))
        return 0; /* A file leads nowhere on any other machine. */
    size_t from = writer->addresses.size;
    if (lead != NOT_SIMPLE) {
        put(&writer->addresses, base.bytes, base.size);
        put(&writer->addresses, left.bytes, left.size);
        if (writer->wanted.links != LINKS_FULL)
            strip_tracking(writer, from);
        return 1;
    }
    PyObject *whole = ask_base(writer->absolute, url);
    int leads = whole && whole != Py_None;
    if (leads)
        put(&writer->addresses, PyBytes_AsString(whole), (size_t)PyBytes_Size(whole));
    if (leads && writer->wanted.links != LINKS_FULL)
        strip_tracking(writer, from);
    Py_XDECREF(whole);
    writer->is_failed |= PyErr_Occurred() != NULL;
    return leads;
}

int address_for(Writer *writer, size_t node, const char *name, Bytes *url)
{
    size_t from = writer->addresses.size;
    if (!attribute_value(writer, node, name, url) || !put_address(writer, *url))
        return 0;
    *url = (Bytes){writer->addresses.bytes + from, writer->addresses.size - from};
    writer->addresses.size = from;
    return 1;
}

/* Put down what an image shows. */
static size_t put_said(Writer *writer, size_t node)
{
    Bytes said;
    if (!is_image(writer->tree, node) || !image_said(writer, node, &said))
        return 0;
    put(&writer->addresses, said.bytes, said.size);
    return said.size;
}

/* A link with this address, or an image; its place, or -1 where it leads nowhere. */
static int32_t add_link(Writer *writer, size_t node, Bytes url)
{
    if (writer->link_count == writer->link_room) {
        size_t room = 2 * writer->link_room + 16;
        Link *moved = room > INT32_MAX / 2 ? NULL : realloc(writer->links, room * sizeof(Link));
        if (!moved) {
            writer->out.is_short = 1;
            return -1;
        }
        writer->links = moved;
        writer->link_room = room;
    }
    Link link = {.node = (int32_t)node, .url = writer->addresses.size};
    if (!put_address(writer, url))
        return -1;
    link.url_size = writer->addresses.size - link.url;
    link.alt = writer->addresses.size;
    link.alt_size = put_said(writer, node);
    writer->links[writer->link_count] = link;
    return (int32_t)writer->link_count++;
}

int push_style(Writer *writer, Style style, size_t node)
{
    Styles *styles = &writer->styles;
    for (size_t i = 0; i < styles->count; i++)
        if (styles->all[i].style == style || styles->all[i].style == STYLE_CODE)
            return 0;
    styles->all[styles->count].style = (uint8_t)style;
    styles->all[styles->count].node = (int32_t)node;
    styles->all[styles->count++].place = -1;
    return 1;
}

int push_link(Writer *writer, size_t node)
{
    Bytes url;
    uint8_t facts = writer->facts[node];
    if (facts & HOLDS_FIXED || writer->wanted.links == LINKS_TEXT || !has_ink(writer, node) || !attribute_value(writer, node, "href", &url) ||
        !push_style(writer, STYLE_LINK, node))
        return 0;
    int32_t place = add_link(writer, node, url);
    if (place < 0) {
        writer->styles.count--;
        return 0;
    }
    writer->styles.all[writer->styles.count - 1].place = place;
    Link *link = &writer->links[place];
    link->is_heading_only = (facts & HOLDS_HEADING) != 0;
    int is_soft = facts & HOLDS_BLOCK && !(facts & (HOLDS_STRUCTURE | HOLDS_LIST)) &&
                  writer->tree->text_length[node] <= MAX_SOFT_LINK;
    return is_soft ? 2 : 1;
}

static int is_pixel(Writer *writer, size_t node, const char *name)
{
    Bytes value;
    return attribute_value(writer, node, name, &value) && value.size == 1 &&
           (value.bytes[0] == '0' || value.bytes[0] == '1');
}

/* Where an image is loaded from, in `scratch`. */
static int image_source(Writer *writer, size_t node, Bytes *source)
{
    Bytes written;
    if (!find_image_source(writer->tree, node, &written))
        return 0;
    writer->scratch.size = 0;
    uint8_t *room = room_in(&writer->scratch, written.size);
    if (!room)
        return 0;
    *source = (Bytes){room, put_unescaped(written.bytes, written.size, room)};
    return 1;
}

/* The caption of the figure whose first image this is; 0 without one. Another image would say the same again. */
static size_t caption_of(const Writer *writer, size_t node)
{
    const Tree *tree = writer->tree;
    int32_t figure = tree->parent[node], part;
    for (int level = 1; level < FIGURE_LEVELS && figure > 0 && tree->tag[figure] != TAG_figure; level++)
        figure = tree->parent[figure];
    if (figure <= 0 || tree->tag[figure] != TAG_figure || node - (size_t)figure > CAPTION_NODES)
        return 0;
    for (size_t i = (size_t)figure + 1; i < node; i++)
        if (is_image(tree, i))
            return 0;
    part = figure + 1;
    for (int i = 0; i < FIGURE_PARTS && part < tree->end[figure]; i++, part = tree->end[part])
        if (tree->tag[part] == TAG_figcaption && has_ink(writer, (size_t)part))
            return (size_t)part;
    return 0;
}

/* What a caption says first, in `scratch`. */
static Bytes begin_caption(Writer *writer, size_t caption)
{
    const Tree *tree = writer->tree;
    Buffer *said = &writer->scratch;
    size_t end = (size_t)tree->end[caption];
    said->size = 0;
    for (size_t i = caption; i < end && i < caption + CAPTION_NODES && said->size < MAX_CAPTION; i++) {
        size_t size = (size_t)(tree->stop[i] - tree->start[i]);
        if (tag_sets[tree->tag[i]] & BREAKS)
            put(said, " ", 1);
        if (tree->tag[i] != TAG_TEXT || !is_content(writer, i) || size > MAX_MARKED_TAG)
            continue;
        uint8_t *room = room_in(said, size);
        if (room)
            said->size += put_unescaped(tree->source.bytes + tree->start[i], size, room);
    }
    size_t size = said->size ? collapse(said->bytes, said->size) : 0, whole = size;
    while (size > MAX_CAPTION || (size && size < whole && (said->bytes[size] & 0xC0) == 0x80))
        size--;
    return (Bytes){said->bytes, size};
}

int image_said(Writer *writer, size_t node, Bytes *alt)
{
    if (attribute_value(writer, node, "alt", alt) && (alt->size = collapse((uint8_t *)alt->bytes, alt->size)))
        return 1;
    size_t caption = caption_of(writer, node);
    if (caption)
        *alt = begin_caption(writer, caption);
    return caption && alt->size && writer->wanted.images != IMAGES_ALT;
}

int image_address(Writer *writer, size_t node, Bytes *url)
{
    Bytes alt, source;
    size_t kept = writer->addresses.size;
    if (!is_content(writer, node) || is_pixel(writer, node, "width") || is_pixel(writer, node, "height") ||
        (writer->wanted.images != IMAGES_KEEP && !image_said(writer, node, &alt)) ||
        !image_source(writer, node, &source))
        return 0;
    int leads = put_address(writer, source);
    *url = (Bytes){writer->addresses.bytes + kept, writer->addresses.size - kept};
    writer->addresses.size = kept;
    return leads;
}

void add_image(Writer *writer, size_t node)
{
    Bytes source;
    if (writer->wanted.images == IMAGES_NONE || !image_address(writer, node, &source))
        return;
    if (writer->wanted.images == IMAGES_ALT) {
        if (image_said(writer, node, &source)) {
            begin_word(writer, source.bytes, source.size);
            put(&writer->paragraph.text, source.bytes, source.size);
        }
        return;
    }
    begin_word(writer, NULL, 0); /* A paragraph may end here, and its links with it. */
    if (!image_source(writer, node, &source))
        return;
    Mark mark = {.style = MARK_IMAGE, .link = add_link(writer, node, source)};
    if (mark.link >= 0)
        add_mark(&writer->paragraph, mark);
}
