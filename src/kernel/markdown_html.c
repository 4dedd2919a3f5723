/* Tables that GitHub's cannot hold, as HTML without any attribute but spans and addresses. They are written only
   where the user asks for them. */

#include "markdown.h"

#include "escapes.h"
#include "white.h"

enum { MIN_ROWS = 2, MIN_CELLS = 3 };

/* One table on its way. */
typedef struct {
    Writer *writer;
    Open *open; /* Elements that are written and have not ended. */
    size_t level, fixed; /* How many they are; where preformatted text ends. */
    int32_t *blocks; /* The ends of blocks that are not written. */
    size_t block_count;
    int has_moved; /* A block that is not written began or ended, */
    int is_begun;  /* and there are words before it that nothing else parts from what comes. */
} Html;

/* Is it written as an element? All others are only their text. */
static int is_kept(int16_t tag)
{
    switch (tag) {
    case TAG_caption: case TAG_thead: case TAG_tbody: case TAG_tfoot: case TAG_tr: case TAG_th: case TAG_td:
    case TAG_table: case TAG_p: case TAG_br: case TAG_ul: case TAG_ol: case TAG_li: case TAG_dl: case TAG_dt:
    case TAG_dd: case TAG_code: case TAG_pre: case TAG_b: case TAG_strong: case TAG_i: case TAG_em: case TAG_s:
    case TAG_del: case TAG_sub: case TAG_sup: case TAG_blockquote: case TAG_h1: case TAG_h2: case TAG_h3:
    case TAG_h4: case TAG_h5: case TAG_h6:
        return 1;
    default:
        return 0;
    }
}

static void put_name(Writer *writer, int16_t tag)
{
    static const char *const names[] = {
#define TAG(name, sets) #name,
#include "tags.def"
    };
    put_text(&writer->out, names[tag - TAG_OTHER - 1]);
}

static void put_escaped(Buffer *out, Bytes text, int is_fixed)
{
    for (size_t i = 0; i < text.size; i++) {
        uint8_t byte = text.bytes[i];
        if (byte == '<' || byte == '>' || byte == '&' || byte == '"')
            put_text(out, byte == '<' ? "&lt;" : byte == '>' ? "&gt;" : byte == '&' ? "&amp;" : "&quot;");
        else if (byte == '\n' && is_fixed)
            put_text(out, "&#10;"); /* An empty line would end the block. */
        else if (!is_white(byte) || is_fixed)
            put(out, &byte, byte >= ' ' || byte == '\t');
        else if (!out->size || out->bytes[out->size - 1] != ' ')
            put_text(out, " ");
    }
}

/* Part what comes from what stood in another block. */
static void part_blocks(Html *html)
{
    if (html->has_moved && html->is_begun)
        put_text(&html->writer->out, "<br>");
    html->has_moved = 0;
    html->is_begun = 1;
}

/* Write a part of a text. */
static void put_part(Html *html, size_t node, size_t from, size_t to)
{
    Writer *writer = html->writer;
    const Tree *tree = writer->tree;
    Bytes text = {tree->source.bytes + from, to - from};
    if (tree->text_length[node])
        part_blocks(html);
    writer->scratch.size = 0;
    uint8_t *room = room_in(&writer->scratch, text.size);
    if (!room)
        return;
    if (tree->raw[node])
        memcpy(room, text.bytes, text.size);
    else
        text.size = put_unescaped(text.bytes, text.size, room);
    put_escaped(&writer->out, (Bytes){room, text.size}, node < html->fixed);
}

static void put_formula(Html *html, const Formula *formula)
{
    Buffer *out = &html->writer->out;
    part_blocks(html);
    put_text(out, "$");
    put_escaped(out, latex_of(&html->writer->wording, formula), 0);
    put_text(out, "$");
}

/* Write what a text says, formulas in it as such; white space between rows says nothing. */
static void put_text_node(Html *html, size_t node)
{
    Writer *writer = html->writer;
    const Tree *tree = writer->tree;
    size_t at = (size_t)tree->start[node];
    const Formula *formula;
    int is_white = !tree->text_length[node];
    if (!tree->shown[node] || writer->wording.said[node] == LEFT_OUT ||
        (is_white ? tag_sets[tree->tag[tree->parent[node]]] & SET_ROW : writer->labels[node] != LABEL_CONTENT))
        return;
    while (writer->wording.said[node] == SAID_FORMULA && (formula = take_formula(&writer->wording, node))) {
        if ((size_t)formula->from > at)
            put_part(html, node, at, (size_t)formula->from);
        put_formula(html, formula);
        at = (size_t)formula->to;
    }
    if (at < (size_t)tree->stop[node])
        put_part(html, node, at, (size_t)tree->stop[node]);
}

static void put_attribute(Writer *writer, const char *name, Bytes value)
{
    put_text(&writer->out, " ");
    put_text(&writer->out, name);
    put_text(&writer->out, "=\"");
    put_escaped(&writer->out, value, 0);
    put_text(&writer->out, "\"");
}

static void put_image(Html *html, size_t node)
{
    Writer *writer = html->writer;
    Bytes url, alt;
    if (writer->wanted.images == IMAGES_NONE || !image_address(writer, node, &url))
        return;
    part_blocks(html);
    if (writer->wanted.images != IMAGES_ALT) {
        put_text(&writer->out, "<img");
        put_attribute(writer, "src", url);
    }
    if (!image_said(writer, node, &alt))
        alt.size = 0;
    if (writer->wanted.images == IMAGES_ALT) {
        put_escaped(&writer->out, alt, 0);
        return;
    }
    put_attribute(writer, "alt", alt);
    put_text(&writer->out, ">");
}

static void put_span(Writer *writer, size_t node, const char *name)
{
    int32_t span = span_of(writer, node, name);
    char written[16];
    Bytes value = {(uint8_t *)written, (size_t)PyOS_snprintf(written, sizeof(written), "%d", (int)span)};
    if (span > 1)
        put_attribute(writer, name, value);
}

/* Write a start tag, of a link with its address. */
static void put_start(Html *html, size_t node, const Bytes *url)
{
    Writer *writer = html->writer;
    int16_t tag = writer->tree->tag[node];
    uint32_t sets = tag_sets[tag];
    if (sets & (SET_BLOCK | SET_CELL) || tag == TAG_br)
        html->has_moved = html->is_begun = 0;
    else if (has_ink(writer, node))
        part_blocks(html);
    if (tag == TAG_tr) {
        put_text(&writer->out, "\n");
        put_prefix(writer);
    }
    put_text(&writer->out, "<");
    put_name(writer, tag);
    if (sets & SET_CELL) {
        put_span(writer, node, "colspan");
        put_span(writer, node, "rowspan");
    }
    if (url)
        put_attribute(writer, "href", *url);
    put_text(&writer->out, ">");
    if (sets & SET_VOID)
        return;
    html->open[html->level++] = (Open){writer->tree->end[node], (uint16_t)tag};
    if (sets & SET_PREFORMATTED)
        html->fixed = (size_t)writer->tree->end[node];
}

static void leave_before(Html *html, size_t node)
{
    Writer *writer = html->writer;
    while (html->block_count && (size_t)html->blocks[html->block_count - 1] <= node) {
        html->block_count--;
        html->has_moved = 1;
    }
    while (html->level && (size_t)html->open[html->level - 1].end <= node) {
        int16_t tag = (int16_t)html->open[--html->level].does;
        put_text(&writer->out, "</");
        put_name(writer, tag);
        put_text(&writer->out, ">");
        if (tag_sets[tag] & (SET_BLOCK | SET_CELL))
            html->has_moved = html->is_begun = 0;
    }
}

/* Write an element, or what stands for it; the last node that is done with. */
static size_t put_element(Html *html, size_t node)
{
    Writer *writer = html->writer;
    const Tree *tree = writer->tree;
    int16_t tag = tree->tag[node];
    uint8_t said = writer->wording.said[node];
    Bytes url;
    const Formula *formula = said == SAID_FORMULA ? take_formula(&writer->wording, node) : NULL;
    if (formula) {
        put_formula(html, formula);
        return (size_t)formula->end - 1;
    }
    if (!tree->shown[node] || said == LEFT_OUT || is_unwanted(writer, node))
        return (size_t)tree->end[node] - 1;
    if (said == SAID_RAISED)
        put_text(&writer->out, "^");
    if (is_image(tree, node))
        put_image(html, node);
    else if (tag == TAG_a && writer->wanted.links != LINKS_TEXT && has_ink(writer, node) &&
             address_for(writer, node, "href", &url))
        put_start(html, node, &url);
    else if (is_kept(tag) && said == SAID_PLAIN)
        put_start(html, node, NULL);
    else if (tag_sets[tag] & SET_BLOCK) {
        html->has_moved = 1;
        html->blocks[html->block_count++] = tree->end[node];
    }
    return node;
}

void write_html_table(Writer *writer, size_t node)
{
    const Tree *tree = writer->tree;
    size_t end = (size_t)tree->end[node];
    Html html = {.writer = writer, .open = writer->open + writer->open_count};
    html.blocks = malloc((end - node) * sizeof(int32_t));
    if (!html.blocks) {
        writer->out.is_short = 1;
        return;
    }
    flush(writer);
    start_block(writer, 't');
    for (size_t i = node; i < end; i++) {
        leave_before(&html, i);
        if (tree->tag[i] == TAG_TEXT)
            put_text_node(&html, i);
        else
            i = put_element(&html, i);
    }
    leave_before(&html, end);
    free(html.blocks);
}

int needs_html(Writer *writer, size_t node)
{
    const Tree *tree = writer->tree;
    size_t rows = 0, cells = 0, heads = 0;
    int has_span = 0;
    if (is_layout(writer, node))
        return 0;
    for (size_t i = node + 1; i < (size_t)tree->end[node]; i++) {
        rows += tree->tag[i] == TAG_tr && has_ink(writer, i);
        heads += tree->tag[i] == TAG_th;
        if (!is_table_cell(writer, i))
            continue;
        cells++;
        has_span |= span_of(writer, i, "colspan") > 1 || span_of(writer, i, "rowspan") > 1;
    }
    int is_more = writer->facts[node] & (HOLDS_STRUCTURE | HOLDS_LIST | HOLDS_FIXED);
    return rows >= MIN_ROWS && cells >= MIN_CELLS && heads && (has_span || is_more);
}
