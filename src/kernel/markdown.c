/* `markdown`: the content of a labelled tree as Markdown. */

#include "markdown.h"

enum { MAX_NOTE = 9999 /* The number of a footnote; links to further ones stay links. */ };

/* What is done when an element ends. */
enum {
    ENDS_BLOCK = 1,
    ENDS_STYLE = 2,
    ENDS_ANCHOR = 4,
    ENDS_HEADING = 8,
    ENDS_SOFT = 16,
    ENDS_QUOTE_MARK = 32,
    ENDS_CODE = 64,
    ENDS_ROW = 128,
    ENDS_TABLE = 256,
    CUTS = 512,
    ENDS_READING = 1024, /* Of ruby. */
};

enum { MAX_ROW_LINE = 300 /* Characters of a row that only places texts, and is a line then. */ };

/* --- what is known before the walk --- */

static int is_heading(int16_t tag)
{
    return tag >= TAG_h1 && tag <= TAG_h6;
}

static int is_list(int16_t tag)
{
    return tag == TAG_ul || tag == TAG_ol || tag == TAG_dl || tag == TAG_menu || tag == TAG_dir ||
           tag == TAG_select;
}

static int is_inked(const Writer *writer, size_t node)
{
    const Tree *tree = writer->tree;
    if (is_image(tree, node))
        return is_content(writer, node);
    return tree->tag[node] == TAG_TEXT && tree->text_length[node] > 0 && writer->labels[node] == LABEL_CONTENT;
}

/* How many nodes are passed over from one on: it is left out, or a formula stands for them. */
static size_t passed_over(const Writer *writer, size_t node, size_t formula)
{
    const Wording *wording = &writer->wording;
    if (wording->said[node] == LEFT_OUT)
        return (size_t)writer->tree->end[node] - node;
    return wording->said[node] == SAID_FORMULA ? (size_t)wording->formulas[formula].end - node : 0;
}

/* Count ink and text outside of code before each node. */
static void count_ink(Writer *writer)
{
    const Tree *tree = writer->tree;
    size_t fixed = 0, formula = 0;
    writer->ink[0] = writer->outside[0] = 0;
    for (size_t i = 0; i < tree->count; i++) {
        if (tag_sets[tree->tag[i]] & SET_PREFORMATTED && (size_t)tree->end[i] > fixed)
            fixed = (size_t)tree->end[i];
        while (formula < writer->wording.count && (size_t)writer->wording.formulas[formula].node < i)
            formula++;
        size_t passed = passed_over(writer, i, formula);
        int32_t ink = writer->ink[i] + (passed ? writer->wording.said[i] == SAID_FORMULA : is_inked(writer, i));
        int32_t outside = writer->outside[i];
        if (!passed && tree->tag[i] == TAG_TEXT && i >= fixed)
            outside += tree->text_length[i];
        for (size_t stop = i + (passed ? passed : 1); i < stop; i++) {
            writer->ink[i + 1] = ink;
            writer->outside[i + 1] = outside;
        }
        i--;
    }
}

/* What each element holds. From the last node on: `next` is where the next one of a kind stands. */
static void find_held(Writer *writer)
{
    enum { KINDS = 6 };
    const Tree *tree = writer->tree;
    size_t next[KINDS];
    for (size_t k = 0; k < KINDS; k++)
        next[k] = SIZE_MAX;
    for (size_t i = tree->count; i-- > 0;) {
        int16_t tag = tree->tag[i];
        uint8_t held = 0;
        if (tag == TAG_TEXT) {
            writer->facts[i] = 0;
            continue;
        }
        for (size_t k = 0; k < KINDS; k++)
            held |= (uint8_t)((next[k] < (size_t)tree->end[i]) << k);
        writer->facts[i] = held;
        if (!tree->shown[i])
            continue;
        if (tag == TAG_br)
            next[2] = i;
        if (!has_ink(writer, i) && tag != TAG_hr)
            continue;
        uint32_t sets = tag_sets[tag];
        if (sets & (SET_BLOCK | SET_CELL))
            next[0] = i;
        if (sets & SET_PREFORMATTED)
            next[1] = i;
        if (is_heading(tag))
            next[3] = i;
        if (sets & SET_STRUCTURE)
            next[4] = i;
        if (is_list(tag))
            next[5] = i;
    }
}

/* An item that has not ended, or a list whose last item has not. */
typedef struct {
    int32_t end, list, paragraphs;
} OpenItem;

/* Find lists with an item of several paragraphs: its items are parted by empty lines. */
static int find_loose(Writer *writer)
{
    const Tree *tree = writer->tree;
    int32_t *blocks = malloc((tree->count + 1) * (sizeof(int32_t) + sizeof(OpenItem) + sizeof(int32_t)));
    if (!blocks)
        return 0;
    OpenItem *items = (OpenItem *)(void *)(blocks + tree->count + 1);
    int32_t *lists = (int32_t *)(void *)(items + tree->count + 1);
    size_t block_count = 0, item_count = 0, list_count = 0, fixed = 0;
    int has_moved = 0, breaks = 0;
    for (size_t i = 0; i < tree->count; i++) {
        int16_t tag = tree->tag[i];
        while (block_count && (size_t)blocks[block_count - 1] <= i) {
            block_count--;
            has_moved = 1;
        }
        while (item_count && (size_t)items[item_count - 1].end <= i)
            item_count--;
        while (list_count && (size_t)tree->end[lists[list_count - 1]] <= i)
            list_count--;
        if (tag != TAG_TEXT && (!tree->shown[i] || writer->wording.said[i] == LEFT_OUT)) {
            i = (size_t)tree->end[i] - 1;
            continue;
        }
        if (writer->ink[i + 1] > writer->ink[i] && i >= fixed) {
            if (item_count && (has_moved || breaks > 1) && ++items[item_count - 1].paragraphs > 1)
                writer->facts[items[item_count - 1].list] |= IS_LOOSE;
            has_moved = breaks = 0;
        }
        breaks += tag == TAG_br;
        if (!(tag_sets[tag] & (SET_BLOCK | SET_CELL)))
            continue;
        if (tag == TAG_dd && !(writer->facts[i] & HOLDS_BLOCK) && list_count) {
            has_moved &= item_count == 0 || items[item_count - 1].paragraphs == 0;
            continue;
        }
        has_moved = 1;
        if (tag_sets[tag] & SET_PREFORMATTED && (size_t)tree->end[i] > fixed)
            fixed = (size_t)tree->end[i];
        blocks[block_count++] = tree->end[i];
        if (is_list(tag))
            lists[list_count++] = (int32_t)i;
        if (!list_count || !(tag == TAG_li || tag == TAG_dt))
            continue;
        int32_t list = lists[list_count - 1];
        if (tag == TAG_dt && item_count && items[item_count - 1].list == list)
            item_count--;
        items[item_count++] = (OpenItem){tag == TAG_dt ? tree->end[list] : tree->end[i], list, 0};
    }
    free(blocks);
    return 1;
}

/* --- footnotes --- */

/* Is any text of an element content? */
static int has_content(const Writer *writer, size_t node)
{
    for (size_t i = node; i < (size_t)writer->tree->end[node]; i++)
        if (is_inked(writer, i))
            return 1;
    return 0;
}

/* Put down which nodes belong to footnotes that are content; 0 without memory. */
static int mark_footnotes(Writer *writer)
{
    const Tree *tree = writer->tree;
    size_t count = writer->footnote_count;
    uint8_t *said = writer->wording.said, *is_said = count ? calloc(MAX_NOTE + 1, 1) : NULL;
    if (count && !is_said)
        return 0;
    for (size_t i = 0; i < count; i++) {
        const Footnote *note = &writer->footnotes[i];
        int is_sound = note->node >= 0 && (size_t)note->node < tree->count && note->number > 0 &&
                       note->number <= MAX_NOTE;
        if (is_sound && note->kind == FOOTNOTE_TEXT)
            is_said[note->number] = (uint8_t)has_content(writer, (size_t)note->node);
    }
    for (size_t i = 0; i < count; i++) {
        const Footnote *note = &writer->footnotes[i];
        if (note->number <= 0 || note->number > MAX_NOTE || !is_said[note->number] || note->node < 0 ||
            (size_t)note->node >= tree->count ||
            (said[note->node] != SAID_PLAIN && said[note->node] != SAID_JOINED))
            continue;
        said[note->node] = note->kind == FOOTNOTE_TEXT ? SAID_NOTE
                           : note->kind == FOOTNOTE_GONE ? LEFT_OUT : SAID_REFERENCE;
    }
    free(is_said);
    return 1;
}

/* The number of the footnote that a node belongs to. */
static int32_t footnote_of(Writer *writer, size_t node)
{
    while (writer->next_footnote < writer->footnote_count &&
           (size_t)writer->footnotes[writer->next_footnote].node < node)
        writer->next_footnote++;
    return writer->next_footnote < writer->footnote_count ? writer->footnotes[writer->next_footnote].number : 0;
}

/* --- the walk --- */

static void push_open(Writer *writer, size_t node, int does)
{
    if (does)
        writer->open[writer->open_count++] = (Open){writer->tree->end[node], (uint16_t)does};
}

static void leave(Writer *writer, int does, size_t node)
{
    Paragraph *paragraph = &writer->paragraph;
    if (does & ENDS_QUOTE_MARK)
        add_literal(writer, "\"");
    if (does & ENDS_READING)
        add_literal(writer, ")");
    if (does & ENDS_HEADING) {
        flush(writer);
        writer->heading = 0;
    }
    if (does & ENDS_CODE)
        end_code(writer, node);
    if (does & ENDS_ROW && writer->table.is_in_row)
        end_row(writer);
    if (does & ENDS_TABLE)
        writer->table.end = -1;
    if (does & ENDS_STYLE)
        writer->styles.count--;
    writer->soft -= (does & ENDS_SOFT) != 0;
    writer->anchors -= (does & ENDS_ANCHOR) != 0;
    paragraph->has_moved |= (does & ENDS_BLOCK) != 0;
    writer->is_code_moved |= (does & ENDS_BLOCK) != 0;
    paragraph->is_cut |= (does & CUTS) != 0;
}

/* May a block begin here that is more than lines? */
static int may_structure(const Writer *writer)
{
    return !writer->heading && !writer->soft && writer->table.end < 0;
}

/* A box in an item that is ticked or not. */
static void enter_input(Writer *writer, size_t node)
{
    Bytes value;
    Container *item = &writer->containers[writer->depth - 1];
    if (item->kind != CONTAINER_ITEM || item->is_started || !is_blank(&writer->paragraph) ||
        !is_content(writer, node) || !attribute_value(writer, node, "type", &value) || value.size != 8 ||
        !stands_at(value, 0, "checkbox"))
        return;
    item->task = attribute_value(writer, node, "checked", &value) ? 'x' : ' ';
}

static int enter_link(Writer *writer, size_t node)
{
    int answer = push_link(writer, node), does = ENDS_ANCHOR;
    if (writer->facts[node] & HOLDS_BLOCK) {
        does |= ENDS_BLOCK;
        writer->paragraph.has_moved = 1;
    }
    writer->anchors++;
    writer->paragraph.is_new_anchor = writer->wording.said[node] != SAID_JOINED;
    if (answer)
        does |= ENDS_STYLE;
    if (answer == 2) {
        if (may_structure(writer))
            flush(writer); /* All in it is on one line. */
        writer->soft++;
        does |= ENDS_SOFT;
    }
    return does;
}

/* The link that all of an element is in; 0 for none. */
static size_t whole_link(const Writer *writer, size_t node)
{
    const Tree *tree = writer->tree;
    size_t at = node + 1, end = (size_t)tree->end[node];
    while (at < end && tree->tag[at] != TAG_a && writer->ink[at + 1] == writer->ink[node])
        at++;
    int is_whole = at < end && tree->tag[at] == TAG_a && writer->ink[tree->end[at]] == writer->ink[end];
    return is_whole ? at : 0;
}

static int enter_code(Writer *writer, size_t node)
{
    uint8_t facts = writer->facts[node];
    writer->paragraph.is_cut |= writer->wording.said[node] == SAID_APART;
    if (facts & HOLDS_FIXED)
        return 0;
    int is_block = (facts & (HOLDS_BREAK | HOLDS_BLOCK)) != 0;
    if (is_block && may_structure(writer) && has_ink(writer, node)) {
        begin_code(writer, node, 0);
        return ENDS_CODE;
    }
    size_t link = is_block ? 0 : whole_link(writer, node);
    if (link && push_link(writer, link)) /* Around the code, where Markdown can have it. */
        push_open(writer, node, ENDS_STYLE);
    return push_style(writer, STYLE_CODE, node) ? ENDS_STYLE : 0;
}

/* Does a reading of ruby stand between brackets of the page's own? */
static int has_brackets(const Tree *tree, size_t node)
{
    size_t last = node ? node - 1 : 0;
    while (last && tree->tag[last] == TAG_TEXT && tree->text_length[last] == 0)
        last--;
    return tree->tag[last] == TAG_rp || (tree->parent[last] > 0 && tree->tag[tree->parent[last]] == TAG_rp);
}

/* An element that changes the text in it, or stands in it. */
static int enter_inline(Writer *writer, size_t node)
{
    switch (writer->tree->tag[node]) {
    case TAG_a:
        return enter_link(writer, node);
    case TAG_b:
    case TAG_strong:
        return push_style(writer, STYLE_STRONG, node) ? ENDS_STYLE : 0;
    case TAG_i:
    case TAG_em:
        return push_style(writer, STYLE_EMPHASIS, node) ? ENDS_STYLE : 0;
    case TAG_s:
    case TAG_del:
    case TAG_strike:
        return push_style(writer, STYLE_STRUCK, node) ? ENDS_STYLE : 0;
    case TAG_code:
    case TAG_kbd:
    case TAG_samp:
    case TAG_tt:
        return enter_code(writer, node);
    case TAG_br:
        writer->paragraph.breaks++;
        return 0;
    case TAG_img:
    case TAG_amp_img:
        add_image(writer, node);
        return 0;
    case TAG_input:
        enter_input(writer, node);
        return 0;
    case TAG_sup:
        if (writer->wording.said[node] == SAID_RAISED)
            add_literal(writer, "^");
        return 0;
    case TAG_q:
        if (!has_ink(writer, node))
            return 0;
        add_literal(writer, "\"");
        return ENDS_QUOTE_MARK;
    case TAG_rt:
        if (!has_ink(writer, node) || has_brackets(writer->tree, node))
            return 0;
        add_literal(writer, "(");
        return ENDS_READING;
    default:
        return 0;
    }
}

/* A block that is more than a paragraph. */
static int enter_structure(Writer *writer, size_t node)
{
    int16_t tag = writer->tree->tag[node];
    if (is_heading(tag)) {
        flush(writer);
        writer->heading = tag - TAG_h1 + 1;
        return ENDS_HEADING;
    }
    if (is_list(tag)) {
        push_list(writer, node);
        return 0;
    }
    if (tag_sets[tag] & SET_PREFORMATTED || shows_code(writer->tree, node)) {
        begin_code(writer, node, 1);
        return ENDS_CODE;
    }
    switch (tag) {
    case TAG_blockquote:
        push_quote(writer, node);
        return 0;
    case TAG_li:
        push_item(writer, node);
        return 0;
    case TAG_dt:
    case TAG_dd:
        enter_definition(writer, node);
        return 0;
    case TAG_hr:
        if (is_content(writer, node))
            write_rule(writer);
        return 0;
    case TAG_table:
        if (writer->wanted.has_html_tables && needs_html(writer, node)) {
            write_html_table(writer, node);
            writer->passed = (size_t)writer->tree->end[node];
            return 0;
        }
        return begin_table(writer, node) ? ENDS_TABLE : 0;
    case TAG_summary:
        flush(writer);
        return !(writer->facts[node] & HOLDS_BLOCK) && push_style(writer, STYLE_STRONG, node) ? ENDS_STYLE : 0;
    case TAG_div:
    case TAG_aside:
    case TAG_section:
        push_callout(writer, node);
        return 0;
    default:
        return 0;
    }
}

/* Is it a row that only places short texts beside each other, as pages write the parts of a declaration? Doxygen has a
   table of them. */
static int is_row_of_texts(const Writer *writer, size_t node)
{
    const Tree *tree = writer->tree;
    uint8_t wider = HOLDS_FIXED | HOLDS_BREAK | HOLDS_HEADING | HOLDS_STRUCTURE | HOLDS_LIST;
    int is_declared = tree->tag[node] == TAG_table && is_written(tree, node, "<table class=\"memname\">");
    if (is_declared)
        return !(writer->facts[node] & wider);
    if (tree->tag[node] != TAG_tr || writer->facts[node] & wider || tree->text_length[node] > MAX_ROW_LINE)
        return 0;
    for (int32_t i = (int32_t)node + 1; i < tree->end[node]; i = tree->end[i])
        if (writer->facts[i] & HOLDS_BLOCK)
            return 0;
    return 1;
}

static void enter(Writer *writer, size_t node)
{
    int16_t tag = writer->tree->tag[node];
    uint32_t sets = tag_sets[tag];
    int does = sets & SET_THING ? CUTS : 0;
    writer->paragraph.is_cut |= does != 0;
    if (!(sets & (SET_BLOCK | SET_CELL))) {
        push_open(writer, node, does | enter_inline(writer, node));
        return;
    }
    does |= ENDS_BLOCK;
    writer->paragraph.has_moved = 1;
    if (writer->wording.said[node] == SAID_NOTE && may_structure(writer)) {
        push_note(writer, node, footnote_of(writer, node));
    } else if (writer->table.end >= 0) {
        if (tag == TAG_tr && has_ink(writer, node)) { /* Those of an empty table in a cell are not. */
            enter_row(writer);
            does |= ENDS_ROW;
        } else if (is_table_cell(writer, node) && writer->table.is_in_row) {
            enter_cell(writer);
        } else if (sets & SET_PREFORMATTED && push_style(writer, STYLE_CODE, node)) {
            writer->fixed_end = (size_t)writer->tree->end[node];
            writer->paragraph.is_in_fixed = 0;
            does |= ENDS_STYLE;
        }
    } else if (may_structure(writer) && is_row_of_texts(writer, node)) {
        flush(writer);
        writer->soft++;
        does |= ENDS_SOFT;
    } else if (may_structure(writer)) {
        does |= enter_structure(writer, node);
    }
    push_open(writer, node, does);
}

/* In a block of code nothing counts but text and lines. */
static void walk_code(Writer *writer, size_t node)
{
    const Tree *tree = writer->tree;
    int16_t tag = tree->tag[node];
    if (tag == TAG_TEXT) {
        /* Between rows, and between the lines of Doxygen, there is none. */
        size_t around = (size_t)tree->parent[node];
        int is_space = tree->text_length[node] == 0 && tree->shown[node] &&
                       !(tag_sets[tree->tag[around]] & SET_ROW) &&
                       !((int32_t)around == writer->code_node && tree->tag[around] == TAG_div);
        if (is_inked(writer, node) || is_space)
            add_code(writer, node);
    } else if (tag == TAG_br) {
        break_code(writer);
    } else if (writer->wording.said[node] == SAID_RAISED) {
        put_text(&writer->code, "^");
    } else if (tag_sets[tag] & (SET_BLOCK | SET_CELL)) {
        writer->is_code_moved = 1;
        push_open(writer, node, ENDS_BLOCK);
    }
}

static void walk_text(Writer *writer, size_t node)
{
    const Tree *tree = writer->tree;
    if (is_inked(writer, node) || (node < writer->fixed_end && tree->shown[node] && !tree->text_length[node]))
        add_text(writer, node);
    else if (tree->text_length[node] == 0)
        writer->paragraph.has_space |= tree->shown[node];
    else if (writer->labels[node] == LABEL_TEMPLATE)
        writer->paragraph.is_cut = 1;
}

/* Write a formula, or a text with formulas in it; the last node of it. */
static size_t walk_formula(Writer *writer, size_t node)
{
    if (writer->tree->tag[node] == TAG_TEXT) {
        add_mixed(writer, node);
        return node;
    }
    const Formula *formula = take_formula(&writer->wording, node);
    if (writer->code_end < 0)
        add_formula(writer, formula);
    else
        put(&writer->code, latex_of(&writer->wording, formula).bytes, latex_of(&writer->wording, formula).size);
    return (size_t)formula->end - 1;
}

static void leave_before(Writer *writer, size_t node, const int32_t *code)
{
    while (writer->open_count && (size_t)writer->open[writer->open_count - 1].end <= node)
        leave(writer, writer->open[--writer->open_count].does, (size_t)*code);
    end_containers(writer, node);
}

int is_unwanted(Writer *writer, size_t node)
{
    Bytes href;
    return writer->wanted.links == LINKS_NONE && writer->tree->tag[node] == TAG_a &&
           attribute_value(writer, node, "href", &href);
}

static void walk(Writer *writer)
{
    const Tree *tree = writer->tree;
    int32_t code = 0; /* The last block of code that was begun. */
    for (size_t i = 0; i < tree->count && !writer->is_failed; i++) {
        leave_before(writer, i, &code);
        writer->node = i;
        uint8_t said = writer->wording.said[i];
        if (said == SAID_FORMULA) {
            i = walk_formula(writer, i);
        } else if (said == SAID_REFERENCE && writer->code_end < 0) {
            if (has_ink(writer, i))
                add_reference(writer, footnote_of(writer, i));
            else
                writer->paragraph.is_cut |= writer->labels[i] == LABEL_TEMPLATE;
            i = (size_t)tree->end[i] - 1;
        } else if (said == LEFT_OUT || is_unwanted(writer, i)) {
            i = (size_t)tree->end[i] - 1;
        } else if (tree->tag[i] != TAG_TEXT && !tree->shown[i]) { /* A film is there, though its text is not. */
            writer->paragraph.is_cut |= (tag_sets[tree->tag[i]] & SET_THING) != 0;
            i = (size_t)tree->end[i] - 1;
        } else if (writer->code_end >= 0) {
            walk_code(writer, i);
        } else if (tree->tag[i] == TAG_TEXT) {
            walk_text(writer, i);
        } else {
            enter(writer, i);
            if (writer->code_end >= 0)
                code = (int32_t)i;
            if (writer->passed > i)
                i = writer->passed - 1;
        }
    }
    leave_before(writer, tree->count, &code);
    flush(writer);
    if (writer->out.size == writer->rule_end)
        writer->out.size = writer->rule;
    write_references(writer);
}

/* --- memory --- */

static PyObject *written(Writer *writer)
{
    const Buffer *out = &writer->out;
    if (writer->is_failed)
        return NULL;
    if (out->is_short || writer->addresses.is_short || writer->scratch.is_short || writer->code.is_short ||
        writer->paragraph.text.is_short || writer->paragraph.gap.is_short || writer->table.columns.is_short ||
        writer->parts.is_short)
        return PyErr_NoMemory();
    PyObject *text = as_text(out->bytes ? out->bytes : (const uint8_t *)"", out->size);
    if (!text || !writer->wanted.has_parts)
        return text;
    return Py_BuildValue("(NN)", text,
                         PyBytes_FromStringAndSize((char *)writer->parts.bytes, (Py_ssize_t)writer->parts.size));
}

static PyObject *markdown_of(Writer *writer)
{
    size_t room = writer->tree->count + 1;
    char *memory = malloc(room * (2 * sizeof(int32_t) + sizeof(Open) + 1));
    if (!memory) {
        free(writer->wording.said);
        return PyErr_NoMemory();
    }
    writer->ink = (int32_t *)(void *)memory;
    writer->outside = writer->ink + room;
    writer->open = (Open *)(void *)(writer->outside + room);
    writer->facts = (uint8_t *)(writer->open + room);
    writer->containers[0] = (Container){.kind = CONTAINER_PAGE, .is_started = 1, .end = INT32_MAX};
    writer->depth = 1;
    writer->table.end = writer->code_end = -1;
    writer->rule_end = SIZE_MAX;
    writer->out.is_short = !mark_footnotes(writer);
    count_ink(writer);
    PyObject *found = NULL;
    if (writer->ink[room - 1]) {
        find_held(writer);
        if (find_loose(writer))
            walk(writer);
        else
            writer->out.is_short = 1;
    }
    found = written(writer);
    Buffer *buffers[] = {&writer->out, &writer->addresses, &writer->scratch, &writer->code,
                         &writer->paragraph.text, &writer->paragraph.gap, &writer->table.columns,
                         &writer->table.reach, &writer->table.filled, &writer->table.aligned, &writer->parts};
    for (size_t i = 0; i < sizeof(buffers) / sizeof(*buffers); i++)
        free(buffers[i]->bytes);
    free_references(&writer->references);
    free(writer->paragraph.marks);
    free(writer->links);
    free(writer->lists);
    free(writer->wording.said);
    free(memory);
    return found;
}

/* What `dehusk.answer.markdown` says of the user's wishes: a number for each; 0 with an exception set. */
static int read_wanted(PyObject *given, Wanted *wanted)
{
    int links, images, tables, parts;
    if (!PyArg_ParseTuple(given, "iiii", &links, &images, &tables, &parts))
        return 0;
    *wanted = (Wanted){(Links)links, (Images)images, tables, parts};
    return 1;
}

#define GIVEN 12

PyObject *kernel_markdown(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    View labels, views[6];
    Wanted wanted;
    const Tree *tree = check_count("markdown", count, GIVEN) ? given_tree(module, arguments[0]) : NULL;
    if (!tree || !open_of_nodes(&labels, arguments[1], tree, 'B'))
        return NULL;
    PyObject *found = NULL;
    if (read_wanted(arguments[11], &wanted) && open_views(views, arguments + 5, "BBBiBi")) {
        Writer writer = {
            .tree = tree, .labels = labels.buffer.buf, .wanted = wanted, .absolute = arguments[2], .language = arguments[3],
            .character_kind = arguments[4],
            .bases = {bytes_of(&views[0]), bytes_of(&views[1]), bytes_of(&views[2])},
            .footnotes = views[5].buffer.buf,
            .footnote_count = (size_t)views[5].buffer.len / sizeof(Footnote),
        };
        if (find_wording(&writer.wording, tree, writer.labels, views + 3))
            found = markdown_of(&writer);
        close_views(views, 6);
    }
    close_views(&labels, 1);
    return found;
}
