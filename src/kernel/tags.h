/* The numbers of element names and the sets that they are in, from tags.def. */

#ifndef DEHUSK_TAGS_H
#define DEHUSK_TAGS_H

#include "kernel.h"

/* TAG_TEXT, TAG_OTHER, TAG_a, ... */
enum {
    TAG_TEXT,
    TAG_OTHER,
#define TAG(name, sets) TAG_##name,
#include "tags.def"
    TAG_COUNT,
};

enum {
#define SET(name) SET_PLACE_##name,
#include "tags.def"
    SET_COUNT,
};

/* SET_VOID, SET_RAW, ...: bits of what `tag_sets` has for a tag. */
enum {
#define SET(name) SET_##name = 1 << SET_PLACE_##name,
#include "tags.def"
};

extern const uint32_t tag_sets[TAG_COUNT];

/* Where a browser begins a line. Cells of a table do not. */
#define BREAKS (SET_BLOCK | SET_LINE)

#define MAX_CELL_LENGTH 1000 /* Characters of a cell beyond which a row is no longer read as a row. */

/* How a name is found by its hash. */
struct TagNames {
    int16_t numbers[1 << 16];   /* By the first bits of the hash. */
    uint64_t hashes[TAG_COUNT];
};

/* A word up to its first space or `>`; `*ended` says whether there is one. */
static inline uint64_t cut_name(uint64_t word, int *ended)
{
    uint64_t marks = marks_of(word, ' ') | marks_of(word, '>');
    uint64_t lowest = marks & (~marks + 1);
    *ended = marks != 0;
    return word & ((lowest >> 7) - 1);
}

/* The hash of the name that begins at `at`, in a tag whose `>` stands at `close`. */
static inline uint64_t hash_name(Bytes source, size_t at, size_t close)
{
    int ended;
    uint64_t hash = mix(cut_name(word_at(source, at), &ended) * TEXT_FACTOR);
    if (!ended)
        hash = mix(hash + cut_name(word_at(source, at + WORD), &ended) * PATH_FACTOR);
    return ended ? hash : hash_run(source, at, find_byte(source, ' ', at, close));
}

/* The number of the name with that hash; text has none. */
static inline int16_t number_of(const TagNames *names, uint64_t hash)
{
    int16_t number = names->numbers[hash >> 48];
    return number > TAG_OTHER && names->hashes[number] == hash ? number : TAG_OTHER;
}

/* The table of names, to be freed; NULL with an exception set. */
TagNames *make_tag_names(void);

/* Give the module the names and the sets as TAG_NAMES and TAG_SETS; 0 with an exception set. */
int add_tags(PyObject *module);

#endif
