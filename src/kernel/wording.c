/* How the content of a tree is said. */

#include "wording.h"

#include <stdlib.h>

#include "attributes.h"
#include "tags.h"

enum {
    MAX_PERMALINK = 30,   /* Characters beyond which a link or a button says something. */
    MAX_LINE_NUMBER = 8,  /* Characters of a line number. */
    MAX_POWER_WORD = 2,   /* Letters of a word that is raised to a power: `x`, `km`. A longer one has a footnote. */
    CODE_NODES = 64,      /* Among how many nodes of a cell its code begins. */
    LINE_NODES = 16,      /* The same of a table of lines. */
    FRONT_NODES = 8,      /* Among how many nodes of a block its first text stands, */
    FRONT_BYTES = 64,     /* and in how many bytes its first character. */
    MAX_CLASS = 512,      /* Bytes of class names that are looked at. */
};

typedef struct {
    const Tree *tree;
    const int8_t *labels;
    Wording *wording;
    size_t fixed, heading, heading_start; /* Where preformatted text and the heading, term or caption end. */
    size_t counted; /* Where the last block ends that was asked whether it is numbers alone. */
} Look;

/* --- small questions --- */

/* Is it what others link to: a heading, a term, a caption? */
static int is_linked_to(int16_t tag)
{
    return (tag >= TAG_h1 && tag <= TAG_h6) || tag == TAG_dt || tag == TAG_figcaption || tag == TAG_caption;
}

static int find_in_tag(const Tree *tree, size_t node, const char *name, Bytes *value)
{
    size_t start = (size_t)tree->start[node], stop = (size_t)tree->stop[node];
    Attribute found;
    while (next_attribute(tree->source, &start, stop, &found)) {
        if (!is_named(tree->source, &found, name))
            continue;
        *value = (Bytes){tree->source.bytes + found.value, found.value_stop - found.value};
        return 1;
    }
    return 0;
}

/* Has a value one of these words in it, in any case? */
static int has_any(Bytes value, const char *const *words)
{
    size_t size = value.size < MAX_CLASS ? value.size : MAX_CLASS;
    for (size_t at = 0; at < size; at++)
        for (size_t i = 0; words[i]; i++)
            if (lower(value.bytes[at]) == (uint8_t)words[i][0] && stands_at(value, at, words[i]))
                return 1;
    return 0;
}

static int has_class(const Tree *tree, size_t node, const char *const *words)
{
    Bytes names;
    return find_in_tag(tree, node, "class", &names) && has_any(names, words);
}

static Bytes text_at(const Tree *tree, size_t node)
{
    return (Bytes){tree->source.bytes + tree->start[node], (size_t)(tree->stop[node] - tree->start[node])};
}

/* --- code and the numbers of its lines --- */

static int holds_fixed(const Tree *tree, size_t node, size_t nodes)
{
    size_t stop = (size_t)tree->end[node] < node + nodes ? (size_t)tree->end[node] : node + nodes;
    for (size_t i = node; i < stop; i++)
        if (tag_sets[tree->tag[i]] & SET_PREFORMATTED)
            return 1;
    return 0;
}

static const char *const lines_of_file[] = {"blob-code", NULL};

int shows_code(const Tree *tree, size_t node)
{
    static const char *const tables[] = {"highlight", "js-file-line-container", "blob", NULL};
    static const char *const crayon[] = {"crayon-code", NULL}, *const boxes[] = {"container", NULL};
    size_t end = (size_t)tree->end[node], stop = end < node + LINE_NODES ? end : node + LINE_NODES;
    Bytes names;
    if (tree->tag[node] == TAG_table && has_class(tree, node, tables))
        for (size_t i = node + 1; i < stop; i++)
            if (tree->tag[i] == TAG_td && has_class(tree, i, lines_of_file))
                return 1;
    if (tree->tag[node] != TAG_td || !find_in_tag(tree, node, "class", &names) || holds_fixed(tree, node, CODE_NODES))
        return 0;
    return has_any(names, crayon) || (names.size == 4 && stands_at(names, 0, "code") && node + 1 < end &&
                                      tree->tag[node + 1] == TAG_div && has_class(tree, node + 1, boxes));
}

/* How many numbers its text is; 0 if there is anything else in it. */
static size_t count_numbers(const Tree *tree, size_t node)
{
    size_t numbers = 0;
    for (size_t i = node + 1; i < (size_t)tree->end[node]; i++) {
        Bytes text = text_at(tree, i);
        if (tree->tag[i] != TAG_TEXT) {
            if (tag_sets[tree->tag[i]] & SET_IMAGE)
                return 0;
            continue;
        }
        int was_digit = 0;
        for (size_t at = 0; at < text.size; at++) {
            int is_digit = text.bytes[at] >= '0' && text.bytes[at] <= '9';
            if (text.bytes[at] == '&' && text.size - at >= 6 && memcmp(text.bytes + at, "&nbsp;", 6) == 0)
                at += 5;
            else if (!is_digit && !is_white(text.bytes[at]))
                return 0;
            numbers += is_digit && !was_digit;
            was_digit = is_digit;
        }
    }
    return numbers;
}

static int is_numbers_of_lines(const Look *look, size_t node)
{
    static const char *const words[] = {"lineno", "line-no", "linenumber", "line-number", "lnt", "gutter", NULL};
    static const char *const whole[] = {"ln", "gl", NULL};
    const Tree *tree = look->tree;
    Bytes names;
    int is_whole = tag_sets[tree->tag[node]] & SET_PREFORMATTED;
    if ((!is_whole && tree->text_length[node] > MAX_LINE_NUMBER) || !find_in_tag(tree, node, "class", &names) ||
        !count_numbers(tree, node))
        return 0;
    if (has_any(names, words))
        return 1;
    for (size_t i = 0; whole[i]; i++)
        if (names.size == strlen(whole[i]) && stands_at(names, 0, whole[i]))
            return 1;
    return 0;
}

/* What stands beside an element in the same one, behind it; itself if nothing does. */
static size_t next_beside(const Tree *tree, size_t node)
{
    size_t next = (size_t)tree->end[node], around = (size_t)end_around(tree, node);
    if (next < around && tree->tag[next] == TAG_TEXT && tree->text_length[next] == 0)
        next = (size_t)tree->end[next];
    return next < around ? next : node;
}

static const char *const gutters[] = {"line", "gutter", "num", NULL};

/* Is it a cell with the numbers of the lines of code in the next one? A single number may be of a row. */
static int is_gutter(const Tree *tree, size_t cell)
{
    size_t next = next_beside(tree, cell);
    if (next == cell || !(tag_sets[tree->tag[next]] & SET_CELL))
        return 0;
    size_t numbers = count_numbers(tree, cell);
    if (!numbers || (numbers == 1 && !has_class(tree, cell, gutters)))
        return 0;
    return holds_fixed(tree, next, CODE_NODES) || shows_code(tree, next) || has_class(tree, next, lines_of_file);
}

/* Is the first character of a block a digit? */
static int begins_with_digit(const Tree *tree, size_t node)
{
    size_t stop = (size_t)tree->end[node] < node + FRONT_NODES ? (size_t)tree->end[node] : node + FRONT_NODES;
    for (size_t i = node + 1; i < stop; i++) {
        Bytes text = text_at(tree, i);
        if (tree->tag[i] != TAG_TEXT || !tree->text_length[i])
            continue;
        for (size_t at = 0; at < text.size && at < FRONT_BYTES; at++)
            if (!is_white(text.bytes[at]))
                return text.bytes[at] >= '0' && text.bytes[at] <= '9';
        return 0;
    }
    return 0;
}

/* Is it a box with the numbers of the lines of code in the next one? */
static int is_gutter_box(Look *look, size_t box)
{
    const Tree *tree = look->tree;
    if (box < look->counted || !begins_with_digit(tree, box))
        return 0;
    size_t next = next_beside(tree, box);
    if (next == box || !has_class(tree, box, gutters) || !holds_fixed(tree, next, CODE_NODES))
        return 0;
    look->counted = (size_t)tree->end[box];
    return count_numbers(tree, box) > 0;
}

/* --- links of headings, and buttons --- */

/* How long a character is that is no part of a word, such as `¶`; 0 for a letter or a digit. Beyond ASCII these are
   the blocks of signs, arrows and pictures, and the private use of fonts with icons. */
static size_t sign_size(const uint8_t *at, size_t left)
{
    uint8_t first = *at;
    if (first < 0x80) {
        uint8_t letter = lower(first);
        int is_word = (letter >= 'a' && letter <= 'z') || (first >= '0' && first <= '9');
        if (first == '&')
            return left >= 6 && memcmp(at, "&nbsp;", 6) == 0 ? 6 : 0;
        return !is_word;
    }
    if (first == 0xC2)
        return left >= 2 && at[1] != 0xAA && at[1] != 0xB5 && at[1] != 0xBA ? 2 : 0;
    if (left >= 3 && first == 0xE2 && at[1] <= 0xAF)
        return 3;
    if (left >= 3 && (first == 0xEE || (first == 0xEF && (at[1] <= 0xA3 || at[1] == 0xB8 || at[1] == 0xBB))))
        return 3;
    return left >= 4 && first == 0xF0 && at[1] == 0x9F ? 4 : 0;
}

static int is_wordless(const Tree *tree, size_t node)
{
    for (size_t i = node + 1; i < (size_t)tree->end[node]; i++) {
        Bytes text = text_at(tree, i);
        size_t size;
        for (size_t at = 0; tree->tag[i] == TAG_TEXT && at < text.size; at += size)
            if (!(size = sign_size(text.bytes + at, text.size - at)))
                return 0;
    }
    return 1;
}

/* A link in a heading to the heading itself, such as `#` or `¶`, beside what the heading says; so of a term or a
   caption. */
static int is_permalink(const Look *look, size_t node)
{
    static const char *const words[] = {"headerlink", "hash-link", "header-anchor", "permalink", "heading-anchor",
                                        "anchor-link", "anchorlink", "heading-link", NULL};
    const Tree *tree = look->tree;
    Bytes href;
    if (tree->text_length[node] > MAX_PERMALINK ||
        tree->text_length[look->heading_start] <= tree->text_length[node] ||
        !find_in_tag(tree, node, "href", &href) || find_byte(href, '#', 0, href.size) == href.size)
        return 0;
    return is_wordless(tree, node) || has_class(tree, node, words);
}

static int is_copy_button(const Look *look, size_t node)
{
    static const char *const words[] = {"copy", "clipboard", "btn-clip", NULL};
    const Tree *tree = look->tree;
    return tree->text_length[node] <= MAX_PERMALINK && (node < look->fixed || has_class(tree, node, words));
}

/* --- exponents --- */

static int is_ascii_letter(uint8_t byte)
{
    return lower(byte) >= 'a' && lower(byte) <= 'z';
}

/* Is a text, cut at its ends, a number of at most four digits, or a letter that stands for one? */
static int is_power(Bytes text, int *has_sign)
{
    size_t at = 0, digits = 0;
    while (text.size && is_white(text.bytes[text.size - 1]))
        text.size--;
    while (at < text.size && is_white(text.bytes[at]))
        at++;
    *has_sign = 0;
    if (text.size - at == 1 && strchr("kmnprtxyz", text.bytes[at]))
        return 1;
    if (at < text.size && (text.bytes[at] == '+' || text.bytes[at] == '-')) {
        *has_sign = 1;
        at++;
    } else if (text.size - at >= 3 && memcmp(text.bytes + at, "\xE2\x88\x92", 3) == 0) {
        *has_sign = 1;
        at += 3;
    }
    for (; at < text.size && text.bytes[at] >= '0' && text.bytes[at] <= '9'; at++)
        digits++;
    return digits >= 1 && digits <= 4 && at == text.size;
}

/* Does what stands before it end as what is raised to a power does: a number, a bracket, or a short name? */
static int is_base(Bytes text, int is_number)
{
    size_t letters = 0;
    if (!text.size)
        return 0;
    uint8_t last = text.bytes[text.size - 1];
    if ((last >= '0' && last <= '9') || last == ')' || last == ']' || last == '|')
        return 1;
    for (size_t at = text.size; at > 0; letters++) {
        size_t size = 1;
        uint8_t byte = text.bytes[at - 1];
        while (size < at && (byte & 0xC0) == 0x80)
            byte = text.bytes[at - ++size];
        if (!is_ascii_letter(byte) && byte < 0xC3)
            break;
        at -= size;
        if (letters > MAX_POWER_WORD)
            return 0;
    }
    return letters >= 1 && letters <= (is_number ? MAX_POWER_WORD : 1);
}

static int is_exponent(const Look *look, size_t node)
{
    const Tree *tree = look->tree;
    size_t text = node + 1;
    int has_sign;
    if ((size_t)tree->end[node] != text + 1 || tree->tag[text] != TAG_TEXT || !tree->text_length[text] ||
        look->labels[text] != LABEL_CONTENT || !node || tree->tag[node - 1] != TAG_TEXT ||
        look->labels[node - 1] != LABEL_CONTENT || !is_power(text_at(tree, text), &has_sign))
        return 0;
    uint8_t first = tree->source.bytes[tree->start[text]];
    return has_sign || is_base(text_at(tree, node - 1), !is_ascii_letter(first));
}

/* --- all nodes --- */

static Saying saying_of(Look *look, size_t node)
{
    static const char *const twice[] = {"crayon-plain", NULL};
    const Tree *tree = look->tree;
    int16_t tag = tree->tag[node];
    uint32_t sets = tag_sets[tag];
    switch (tag) {
    case TAG_sup:
        return is_exponent(look, node) ? SAID_RAISED : SAID_PLAIN;
    case TAG_a:
        return node < look->heading && is_permalink(look, node) ? LEFT_OUT : SAID_PLAIN;
    case TAG_button:
        return is_copy_button(look, node) ? LEFT_OUT : SAID_PLAIN;
    case TAG_div:
        return tree->text_length[node] && is_gutter_box(look, node) ? LEFT_OUT : SAID_PLAIN;
    case TAG_textarea: /* Crayon has all code twice. */
        if (has_class(tree, node, twice))
            return LEFT_OUT;
        break;
    default:
        break;
    }
    if (sets & SET_CELL)
        return tree->text_length[node] && is_gutter(tree, node) ? LEFT_OUT : SAID_PLAIN;
    if (sets & SET_PREFORMATTED && (size_t)tree->end[node] > look->fixed)
        look->fixed = (size_t)tree->end[node];
    if (is_linked_to(tag)) {
        look->heading = (size_t)tree->end[node];
        look->heading_start = node;
    }
    return node < look->fixed && is_numbers_of_lines(look, node) ? LEFT_OUT : SAID_PLAIN;
}

/* Is any text or image of a formula content? One that is not shown, a script, is what stands around it. */
static int is_formula_said(const Look *look, const Formula *formula)
{
    const Tree *tree = look->tree;
    int is_seen = 0;
    for (size_t i = (size_t)formula->node; i < (size_t)formula->end; i++) {
        int is_leaf = tree->tag[i] == TAG_TEXT ? tree->text_length[i] > 0 : tag_sets[tree->tag[i]] & SET_IMAGE;
        if (!is_leaf || !tree->shown[i])
            continue;
        if (look->labels[i] == LABEL_CONTENT)
            return 1;
        is_seen = 1;
    }
    int32_t around = tree->parent[formula->node];
    return !is_seen && around >= 0 && look->labels[around] == LABEL_CONTENT && tree->shown[around];
}

/* Put down what the formulas are: said, or left out with all that shows them. */
static void find_formulas(Look *look)
{
    Wording *wording = look->wording;
    for (size_t i = 0; i < wording->count; i++) {
        const Formula *formula = &wording->formulas[i];
        wording->said[formula->node] = is_formula_said(look, formula) ? SAID_FORMULA : SAID_PLAIN;
    }
}

static int are_sound(const Wording *wording, const Tree *tree)
{
    int32_t last = -1;
    for (size_t i = 0; i < wording->count; i++) {
        const Formula *formula = &wording->formulas[i];
        if (formula->node < 0 || formula->node < last || formula->end <= formula->node ||
            (size_t)formula->end > tree->count || formula->latex < 0 || formula->latex_stop < formula->latex ||
            (size_t)formula->latex_stop > wording->latex.size)
            return 0;
        if (formula->from >= 0 && (tree->tag[formula->node] != TAG_TEXT ||
                                   formula->from < tree->start[formula->node] || formula->to < formula->from ||
                                   formula->to > tree->stop[formula->node]))
            return 0;
        last = formula->from >= 0 ? formula->node : formula->end;
    }
    return 1;
}

int find_wording(Wording *wording, const Tree *tree, const int8_t *labels, View *formulas)
{
    Look look = {.tree = tree, .labels = labels, .wording = wording};
    wording->formulas = formulas[0].buffer.buf;
    wording->count = (size_t)formulas[0].buffer.len / sizeof(Formula);
    wording->latex = bytes_of(&formulas[1]);
    if (!are_sound(wording, tree)) {
        PyErr_SetString(PyExc_ValueError, "the formulas do not fit the tree");
        return 0;
    }
    wording->said = calloc(tree->count + 1, 1);
    if (!wording->said) {
        PyErr_NoMemory();
        return 0;
    }
    for (size_t i = 0; i < tree->count; i++) {
        if (tree->tag[i] == TAG_TEXT)
            continue;
        if (!tree->shown[i]) {
            i = (size_t)tree->end[i] - 1;
            continue;
        }
        wording->said[i] = (uint8_t)saying_of(&look, i);
        if (wording->said[i] == LEFT_OUT)
            i = (size_t)tree->end[i] - 1;
    }
    find_formulas(&look);
    return 1;
}

const Formula *take_formula(Wording *wording, size_t node)
{
    while (wording->next < wording->count && (size_t)wording->formulas[wording->next].node < node)
        wording->next++;
    if (wording->next == wording->count || (size_t)wording->formulas[wording->next].node != node)
        return NULL;
    return &wording->formulas[wording->next++];
}
