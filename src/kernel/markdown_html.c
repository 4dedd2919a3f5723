/* Tables that GitHub's cannot hold, as HTML without any attribute but spans and addresses. They are written only
   where the user asks for them. */

#include "markdown.h"

#include "escapes.h"

enum { MIN_ROWS = 2, MIN_CELLS = 3 };

/* Is it written as an element? All others are only their text. */
static int is_kept(int16_t tag)
{
    switch (tag) {
    case TAG_caption: case TAG_thead: case TAG_tbody: case TAG_tfoot: case TAG_tr: case TAG_th: case TAG_td:
    case TAG_table: case TAG_p: case TAG_br: case TAG_ul: case TAG_ol: case TAG_li: case TAG_dl: case TAG_dt:
    case TAG_dd: case TAG_code: case TAG_pre: case TAG_b: case TAG_strong: case TAG_i: case TAG_em: case TAG_s:
    case TAG_del: case TAG_sub: case TAG_sup: case TAG_blockquote: case TAG_a:
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

static void put_text_node(Writer *writer, size_t node, int is_fixed)
{
    const Tree *tree = writer->tree;
    Bytes text = {tree->source.bytes + tree->start[node], (size_t)(tree->stop[node] - tree->start[node])};
    writer->scratch.size = 0;
    uint8_t *room = room_in(&writer->scratch, text.size);
    if (!room)
        return;
    if (tree->raw[node])
        memcpy(room, text.bytes, text.size);
    else
        text.size = put_unescaped(text.bytes, text.size, room);
    put_escaped(&writer->out, (Bytes){room, text.size}, is_fixed);
}

static void put_span(Writer *writer, size_t node, const char *name)
{
    int32_t span = span_of(writer, node, name);
    char written[40];
    if (span > 1)
        put(&writer->out, written, (size_t)PyOS_snprintf(written, sizeof(written), " %s=\"%d\"", name, (int)span));
}

static void put_start(Writer *writer, size_t node)
{
    int16_t tag = writer->tree->tag[node];
    if (tag == TAG_tr) {
        put_text(&writer->out, "\n");
        put_prefix(writer);
    }
    put_text(&writer->out, "<");
    put_name(writer, tag);
    if (tag_sets[tag] & SET_CELL) {
        put_span(writer, node, "colspan");
        put_span(writer, node, "rowspan");
    }
    Bytes url;
    if (tag == TAG_a && address_for(writer, node, "href", &url)) {
        put_text(&writer->out, " href=\"");
        put_escaped(&writer->out, url, 0);
        put_text(&writer->out, "\"");
    }
    put_text(&writer->out, ">");
}

static void put_end(Writer *writer, int16_t tag)
{
    if (tag == TAG_br)
        return;
    put_text(&writer->out, "</");
    put_name(writer, tag);
    put_text(&writer->out, ">");
}

static void put_formula(Writer *writer, const Formula *formula)
{
    put_text(&writer->out, "$");
    put_escaped(&writer->out, latex_of(&writer->wording, formula), 0);
    put_text(&writer->out, "$");
}

/* Write what a node says; the last node of it. */
static size_t put_node(Writer *writer, size_t node, int is_fixed)
{
    const Tree *tree = writer->tree;
    uint8_t said = writer->wording.said[node];
    const Formula *formula = said == SAID_FORMULA ? take_formula(&writer->wording, node) : NULL;
    if (formula && formula->from < 0) {
        put_formula(writer, formula);
        return (size_t)formula->end - 1;
    }
    if (tree->tag[node] == TAG_TEXT) {
        if (tree->shown[node] && (!tree->text_length[node] || writer->labels[node] == LABEL_CONTENT))
            put_text_node(writer, node, is_fixed);
        return node;
    }
    if (!tree->shown[node] || said == LEFT_OUT)
        return (size_t)tree->end[node] - 1;
    if (said == SAID_RAISED)
        put_text(&writer->out, "^");
    return node;
}

void write_html_table(Writer *writer, size_t node)
{
    const Tree *tree = writer->tree;
    Open *open = writer->open + writer->open_count;
    size_t level = 0, fixed = 0, end = (size_t)tree->end[node];
    flush(writer);
    start_block(writer, 't');
    for (size_t i = node; i <= end; i++) {
        while (level && (size_t)open[level - 1].end <= i)
            put_end(writer, (int16_t)open[--level].does);
        if (i == end)
            break;
        size_t last = put_node(writer, i, i < fixed);
        if (last == i && is_kept(tree->tag[i]) && writer->wording.said[i] == SAID_PLAIN && tree->shown[i]) {
            put_start(writer, i);
            open[level++] = (Open){tree->end[i], (uint16_t)tree->tag[i]};
            if (tag_sets[tree->tag[i]] & SET_PREFORMATTED)
                fixed = (size_t)tree->end[i];
        }
        i = last;
    }
}

int needs_html(Writer *writer, size_t node)
{
    const Tree *tree = writer->tree;
    size_t rows = 0, cells = 0, heads = 0;
    int has_span = 0;
    Bytes role;
    if (attribute_value(writer, node, "role", &role))
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
