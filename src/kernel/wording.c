/* How the content of a tree is said. */

#include "wording.h"

#include <stdlib.h>

#include "attributes.h"
#include "tags.h"

enum {
    MAX_PERMALINK = 30,   /* Characters beyond which a link or a button says something. */
    MAX_LINE_NUMBER = 8,  /* Characters of a line number. */
    MAX_EDIT_LINKS = 60,  /* Characters of the links that edit a section, with their brackets. */
    EDIT_NODES = 64,      /* And their nodes. */
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

/* Is it a box of Doxygen with lines of code? */
static int is_fragment(const Tree *tree, size_t node)
{
    size_t first = node + 1, end = (size_t)tree->end[node];
    if (!is_written(tree, node, "<div class=\"fragment\">"))
        return 0;
    first += first < end && tree->tag[first] == TAG_TEXT && !tree->text_length[first];
    return first < end && is_written(tree, first, "<div class=\"line\">");
}

int shows_code(const Tree *tree, size_t node)
{
    static const char *const tables[] = {"highlight", "js-file-line-container", "blob", NULL};
    static const char *const crayon[] = {"crayon-code", NULL}, *const boxes[] = {"container", NULL};
    size_t end = (size_t)tree->end[node], stop = end < node + LINE_NODES ? end : node + LINE_NODES;
    Bytes names;
    if (tree->tag[node] == TAG_div)
        return is_fragment(tree, node);
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

/* Is it where a section is edited: by a parameter, or by a part of the path? */
static int leads_to_edit(Bytes href)
{
    static const char *const words[] = {"action=edit", NULL};
    static const char part[] = "/edit";
    size_t size = href.size < MAX_CLASS ? href.size : MAX_CLASS;
    for (size_t at = 0; at < size; at++) {
        size_t behind = at + sizeof(part) - 1;
        if (stands_at(href, at, part) && (!at || href.bytes[at - 1] != '/') &&
            (behind >= href.size || strchr("/?#&", href.bytes[behind])))
            return 1;
    }
    return has_any(href, words);
}

/* Are all words of an element, between square brackets, links that edit the section of the heading before it? */
static int is_edit(const Look *look, size_t node)
{
    const Tree *tree = look->tree;
    size_t end = (size_t)tree->end[node];
    uint8_t first = 0, last = 0;
    int is_any = 0;
    Bytes href;
    if (tree->text_length[node] > MAX_EDIT_LINKS || end - node > EDIT_NODES)
        return 0;
    for (size_t i = node + 1; i < end; i++) {
        if (tree->tag[i] == TAG_a && find_in_tag(tree, i, "href", &href) && leads_to_edit(href)) {
            is_any = 1;
            i = (size_t)tree->end[i] - 1;
            last = 0;
            continue;
        }
        Bytes text = tree->tag[i] == TAG_TEXT ? text_at(tree, i) : (Bytes){NULL, 0};
        for (size_t at = 0; at < text.size; at++) {
            if (is_white(text.bytes[at]))
                continue;
            if (!sign_size(text.bytes + at, text.size - at))
                return 0;
            last = text.bytes[at];
            first = first ? first : last;
        }
    }
    return is_any && first == '[' && last == ']';
}

/* Does an element stand in a heading, or right behind one? */
static int is_beside_heading(const Look *look, size_t node)
{
    const Tree *tree = look->tree;
    size_t end = look->heading;
    if (end && end < node && tree->tag[end] == TAG_TEXT && !tree->text_length[end])
        end++;
    return end && node <= end;
}

/* --- raised numbers --- */

typedef enum { NO_POWER, LETTER_POWER, NUMBER_POWER, SIGNED_POWER } Power;

/* Is a text, cut at its ends, a letter that stands for a number, or numbers of at most four digits: `2`, `-1`, `1)`,
   `1,2`? */
static Power power_of(Bytes text)
{
    size_t at = 0, digits = 0;
    while (text.size && is_white(text.bytes[text.size - 1]))
        text.size--;
    while (at < text.size && is_white(text.bytes[at]))
        at++;
    if (text.size - at == 1 && strchr("kmnprtxyz", text.bytes[at]))
        return LETTER_POWER;
    size_t minus = text.size - at >= 3 && memcmp(text.bytes + at, "\xE2\x88\x92", 3) == 0 ? 3 : 0;
    int has_sign = minus || (at < text.size && (text.bytes[at] == '+' || text.bytes[at] == '-'));
    at += minus ? minus : (size_t)has_sign;
    text.size -= text.size > at && (text.bytes[text.size - 1] == ')' || text.bytes[text.size - 1] == ']');
    for (; at < text.size; at++) {
        int is_digit = text.bytes[at] >= '0' && text.bytes[at] <= '9';
        if (!(is_digit ? ++digits <= 4 : digits && text.bytes[at] == ',' && at + 1 < text.size))
            return NO_POWER;
        digits = is_digit ? digits : 0;
    }
    return !digits ? NO_POWER : has_sign ? SIGNED_POWER : NUMBER_POWER;
}

/* Would a raised text run into what stands before it? A letter is raised behind a number, a bracket or another single
   letter. */
static int is_base(Bytes text, Power power)
{
    size_t size = text.size;
    if (!size || is_white(text.bytes[size - 1]) || (size >= 6 && memcmp(text.bytes + size - 6, "&nbsp;", 6) == 0))
        return 0;
    uint8_t last = text.bytes[size - 1], before = size > 1 ? text.bytes[size - 2] : ' ';
    if (power != LETTER_POWER || (last >= '0' && last <= '9') || last == ')' || last == ']' || last == '|')
        return 1;
    return is_letter(last) && !is_letter(before) && before < 0x80;
}

static int is_raised(const Look *look, size_t node)
{
    const Tree *tree = look->tree;
    size_t text = node + 1;
    if ((size_t)tree->end[node] != text + 1 || tree->tag[text] != TAG_TEXT || !tree->text_length[text] ||
        look->labels[text] != LABEL_CONTENT || !node || tree->tag[node - 1] != TAG_TEXT ||
        look->labels[node - 1] != LABEL_CONTENT)
        return 0;
    Power power = power_of(text_at(tree, text));
    return power == SIGNED_POWER || (power && is_base(text_at(tree, node - 1), power));
}

/* --- links and code that touch --- */

/* What stands right before a node in the same element; the node itself if nothing does. */
static size_t before_beside(const Tree *tree, size_t node)
{
    size_t before = node - 1;
    if (!node || tree->parent[node] == (int32_t)before)
        return node;
    while (tree->parent[before] != tree->parent[node])
        before = (size_t)tree->parent[before];
    return before;
}

static int is_word_byte(uint8_t byte)
{
    return is_letter(byte) || byte >= 0x80;
}

/* Do two links that touch, with text before and behind them, share a word? Others are set apart by style sheets. */
static int is_joined(const Tree *tree, size_t node)
{
    size_t link = before_beside(tree, node), behind = (size_t)tree->end[node];
    if (link == node || tree->tag[link] != TAG_a || tree->tag[node - 1] != TAG_TEXT || behind == node + 1 ||
        tree->tag[node + 1] != TAG_TEXT || behind >= (size_t)end_around(tree, node) ||
        tree->tag[behind] != TAG_TEXT || !tree->text_length[behind])
        return 0;
    size_t before = before_beside(tree, link);
    return before != link && tree->tag[before] == TAG_TEXT && tree->text_length[before] &&
           is_word_byte(tree->source.bytes[tree->stop[node - 1] - 1]) && is_word_byte(tree->source.bytes[tree->start[node + 1]]);
}

/* Does code touch code whose start tag is the same? Parts of one piece of code are marked as what they are. */
static int is_apart(const Look *look, size_t node)
{
    const Tree *tree = look->tree;
    size_t before = node < look->fixed ? node : before_beside(tree, node);
    size_t size = (size_t)(tree->stop[node] - tree->start[node]);
    return before != node && tree->tag[before] == tree->tag[node] &&
           (size_t)(tree->stop[before] - tree->start[before]) == size &&
           memcmp(tree->source.bytes + tree->start[before], tree->source.bytes + tree->start[node], size) == 0;
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
        return is_raised(look, node) ? SAID_RAISED : SAID_PLAIN;
    case TAG_a:
        return node < look->heading && is_permalink(look, node) ? LEFT_OUT
               : is_joined(tree, node)                          ? SAID_JOINED
                                                                : SAID_PLAIN;
    case TAG_code:
    case TAG_kbd:
    case TAG_samp:
    case TAG_tt:
        return is_apart(look, node) ? SAID_APART : SAID_PLAIN;
    case TAG_button:
        return is_copy_button(look, node) ? LEFT_OUT : SAID_PLAIN;
    case TAG_div:
        if (tree->text_length[node] && is_gutter_box(look, node))
            return LEFT_OUT;
        break;
    case TAG_span:
        if (tree->text_length[node] && is_beside_heading(look, node) && is_edit(look, node))
            return LEFT_OUT;
        break;
    case TAG_textarea: /* Crayon has all code twice. */
        if (has_class(tree, node, twice))
            return LEFT_OUT;
        break;
    default:
        break;
    }
    if (sets & SET_CELL && tree->text_length[node] && is_gutter(tree, node))
        return LEFT_OUT;
    if ((sets & SET_PREFORMATTED || shows_code(tree, node)) && (size_t)tree->end[node] > look->fixed)
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
