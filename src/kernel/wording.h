/* What the content says otherwise than its nodes do: what is left out of it, its formulas and exponents. Text and
   Markdown both go by it, so that they have the same words. */

#ifndef DEHUSK_WORDING_H
#define DEHUSK_WORDING_H

#include "tree.h"

/* Of each node, how it is said. */
typedef enum {
    SAID_PLAIN,
    LEFT_OUT, /* With all that is in it: line numbers, buttons that copy, links of headings to themselves or to
                 what edits them. */
    SAID_RAISED, /* A raised number: 10<sup>6</sup> is not 106. */
    SAID_JOINED, /* A link in a sentence that goes on with the word of the link before it. */
    SAID_APART,  /* Code right behind other code, which only style sheets set apart. */
    SAID_REFERENCE, /* As the number of a footnote; in Markdown only, as is the next. */
    SAID_NOTE,      /* The footnote itself. */
    SAID_FORMULA, /* As LaTeX, up to the end of the formula; of a text, in places. */
} Saying;

/* As `dehusk.answer.formulas.Formulas` has them. */
typedef struct {
    int32_t node, end;
    int32_t from, to; /* In a text node, its place in the source; else -1. */
    int32_t latex, latex_stop;
    int32_t is_block;
} Formula;

typedef struct {
    uint8_t *said; /* A `Saying` of each node; to be freed. */
    const Formula *formulas;
    size_t count;
    size_t next; /* The first formula that was not taken yet. */
    Bytes latex;
} Wording;

/* How the content of a labelled tree is said; 0 with an exception set. */
int find_wording(Wording *wording, const Tree *tree, const int8_t *labels, View *formulas);

/* Does an element show lines of code that is not preformatted: GitHub's table of them, a cell of Crayon or
   SyntaxHighlighter, or a box of Doxygen? */
int shows_code(const Tree *tree, size_t node);

/* The next formula that begins with a node; NULL without one. The nodes must come in order. */
const Formula *take_formula(Wording *wording, size_t node);

static inline Bytes latex_of(const Wording *wording, const Formula *formula)
{
    return (Bytes){wording->latex.bytes + formula->latex, (size_t)(formula->latex_stop - formula->latex)};
}

#endif
