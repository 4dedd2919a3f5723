/* Blocks: what stands before them, and what their lines begin with. A list, an item or a quote is written only
   once there is a block in it, so none is empty. */

#include "markdown.h"

#include "escapes.h"
#include "white.h"

enum {
    MAX_NUMBER = 999999999, /* CommonMark reads nine digits. */
    LANGUAGE_LEVELS = 6,    /* How far above code its language may stand: a table with line numbers. */
    MAX_BESIDE_CODE = 20,   /* Characters around code that are no other text yet, but a button to copy it. */
    NOTE_INDENT = 4,        /* Of the further lines of a footnote. */
    FIRST_NODES = 32,       /* Among how many nodes of a callout its title stands. */
};

static const char spaces[] = "            ";

/* --- lines --- */

static void put_prefix_of(Writer *writer, size_t depth)
{
    for (size_t i = 1; i < depth; i++) {
        if (writer->containers[i].kind == CONTAINER_QUOTE)
            put_text(&writer->out, "> ");
        else
            put(&writer->out, spaces, writer->containers[i].width);
    }
}

void put_prefix(Writer *writer)
{
    put_prefix_of(writer, writer->depth);
}

static void end_line(Writer *writer)
{
    Buffer *out = &writer->out;
    while (out->size && out->bytes[out->size - 1] == ' ')
        out->size--;
    put(out, "\n", 1);
}

static int is_tight(const Writer *writer, size_t fresh, int kind)
{
    const Container *around = &writer->containers[fresh - 1];
    int is_loose = around->kind != CONTAINER_ITEM || writer->lists[around->list].is_loose;
    if (fresh == writer->depth)
        return !is_loose && around->last == LAST_PARAGRAPH && kind == 'c';
    const Container *begins = &writer->containers[fresh];
    if (begins->kind != CONTAINER_ITEM)
        return 0;
    const List *list = &writer->lists[begins->list];
    if (list->written)
        return !list->is_loose && around->last == list->sign; /* Text between items ends the list. */
    /* A list that does not begin with 1 cannot interrupt a paragraph. */
    int32_t number = begins->value >= 0 ? begins->value : list->number;
    return !is_loose && !list->is_loose && around->last == LAST_PARAGRAPH &&
           (list->tag_kind != LIST_NUMBERS || number == 1);
}

static void start_item(Writer *writer, size_t depth, int is_before_text)
{
    Container *item = &writer->containers[depth];
    List *list = &writer->lists[item->list];
    int is_numbered = list->tag_kind == LIST_NUMBERS;
    size_t before = writer->out.size;
    if (!list->written) {
        uint8_t first = is_numbered ? '.' : '-', other = is_numbered ? ')' : '*';
        list->sign = writer->containers[list->depth - 1].last == first ? other : first;
    }
    if (is_numbered) {
        char number[16];
        list->number = item->value >= 0 ? item->value : list->number;
        put(&writer->out, number, (size_t)PyOS_snprintf(number, sizeof(number), "%d", (int)list->number));
        if (list->is_reversed)
            list->number -= list->number > 0;
        else
            list->number += list->number < MAX_NUMBER;
    }
    put(&writer->out, &list->sign, 1);
    put(&writer->out, " ", 1);
    item->width = list->width = (uint8_t)(writer->out.size - before);
    if (item->task)
        put_text(&writer->out, item->task == 'x' ? "[x] " : "[ ] ");
    if (item->task && !is_before_text) { /* A box is read in front of words alone. */
        end_line(writer);
        put_prefix_of(writer, depth + 1);
        end_line(writer);
        put_prefix_of(writer, depth + 1);
    }
    list->written++;
    writer->containers[depth - 1].last = list->sign;
}

/* The line that says of a quote what kind of callout it is. */
static void put_callout(Writer *writer, size_t depth, int is_before_text)
{
    const char *kind = writer->containers[depth].callout;
    if (!kind)
        return;
    put_text(&writer->out, "[!");
    put_text(&writer->out, kind);
    put_text(&writer->out, "]\n");
    put_prefix_of(writer, depth + 1);
    if (is_before_text)
        return;
    end_line(writer); /* Not every other block may interrupt the line. */
    put_prefix_of(writer, depth + 1);
}

/* Put down that a block or a row begins here. */
void note_part(Writer *writer, size_t node, int kind)
{
    if (writer->wanted.has_parts) {
        Part part = {(int32_t)writer->out.size, (int32_t)node, kind};
        put(&writer->parts, &part, sizeof(part));
    }
}

/* The lines before a block, and what a list or a quote begins with. */
static void lead_to_block(Writer *writer, size_t fresh, int kind)
{
    if (!writer->out.size)
        return;
    int has_blank = !is_tight(writer, fresh, kind);
    put(&writer->out, "\n", 1);
    if (has_blank) {
        put_prefix_of(writer, fresh);
        end_line(writer);
    }
}

void start_block(Writer *writer, int kind)
{
    size_t fresh = 1;
    while (fresh < writer->depth && writer->containers[fresh].is_started)
        fresh++;
    lead_to_block(writer, fresh, kind);
    int part = kind == 'c' ? PART_CODE : kind == 't' ? PART_TABLE : writer->heading;
    note_part(writer, part >= PART_CODE ? writer->node : writer->paragraph.node, part);
    put_prefix_of(writer, fresh);
    for (; fresh < writer->depth; fresh++) {
        int is_before_text = fresh + 1 == writer->depth && kind == LAST_PARAGRAPH;
        if (writer->containers[fresh].kind == CONTAINER_ITEM) {
            start_item(writer, fresh, is_before_text);
        } else if (writer->containers[fresh].kind == CONTAINER_NOTE) {
            char label[24];
            int32_t number = writer->containers[fresh].value;
            put(&writer->out, label, (size_t)PyOS_snprintf(label, sizeof(label), "[^%d]: ", (int)number));
            writer->containers[fresh - 1].last = LAST_OTHER;
        } else {
            put_text(&writer->out, "> ");
            writer->containers[fresh - 1].last = LAST_OTHER;
            put_callout(writer, fresh, is_before_text);
        }
        writer->containers[fresh].is_started = 1;
    }
    writer->containers[writer->depth - 1].last = (uint8_t)(kind == LAST_PARAGRAPH ? kind : LAST_OTHER);
}

void flush(Writer *writer)
{
    static const char signs[] = "######";
    if (!is_blank(&writer->paragraph)) {
        end_paragraph(writer);
        start_block(writer, writer->heading ? LAST_OTHER : LAST_PARAGRAPH);
        if (writer->heading) {
            put(&writer->out, signs, (size_t)writer->heading);
            put(&writer->out, " ", 1);
        }
        write_inline(writer, writer->heading ? IN_HEADING : ON_LINES);
    }
    clear_paragraph(writer);
}

void write_rule(Writer *writer)
{
    flush(writer);
    if (!writer->out.size || writer->out.size == writer->rule_end ||
        !writer->containers[writer->depth - 1].is_started)
        return;
    writer->rule = writer->out.size;
    start_block(writer, LAST_OTHER);
    /* Not `---`: among pages in one file, that begins the next one's front matter. */
    put_text(&writer->out, "***");
    writer->rule_end = writer->out.size;
}

/* --- quotes and lists --- */

static Container *push_container(Writer *writer, ContainerKind kind, int32_t end)
{
    if (writer->depth == MAX_CONTAINERS)
        return NULL;
    Container *container = &writer->containers[writer->depth++];
    *container = (Container){.end = end, .kind = (uint8_t)kind, .value = -1};
    return container;
}

void end_containers(Writer *writer, size_t node)
{
    if (writer->depth > 1 && (size_t)writer->containers[writer->depth - 1].end <= node) {
        flush(writer);
        while (writer->depth > 1 && (size_t)writer->containers[writer->depth - 1].end <= node)
            writer->depth--;
    }
    while (writer->list_count && (size_t)writer->lists[writer->list_count - 1].end <= node)
        writer->list_count--;
}

void push_note(Writer *writer, size_t node, int32_t number)
{
    flush(writer);
    Container *note = push_container(writer, CONTAINER_NOTE, writer->tree->end[node]);
    if (!note)
        return;
    note->value = number;
    note->width = NOTE_INDENT;
}

void push_quote(Writer *writer, size_t node)
{
    flush(writer);
    push_container(writer, CONTAINER_QUOTE, writer->tree->end[node]);
}

/* --- callouts --- */

/* The first text of an element with ink that is content; its end without one. */
static size_t first_text(const Writer *writer, size_t node)
{
    size_t end = (size_t)writer->tree->end[node], stop = end - node > FIRST_NODES ? node + FIRST_NODES : end;
    for (size_t i = node + 1; i < stop; i++)
        if (writer->ink[i + 1] > writer->ink[i])
            return writer->tree->tag[i] == TAG_TEXT ? i : end;
    return end;
}

/* The kind of callout that a text names, and nothing else; NULL if it names none that GitHub has. */
static const char *kind_of_callout(Bytes text)
{
    static const char *const words[] = {"note", "tip", "important", "warning", "caution"};
    static const char *const kinds[] = {"NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION"};
    while (text.size && (is_white(text.bytes[text.size - 1]) || text.bytes[text.size - 1] == ':'))
        text.size--;
    while (text.size && is_white(*text.bytes))
        text = (Bytes){text.bytes + 1, text.size - 1};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (text.size == strlen(words[i]) && stands_at(text, 0, words[i]))
            return kinds[i];
    return NULL;
}

/* A box that is marked as a callout is a quote, of a kind if it says that kind first. */
int push_callout(Writer *writer, size_t node)
{
    static const char *const marks[] = {"admonition", "callout", "markdown-alert", "custom-block", "alert"};
    const Tree *tree = writer->tree;
    Bytes names;
    int is_marked = 0;
    if (tree->stop[node] - tree->start[node] > MAX_MARKED_TAG || !has_ink(writer, node) ||
        !attribute_value(writer, node, "class", &names))
        return 0;
    for (size_t at = 0, stop; at < names.size && !is_marked; at = stop + 1) {
        for (stop = at; stop < names.size && !is_white(names.bytes[stop]); stop++)
            continue;
        for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
            is_marked |= stop - at == strlen(marks[i]) && stands_at(names, at, marks[i]);
    }
    if (!is_marked)
        return 0;
    size_t text = first_text(writer, node);
    push_quote(writer, node);
    if (text == (size_t)tree->end[node] || writer->containers[writer->depth - 1].end != tree->end[node])
        return 1;
    Bytes said = {tree->source.bytes + tree->start[text], (size_t)(tree->stop[text] - tree->start[text])};
    const char *kind = kind_of_callout(said);
    int is_more = writer->ink[tree->end[node]] - writer->ink[node] > 1;
    if (kind && is_more) {
        writer->containers[writer->depth - 1].callout = kind;
        writer->wording.said[text] = LEFT_OUT;
    }
    return 1;
}

/* --- lists --- */

/* The number that an attribute says, if a list of CommonMark can have it; -1 if not. */
static int32_t number_in(Writer *writer, size_t node, const char *name)
{
    Bytes value;
    size_t at = 0, white, digits = 0;
    int32_t number = 0;
    if (!attribute_value(writer, node, name, &value))
        return -1;
    while (at < value.size && (white = white_at(value.bytes + at, value.size - at)))
        at += white;
    at += at < value.size && value.bytes[at] == '+';
    for (; at < value.size && value.bytes[at] >= '0' && value.bytes[at] <= '9'; at++, digits++) {
        if (digits == 9)
            return -1;
        number = 10 * number + (value.bytes[at] - '0');
    }
    return digits ? number : -1;
}

static List *add_list(Writer *writer, int32_t end, int kind)
{
    if (writer->list_count == writer->list_room) {
        size_t room = 2 * writer->list_room + 16;
        List *moved = realloc(writer->lists, room * sizeof(List));
        if (!moved) {
            writer->out.is_short = 1;
            return NULL;
        }
        writer->lists = moved;
        writer->list_room = room;
    }
    List *list = &writer->lists[writer->list_count++];
    *list = (List){.end = end, .depth = writer->depth, .number = 1, .tag_kind = (uint8_t)kind};
    return list;
}

/* The list that an item belongs to now; NULL where none is open around it. */
static List *open_list(Writer *writer)
{
    List *list = writer->list_count ? &writer->lists[writer->list_count - 1] : NULL;
    return list && list->depth == writer->depth ? list : NULL;
}

/* The number of the first item. A list that counts down ends with 1 if it does not say where it begins; one that
   would go below 0 counts up. */
static void number_list(Writer *writer, List *list, size_t node)
{
    const Tree *tree = writer->tree;
    Bytes value;
    int32_t start = number_in(writer, node, "start"), count = 0;
    list->number = start >= 0 ? start : 1;
    if (!attribute_value(writer, node, "reversed", &value))
        return;
    for (size_t i = node + 1; i < (size_t)tree->end[node]; i = (size_t)tree->end[i])
        count += tree->tag[i] == TAG_li && has_ink(writer, i);
    if (!attribute_value(writer, node, "start", &value))
        start = count;
    list->is_reversed = start >= 0 && start >= count - 1;
    list->number = list->is_reversed ? start : 1;
}

void push_list(Writer *writer, size_t node)
{
    const Tree *tree = writer->tree;
    flush(writer);
    List *around = open_list(writer);
    if (around && around->written) {
        /* A list right in a list belongs to the item before it. */
        int32_t place = (int32_t)(writer->list_count - 1);
        uint8_t width = around->width;
        Container *item = push_container(writer, CONTAINER_ITEM, tree->end[node]);
        if (item)
            *item = (Container){.end = tree->end[node], .kind = CONTAINER_ITEM, .is_started = 1,
                                .last = LAST_PARAGRAPH, .width = width, .list = place, .value = -1};
    }
    const Container *inside = &writer->containers[writer->depth - 1];
    if (tree->tag[node] == TAG_dl && inside->kind == CONTAINER_ITEM && !inside->is_started)
        return; /* An item that begins with terms has their signs already. */
    int kind = tree->tag[node] == TAG_ol ? LIST_NUMBERS : tree->tag[node] == TAG_dl ? LIST_TERMS : LIST_BULLETS;
    List *list = add_list(writer, tree->end[node], kind);
    if (!list)
        return;
    list->is_loose = (writer->facts[node] & IS_LOOSE) != 0;
    if (kind == LIST_NUMBERS)
        number_list(writer, list, node);
}

void push_item(Writer *writer, size_t node)
{
    const Tree *tree = writer->tree;
    flush(writer);
    if (writer->depth == MAX_CONTAINERS)
        return;
    List *list = open_list(writer);
    if (!list) {
        /* One without a list makes one with its neighbours. */
        list = add_list(writer, end_around(tree, node), LIST_BULLETS);
        if (!list)
            return;
    }
    int32_t place = (int32_t)(list - writer->lists);
    int is_numbered = list->tag_kind == LIST_NUMBERS;
    Container *item = push_container(writer, CONTAINER_ITEM, tree->end[node]);
    item->list = place;
    if (is_numbered)
        item->value = number_in(writer, node, "value");
}

/* A term begins an item, which goes on to the next term. What it means stands on the next line of it, or in
   blocks of its own. */
void enter_definition(Writer *writer, size_t node)
{
    const Tree *tree = writer->tree;
    Paragraph *paragraph = &writer->paragraph;
    List *list = writer->list_count ? &writer->lists[writer->list_count - 1] : NULL;
    int is_term_list = list && list->tag_kind == LIST_TERMS;
    int is_in_item = is_term_list ? writer->depth == list->depth + 1 : tree->tag[tree->parent[node]] == TAG_dl;
    if (tree->tag[node] == TAG_dd && is_in_item) {
        if (writer->facts[node] & HOLDS_BLOCK) {
            flush(writer);
        } else if (!is_blank(paragraph)) {
            paragraph->has_moved = 0;
            paragraph->breaks = 1;
        }
        return;
    }
    flush(writer);
    if (!is_term_list)
        return;
    if (is_in_item)
        writer->depth--;
    if (writer->depth != list->depth || writer->depth == MAX_CONTAINERS)
        return;
    int32_t place = (int32_t)(list - writer->lists), end = list->end;
    push_container(writer, CONTAINER_ITEM, end)->list = place;
}

/* --- code --- */

/* Put the language that an element says down in `scratch`; 0 if it says none. */
static int take_language(Writer *writer, size_t node, int is_around)
{
    const Tree *tree = writer->tree;
    size_t start = (size_t)tree->start[node], stop = (size_t)tree->stop[node];
    if (writer->is_failed || stop - start > MAX_MARKED_TAG || find_byte(tree->source, ' ', start, stop) == stop)
        return 0;
    PyObject *tag = PyBytes_FromStringAndSize((const char *)tree->source.bytes + start,
                                              (Py_ssize_t)(stop - start));
    PyObject *found = NULL, *bytes = NULL;
    if (tag)
        found = PyObject_CallFunctionObjArgs(writer->language, tag, is_around ? Py_True : Py_False, NULL);
    if (found && found != Py_None)
        bytes = PyUnicode_AsUTF8String(found);
    if (bytes) {
        writer->scratch.size = 0;
        put(&writer->scratch, PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes));
    }
    int is_known = bytes != NULL;
    Py_XDECREF(tag);
    Py_XDECREF(found);
    Py_XDECREF(bytes);
    writer->is_failed |= PyErr_Occurred() != NULL;
    return is_known;
}

/* The language that a block, the code in it, or an element around it is marked with, in `scratch`. An element
   around it counts as long as it holds little more than code. */
static int find_language(Writer *writer, size_t node)
{
    const Tree *tree = writer->tree;
    size_t below = node + 1, end = (size_t)tree->end[node], around = node;
    for (int level = 0; level < LANGUAGE_LEVELS && below < end; level++, below++) {
        int16_t tag = tree->tag[below];
        if (tag == TAG_TEXT ? tree->text_length[below] > 0 : tag == TAG_span)
            break;
        if ((tag == TAG_code || tag == TAG_samp || tag_sets[tag] & SET_PREFORMATTED) &&
            take_language(writer, below, 0))
            return 1;
    }
    if (take_language(writer, node, 0))
        return 1;
    int32_t own = writer->outside[end] - writer->outside[node]; /* Code need not be preformatted. */
    for (int level = 0; level < LANGUAGE_LEVELS && tree->parent[around] > 0; level++) {
        around = (size_t)tree->parent[around];
        if (writer->outside[tree->end[around]] - writer->outside[around] - own > MAX_BESIDE_CODE)
            break;
        if (take_language(writer, around, 1))
            return 1;
    }
    return 0;
}

void begin_code(Writer *writer, size_t node, int is_fixed)
{
    flush(writer);
    writer->code.size = 0;
    writer->code_node = (int32_t)node;
    writer->code_end = writer->tree->end[node];
    writer->is_fixed = is_fixed;
    writer->is_code_moved = 0;
}

void break_code(Writer *writer)
{
    while (writer->code.size && writer->code.bytes[writer->code.size - 1] == ' ' && !writer->is_fixed)
        writer->code.size--;
    put(&writer->code, "\n", 1);
    writer->is_code_moved = 0;
}

void add_code(Writer *writer, size_t node)
{
    const Tree *tree = writer->tree;
    size_t size = (size_t)(tree->stop[node] - tree->start[node]);
    uint8_t *room = room_in(&writer->code, size + 1);
    if (!room)
        return;
    const uint8_t *from = tree->source.bytes + tree->start[node];
    Buffer *code = &writer->code;
    if (writer->is_code_moved && code->size && code->bytes[code->size - 1] != '\n')
        code->bytes[code->size++] = '\n';
    writer->is_code_moved = 0;
    for (size_t at = 0, length; at < size; at += length) {
        if ((length = control_at(from + at, size - at)))
            continue;
        length = 1;
        uint8_t byte = fixed_byte(from[at]);
        if (byte == 0xE2 && size - at >= 3 && from[at + 1] == 0x80 && from[at + 2] == 0x8B) {
            length = 3; /* A space without width is no part of any language. */
            continue;
        }
        if (byte == '&' && !tree->raw[node])
            byte = unescaped(from + at, size - at, &length);
        if (byte == NO_BREAK_SPACE && length > 1)
            byte = ' ';
        if (!writer->is_fixed && is_white(byte)) {
            uint8_t last = code->size ? code->bytes[code->size - 1] : '\n';
            if (last == ' ' || last == '\n')
                continue;
            byte = ' ';
        }
        code->bytes[code->size++] = byte;
    }
}

/* How many backticks a fence needs: more than any line in it begins with. */
static size_t fence_for(Bytes code)
{
    size_t longest = 2, run = 0;
    for (size_t i = 0; i < code.size; i++) {
        run = code.bytes[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest + 1;
}

static void put_fence(Writer *writer, size_t size)
{
    while (size--)
        put(&writer->out, "`", 1);
}

static void put_code_lines(Writer *writer, Bytes code)
{
    for (size_t at = 0; at < code.size;) {
        size_t stop = find_byte(code, '\n', at, code.size);
        put(&writer->out, "\n", 1);
        if (stop > at) {
            put_prefix(writer);
            put(&writer->out, code.bytes + at, stop - at);
        } else {
            size_t line = writer->out.size;
            put_prefix(writer);
            while (writer->out.size > line && writer->out.bytes[writer->out.size - 1] == ' ')
                writer->out.size--;
        }
        at = stop + 1;
    }
}

void end_code(Writer *writer, size_t node)
{
    size_t size = writer->code.size, from = 0;
    const uint8_t *bytes = writer->code.bytes;
    writer->code_end = -1;
    while (size && is_white(bytes[size - 1]))
        size--;
    for (size_t i = 0; i < size && is_white(bytes[i]); i++)
        if (bytes[i] == '\n')
            from = i + 1;
    if (!size)
        return;
    Bytes code = {bytes + from, size - from};
    size_t fence = fence_for(code);
    writer->node = node;
    start_block(writer, 'c');
    put_fence(writer, fence);
    if (find_language(writer, node))
        put(&writer->out, writer->scratch.bytes, writer->scratch.size);
    put_code_lines(writer, code);
    put(&writer->out, "\n", 1);
    put_prefix(writer);
    put_fence(writer, fence);
}
