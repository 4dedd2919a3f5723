/* `formula_signs` and `short_anchors`: where a page may have formulas and footnotes. Most have none, and are to
   find that out at once. */

#include <stdlib.h>

#include "addresses.h"
#include "buffer.h"
#include "tags.h"
#include "tree.h"

enum {
    MAX_LOOKED_AT = 1024, /* Bytes of a script: what sets formulas is named at its front. */
    MAX_NOTE_LABEL = 6,   /* Characters that refer to a footnote. */
};

/* A word, and which of its letters is the rarest: that one is looked for. */
typedef struct {
    const char *letters;
    size_t rarest;
} Word;

/* Does any of these words stand in a part of the source? */
static int has_word(Bytes source, size_t from, size_t stop, const Word *words)
{
    for (; words->letters; words++) {
        const size_t size = strlen(words->letters), rarest = words->rarest;
        for (size_t at = from + rarest; at < stop; at++) {
            at = find_byte(source, (uint8_t)words->letters[rarest], at, stop);
            if (size <= stop - (at - rarest) && memcmp(source.bytes + at - rarest, words->letters, size) == 0)
                return 1;
        }
    }
    return 0;
}

/* Does a class of what sets formulas begin so? A word that is another's beginning must be all of it: `tex`, `text`. */
static int is_setting_class(Bytes name)
{
    static const char *const begins[] = {"math", "Math", "katex", "mjx", "MJX", "mwe-math", "arithmatex", "latex",
                                         "formula", "js-inline-math", "js-display-math", NULL};
    for (size_t i = 0; begins[i]; i++)
        if (name.size && name.bytes[0] == (uint8_t)begins[i][0] && name.size >= strlen(begins[i]) &&
            memcmp(name.bytes, begins[i], strlen(begins[i])) == 0)
            return 1;
    return name.size == 3 && memcmp(name.bytes, "tex", 3) == 0;
}

/* The class that begins at a place of an attribute's value. */
static Bytes class_at(Bytes source, size_t at, size_t stop)
{
    size_t end = at;
    while (end < stop && source.bytes[end] > ' ' && source.bytes[end] != '"')
        end++;
    return (Bytes){source.bytes + at, end - at};
}

/* Does a start tag have such a class first? All that set formulas write it first. */
static int is_classed(Bytes source, size_t start, size_t stop)
{
    static const char mark[] = " class=\"";
    size_t at = find_near(source, ' ', start, stop), size = sizeof(mark) - 1;
    return stop - at > size && memcmp(source.bytes + at, mark, size) == 0 &&
           is_setting_class(class_at(source, at + size, stop));
}

/* Does the start tag of a picture have such a class? */
static int is_of_formula(Bytes source, size_t start, size_t stop)
{
    Attribute found;
    if (!find_attribute(source, start, stop, "class", &found))
        return 0;
    for (size_t at = found.value; at < found.value_stop;) {
        Bytes name = class_at(source, at, found.value_stop);
        if (is_setting_class(name))
            return 1;
        at += name.size + 1;
    }
    return 0;
}

static int is_sign(const Tree *tree, size_t node)
{
    static const Word scripts[] = {{"math/tex", 7}, {NULL, 0}};
    static const Word others[] = {{"<mjx-container", 0}, {"<math-renderer", 0}, {NULL, 0}};
    Bytes source = tree->source;
    size_t start = (size_t)tree->start[node], stop = (size_t)tree->stop[node];
    switch (tree->tag[node]) {
    case TAG_math:
        return 1;
    case TAG_script:
        return has_word(source, start, stop, scripts);
    case TAG_img:
        return is_of_formula(source, start, stop);
    case TAG_OTHER:
        return has_word(source, start, start + 1 < stop ? start + 15 < stop ? start + 15 : stop : stop, others);
    case TAG_span:
    case TAG_div:
    case TAG_p:
    case TAG_code:
        return stop - start > 15 && is_classed(source, start, stop);
    default:
        return 0;
    }
}

/* Is it a script or a style sheet of what sets formulas? */
static int is_setter(const Tree *tree, size_t node)
{
    static const Word words[] = {{"thJax", 2}, {"thjax", 2}, {"katex", 0}, {"KaTeX", 0}, {NULL, 0}};
    size_t start = (size_t)tree->start[node], stop = (size_t)tree->close[node];
    if (tree->tag[node] != TAG_script && tree->tag[node] != TAG_link)
        return 0;
    return has_word(tree->source, start, stop - start < MAX_LOOKED_AT ? stop : start + MAX_LOOKED_AT, words);
}

/* Does a text hold a sign of a formula: `\(`, `\[`, or a dollar where something sets those? */
static int has_sign(Bytes source, size_t at, size_t stop, int is_set)
{
    for (; at < stop; at++) {
        at = is_set ? find_either(source, '\\', '$', at, stop) : find_near(source, '\\', at, stop);
        uint8_t behind = at + 1 < stop ? source.bytes[at + 1] : 0;
        if (at < stop && (source.bytes[at] == '$' || behind == '(' || behind == '['))
            return 1;
    }
    return 0;
}

/* The nodes whose start tag or text holds a sign of a formula. */
static void find_signs(const Tree *tree, int is_set, Buffer *found)
{
    for (size_t i = 0; i < tree->count; i++) {
        size_t start = (size_t)tree->start[i], stop = (size_t)tree->stop[i];
        if (tree->tag[i] == TAG_TEXT ? tree->text_length[i] > 0 && has_sign(tree->source, start, stop, is_set)
                                     : is_sign(tree, i)) {
            int32_t node = (int32_t)i;
            put(found, &node, sizeof(node));
        }
    }
}

/* --- footnotes --- */

/* May a link's text be a number, a letter or a sign, perhaps in brackets? By how its first text begins: most short
   links are words, or marks of a heading. */
static int may_be_label(const Tree *tree, size_t node)
{
    size_t text = node + 1;
    while (text < (size_t)tree->end[node] && (tree->tag[text] != TAG_TEXT || !tree->text_length[text]))
        text++;
    size_t at = text < (size_t)tree->end[node] ? (size_t)tree->start[text] : tree->source.size;
    while (at < tree->source.size && tree->source.bytes[at] <= ' ')
        at++;
    if (tree->source.size - at < 2 || tree->source.bytes[at] >= 0x80)
        return !stands_at(tree->source, at, "\xC2\xB6"); /* A pilcrow. */
    uint8_t first = tree->source.bytes[at];
    if (is_letter(first))
        return !is_letter(tree->source.bytes[at + 1]);
    return (first >= '0' && first <= '9') || first == '[' || first == '(' || first == '*' || first == '&';
}

/* Is it a short link to a place on the page, as footnotes are referred to? */
static int is_short_anchor(const Tree *tree, size_t node)
{
    Attribute href;
    return tree->tag[node] == TAG_a && tree->shown[node] && tree->text_length[node] > 0 &&
           tree->text_length[node] <= MAX_NOTE_LABEL && may_be_label(tree, node) &&
           find_attribute(tree->source, (size_t)tree->start[node], (size_t)tree->stop[node], "href", &href) &&
           href.value_stop - href.value > 1 && tree->source.bytes[href.value] == '#';
}

PyObject *kernel_short_anchors(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    const Tree *tree = check_count("short_anchors", count, 1) ? given_tree(module, arguments[0]) : NULL;
    Buffer found = {0};
    if (!tree)
        return NULL;
    for (size_t i = 0; i < tree->count; i++) {
        int32_t node = (int32_t)i;
        if (is_short_anchor(tree, i))
            put(&found, &node, sizeof(node));
    }
    PyObject *answer = found.is_short ? PyErr_NoMemory()
                                      : PyBytes_FromStringAndSize(found.bytes ? (char *)found.bytes : "",
                                                                  (Py_ssize_t)found.size);
    free(found.bytes);
    return answer;
}

PyObject *kernel_formula_signs(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    const Tree *tree = check_count("formula_signs", count, 1) ? given_tree(module, arguments[0]) : NULL;
    Buffer found = {0};
    int is_set = 0;
    if (!tree)
        return NULL;
    for (size_t i = 0; i < tree->count && !is_set; i++)
        is_set = is_setter(tree, i);
    find_signs(tree, is_set, &found);
    PyObject *signs = found.is_short ? PyErr_NoMemory()
                                     : PyBytes_FromStringAndSize((char *)found.bytes, (Py_ssize_t)found.size);
    free(found.bytes);
    return signs ? Py_BuildValue("(NO)", signs, is_set ? Py_True : Py_False) : NULL;
}
