/* Where each number stands that the networks of `auto` read: what it is says features.def. */

#ifndef DEHUSK_FEATURE_LIST_H
#define DEHUSK_FEATURE_LIST_H

#define LEVELS 6 /* Levels of a block's surroundings. */
#define MUCH_TEXT 20000 /* Characters of a page from which on more make no difference: networks have seen few books. */
#define TYPE_COUNT 7 /* Types of pages that are told apart. */
#define CONFIDENCE_FEATURES (14 + TYPE_COUNT) /* Numbers that tell how good an answer may be. */
#define NAME_NUMBERS 4 /* Numbers that a word in a name tells. */
#define TEXT_NUMBERS 2 /* And one in a short text. */

/* PAGE_CHARS, ... and how many there are. */
enum {
#define PAGE(NAME, group, name, width, most, meaning) PAGE_##NAME, PAGE_LAST_##NAME = PAGE_##NAME + (width) - 1,
#include "features.def"
    PAGE_FEATURES,
};

/* EVIDENCE_PAGES, ... */
enum {
#define EVIDENCE(NAME, name, width, meaning) EVIDENCE_##NAME, EVIDENCE_LAST_##NAME = EVIDENCE_##NAME + (width) - 1,
#include "features.def"
    EVIDENCE_COUNT,
};

/* SITE_CHARS, ...: page features, evidence, and what the page and the type network say. */
enum {
#define ABOVE(tag)
#define BOTH(NAME, group, name, width, most, meaning) SITE_##NAME, SITE_LAST_##NAME = SITE_##NAME + (width) - 1,
#include "features.def"
    SITE_EVIDENCE,
    SITE_LAST_EVIDENCE = SITE_EVIDENCE + EVIDENCE_COUNT - 1,
#define SITE(NAME, name, width, meaning) SITE_##NAME, SITE_LAST_##NAME = SITE_##NAME + (width) - 1,
#include "features.def"
    SITE_FEATURES,
};

#endif
