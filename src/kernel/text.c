/* `text` and `lines`: the content of a labelled tree as plain text, as `dehusk.answer.text` says it
   is to look like. */

#include "tree.h"

#include <stdlib.h>

#include "escapes.h"
#include "gaps.h"
#include "images.h"
#include "white.h"
#include "wording.h"

/* What stands before a text; a larger number stands for so many cells and JOINT_LINE. */
enum { JOINT_NONE, JOINT_SPACE, JOINT_CUT, JOINT_LINE };

#define CELL_SIGN 0xFF /* No byte of UTF-8. */

/* A text, or a part of one, and what stands before it. */
typedef struct {
    Bytes text;
    int32_t node, sign;
    uint8_t is_fixed, is_raw;
} Joint;

typedef struct {
    const Tree *page;
    const int8_t *labels;
    Wording wording;
    Gaps gaps;
    Joint *joints;
    size_t joint_count, joint_room;
    size_t room; /* Bytes that the text takes at the most. */
    int is_any_fixed;
} Walk;

static int32_t sign_of(const Gap *gap, int is_first)
{
    if (gap->cells)
        return JOINT_LINE + gap->cells;
    if (gap->is_line || is_first)
        return JOINT_LINE;
    if (gap->is_spaced)
        return JOINT_SPACE;
    return gap->is_cut ? JOINT_CUT : JOINT_NONE;
}

/* Put down a text that is rendered. */
static void add_joint(Walk *walk, size_t node, Bytes text, int is_raw)
{
    if (walk->joint_count == walk->joint_room)
        return; /* Three for a formula, and one for each node, is all there can be. */
    Gap gap = take_gap(&walk->gaps);
    int32_t sign = sign_of(&gap, !walk->joint_count);
    int is_fixed = walk->gaps.fixed > 0;
    walk->joints[walk->joint_count++] =
        (Joint){text, (int32_t)node, sign, (uint8_t)is_fixed, (uint8_t)is_raw};
    walk->room += text.size + (size_t)sign + 1;
    walk->is_any_fixed |= is_fixed;
}

static void add_text(Walk *walk, size_t node, size_t from, size_t to)
{
    const Tree *page = walk->page;
    if (from < to)
        add_joint(walk, node, (Bytes){page->source.bytes + from, to - from}, page->raw[node]);
}

/* Put down a formula, on a line of its own where it has one. */
static void add_formula(Walk *walk, const Formula *formula)
{
    walk->gaps.line_moves |= formula->is_block;
    add_joint(walk, (size_t)formula->node, latex_of(&walk->wording, formula), 1);
    walk->gaps.line_moves |= formula->is_block;
}

/* Put down a text with formulas in it. */
static void add_mixed(Walk *walk, size_t node)
{
    size_t at = (size_t)walk->page->start[node], stop = (size_t)walk->page->stop[node];
    const Formula *formula;
    while ((formula = take_formula(&walk->wording, node))) {
        add_text(walk, node, at, (size_t)formula->from);
        add_formula(walk, formula);
        at = (size_t)formula->to;
    }
    add_text(walk, node, at, stop);
}

/* Put down what a text node says, or what it parts. */
static void find_text(Walk *walk, size_t node)
{
    const Tree *page = walk->page;
    int8_t label = walk->labels[node];
    int is_inked = page->text_length[node] > 0, is_space = !is_inked && page->shown[node];
    if (walk->wording.said[node] == SAID_FORMULA)
        add_mixed(walk, node);
    else if ((is_inked && label == LABEL_CONTENT) || (is_space && walk->gaps.fixed > 0))
        add_text(walk, node, (size_t)page->start[node], (size_t)page->stop[node]);
    else if (is_space)
        walk->gaps.is_spaced = 1;
    else if (is_inked && label == LABEL_TEMPLATE)
        walk->gaps.is_cut = 1;
}

/* Does a link hold a block with content in it? Such a link is a block as well, as it is in Markdown. */
static int is_block_link(const Walk *walk, size_t node)
{
    const Tree *page = walk->page;
    size_t reach = node, end = (size_t)page->end[node];
    for (size_t i = node + 1; i < end; i++) {
        int16_t tag = page->tag[i];
        if (tag != TAG_TEXT && !page->shown[i]) {
            i = (size_t)page->end[i] - 1;
            continue;
        }
        if (tag_sets[tag] & (SET_BLOCK | SET_CELL) && (size_t)page->end[i] > reach)
            reach = (size_t)page->end[i];
        int is_inked = is_image(page, i) || (tag == TAG_TEXT && page->text_length[i] > 0);
        if (is_inked && i < reach && walk->labels[i] == LABEL_CONTENT)
            return 1;
    }
    return 0;
}

/* Which texts are rendered, and what stands before each. */
static void find_joints(Walk *walk)
{
    const Tree *page = walk->page;
    for (size_t i = 0; i < page->count; i++) {
        leave_elements(&walk->gaps, i);
        uint8_t said = walk->wording.said[i];
        if (page->tag[i] == TAG_TEXT) {
            find_text(walk, i);
        } else if (said == LEFT_OUT || said == SAID_FORMULA) {
            const Formula *formula = said == SAID_FORMULA ? take_formula(&walk->wording, i) : NULL;
            if (formula)
                add_formula(walk, formula);
            i = (size_t)(formula ? formula->end : page->end[i]) - 1;
        } else { /* A film is there, though its text is not. */
            uint32_t sets = tag_sets[page->tag[i]];
            if (page->tag[i] == TAG_a && is_block_link(walk, i))
                sets |= SET_BLOCK;
            enter_element(&walk->gaps, page->end[i], page->shown[i] ? sets : sets & SET_THING);
            if (said == SAID_JOINED)
                walk->gaps.is_new_link = 0;
            walk->gaps.is_cut |= said == SAID_APART;
            if (said == SAID_RAISED)
                add_joint(walk, i, (Bytes){(const uint8_t *)"^", 1}, 1);
        }
    }
}

/* --- writing --- */

/* Where a line begins, and with which node. */
typedef struct {
    size_t start;
    int32_t node;
} Line;

typedef struct {
    uint8_t *bytes;
    size_t size;
    Line *lines;      /* Where lines are put down; NULL where nobody asks for them. */
    size_t line_count;
    size_t line;      /* Where the last line begins. */
    int is_after_gap; /* A space or a sign came last: another space would be one too many. */
    int has_pending;  /* A space that is written unless a sign comes next. */
    int is_trimming;  /* Lines are trimmed, and empty ones left out. */
    size_t lines_last; /* Signs of lines at the end, with nothing behind them. */
} Out;

static inline void put(Out *out, uint8_t byte)
{
    if (out->has_pending) {
        out->bytes[out->size++] = ' ';
        out->has_pending = 0;
    }
    out->bytes[out->size++] = byte;
    out->is_after_gap = 0;
    out->lines_last = 0;
}

static inline void put_space(Out *out)
{
    if (!out->is_after_gap)
        out->has_pending = 1;
    out->is_after_gap = 1;
}

static int is_blank(uint8_t byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* The last line without empty lines at its ends: preformatted text may hold several. */
static void trim_line(Out *out)
{
    uint8_t *line = out->bytes + out->line;
    size_t size = out->size - out->line, indent = 0, from = 0;
    while (size && is_blank(line[size - 1]))
        size--;
    for (; indent < size && is_blank(line[indent]); indent++)
        if (line[indent] == '\n')
            from = indent + 1;
    memmove(line, line + from, size - from);
    out->size = out->line + size - from;
}

static void put_line_sign(Out *out)
{
    out->has_pending = 0;
    out->is_after_gap = 1;
    if (out->is_trimming) {
        trim_line(out);
        if (out->size == out->line) {
            out->lines_last = out->size > 0; /* The sign before the line that is left out. */
            return;
        }
    } else if (!out->size || out->bytes[out->size - 1] == '\n') {
        return; /* A text of control characters alone has no line. */
    }
    out->bytes[out->size++] = '\n';
    out->line = out->size;
    out->lines_last++;
}

static void put_cell_signs(Out *out, int32_t cells)
{
    out->has_pending = 0;
    while (cells-- > 0)
        put(out, CELL_SIGN);
    out->is_after_gap = 1;
}

static void put_sign(Out *out, int32_t sign)
{
    if (sign > JOINT_LINE)
        put_cell_signs(out, sign - JOINT_LINE);
    else if (sign == JOINT_LINE)
        put_line_sign(out);
    else if (sign == JOINT_SPACE)
        put_space(out);
    else if (sign == JOINT_CUT)
        put(out, 0);
}

/* The character that an escape stands for; a no-break space is a space in text. */
static uint8_t character_at(const uint8_t *at, size_t left, size_t *length)
{
    uint8_t character = unescaped(at, left, length);
    return character == NO_BREAK_SPACE ? ' ' : character;
}

/* A text as it is. */
static void put_fixed(Out *out, const uint8_t *at, const uint8_t *stop, int is_raw)
{
    for (size_t length; at < stop; at += length) {
        if ((length = control_at(at, (size_t)(stop - at))))
            continue;
        length = 1;
        put(out, *at == '&' && !is_raw ? character_at(at, (size_t)(stop - at), &length) : fixed_byte(*at));
    }
}

static inline int is_plain(uint8_t byte)
{
    return byte > ' ' && byte != '&' && byte != 0x7F && byte != 0xC2;
}

/* How many bytes stand there as they are to be written: words, with one space between them. */
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

/* A text with one space for a run of white space, no-break spaces included. A control character is nothing, but
   parts words. */
static void put_collapsed(Out *out, const uint8_t *at, const uint8_t *stop, int is_raw)
{
    while (at < stop) {
        size_t length = count_plain(at, stop);
        if (length) {
            put(out, *at);
            memcpy(out->bytes + out->size, at + 1, length - 1);
            out->size += length - 1;
            at += length;
            continue;
        }
        size_t left = (size_t)(stop - at);
        if ((length = white_at(at, left))) {
            put_space(out);
        } else if ((length = control_at(at, left))) {
            if (!out->is_after_gap)
                put(out, 0);
        } else if (*at == '&' && !is_raw) {
            uint8_t character = character_at(at, left, &length);
            if (character == ' ')
                put_space(out);
            else
                put(out, character);
        } else {
            length = 1;
            put(out, *at);
        }
        at += length;
    }
}

/* Put down the line that begins with a node, in the place of one that was left out. */
static void begin_line(Out *out, int32_t node)
{
    if (out->line_count && out->lines[out->line_count - 1].start == out->line)
        out->line_count--;
    out->lines[out->line_count++] = (Line){out->line, node};
}

static void write_text(const Walk *walk, Out *out)
{
    for (size_t i = 0; i < walk->joint_count; i++) {
        const Joint *joint = &walk->joints[i];
        const uint8_t *start = joint->text.bytes, *stop = start + joint->text.size;
        put_sign(out, joint->sign);
        if (out->lines && joint->sign == JOINT_LINE)
            begin_line(out, joint->node);
        if (joint->is_fixed)
            put_fixed(out, start, stop, joint->is_raw);
        else
            put_collapsed(out, start, stop, joint->is_raw);
    }
    put_line_sign(out);
    out->size -= out->lines_last;
    for (uint8_t *at = out->bytes; (at = memchr(at, CELL_SIGN, out->size - (size_t)(at - out->bytes)));)
        *at++ = '\t';
}

/* Is there nothing that Python has to finish: no sign of a cut, and no ideographic space? */
static int is_finished(const Out *out)
{
    static const char space[] = "\xE3\x80\x80";
    const uint8_t *at = out->bytes, *stop = out->bytes + out->size;
    if (memchr(at, 0, out->size))
        return 0;
    for (; (at = memchr(at, space[0] & 0xFF, (size_t)(stop - at))); at++)
        if (stop - at >= 3 && memcmp(at, space, 3) == 0)
            return 0;
    return 1;
}

static PyObject *as_str(const Out *out, size_t start, size_t stop)
{
    return PyUnicode_DecodeUTF8((char *)out->bytes + start, (Py_ssize_t)(stop - start), "surrogatepass");
}

static PyObject *list_lines(const Out *out)
{
    PyObject *found = PyList_New(0);
    for (size_t i = 0; i < out->line_count && out->lines[i].start < out->size && found; i++) {
        size_t behind = i + 1 < out->line_count ? out->lines[i + 1].start - 1 : out->size;
        behind = behind < out->size ? behind : out->size;
        PyObject *text = as_str(out, out->lines[i].start, behind);
        PyObject *line = text ? Py_BuildValue("(iN)", (int)out->lines[i].node, text) : NULL;
        if (!line || PyList_Append(found, line) < 0)
            Py_CLEAR(found);
        Py_XDECREF(line);
    }
    return found;
}

/* Write the text, to be freed; 0 without memory. */
static int write_out(Walk *walk, Out *out, int in_lines)
{
    size_t room = walk->page->count + 1;
    walk->joint_room = room + 3 * walk->wording.count;
    walk->gaps.open = malloc(room * sizeof(Open));
    walk->joints = malloc(walk->joint_room * sizeof(Joint));
    out->lines = in_lines ? malloc(walk->joint_room * sizeof(Line)) : NULL;
    int is_done = walk->gaps.open && walk->joints && (out->lines || !in_lines);
    if (is_done) {
        find_joints(walk);
        out->is_trimming = walk->is_any_fixed || in_lines;
        out->bytes = malloc(walk->room + 2);
        if (out->bytes)
            write_text(walk, out);
        is_done = out->bytes != NULL;
    }
    free(walk->gaps.open);
    free(walk->joints);
    return is_done;
}

/* The text and whether it is finished; or its lines. */
static PyObject *render(const Tree *tree, const int8_t *labels, View *formulas, int in_lines)
{
    Walk walk = {.page = tree, .labels = labels};
    Out out = {.is_after_gap = 1};
    PyObject *found = NULL;
    int is_done;
    if (!find_wording(&walk.wording, tree, labels, formulas))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    is_done = write_out(&walk, &out, in_lines);
    Py_END_ALLOW_THREADS
    if (!is_done)
        PyErr_NoMemory();
    else if (in_lines)
        found = list_lines(&out);
    else
        found = Py_BuildValue("(NO)", as_str(&out, 0, out.size), is_finished(&out) ? Py_True : Py_False);
    free(walk.wording.said);
    free(out.bytes);
    free(out.lines);
    return found;
}

static PyObject *render_given(PyObject *module, PyObject *const *arguments, Py_ssize_t count, int in_lines)
{
    View labels, formulas[2];
    const Tree *tree = check_count("text", count, 4) ? given_tree(module, arguments[0]) : NULL;
    if (!tree || !open_of_nodes(&labels, arguments[1], tree, 'B'))
        return NULL;
    PyObject *found = NULL;
    if (open_views(formulas, arguments + 2, "iB")) {
        found = render(tree, labels.buffer.buf, formulas, in_lines);
        close_views(formulas, 2);
    }
    close_views(&labels, 1);
    return found;
}

PyObject *kernel_text(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    return render_given(module, arguments, count, 0);
}

PyObject *kernel_lines(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    return render_given(module, arguments, count, 1);
}
