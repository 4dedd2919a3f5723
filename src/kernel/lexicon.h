/* What words tell: those in the names of elements and those of short texts, a few numbers each, which training
   found. */

#ifndef DEHUSK_LEXICON_H
#define DEHUSK_LEXICON_H

#include "feature_list.h"
#include "kernel.h"

/* Words in a table with open addressing, at most half full: a word that is not there is soon found missing. */
typedef struct {
    uint64_t *keys; /* 0 in a slot that is free. */
    float *numbers; /* A row for each slot. */
    size_t slots;   /* A power of 2. */
} WordList;

typedef struct {
    PyObject_HEAD
    WordList names, texts;
} Lexicon;

extern PyType_Spec lexicon_spec;

/* What the word from `at` to `stop` tells, `NAME_NUMBERS` or `TEXT_NUMBERS` of a list; NULL for one that is not
   listed. Capitals of ASCII count as small letters. */
const float *find_word(const WordList *list, size_t width, Bytes source, size_t at, size_t stop);

#endif
