/* A table of a memory: keys in ascending order, each with the pages it was on and the last of them. */

#ifndef DEHUSK_TABLES_H
#define DEHUSK_TABLES_H

#include "columns.h"
#include "sorting.h"

/* Over rows (count 0), rows with an owner (1), numbers that add up over the pages of a key (2), and the bytes of
   numbers of pages (3). */
#define TABLE_COLUMNS(COLUMN)              \
    COLUMN(keys, uint64_t, "Q", 0, 1)      \
    COLUMN(owner_keys, uint64_t, "Q", 1, 1) \
    COLUMN(sums, uint64_t, "Q", 2, 1)      \
    COLUMN(count, uint8_t, "B", 3, 1)      \
    COLUMN(last, uint8_t, "B", 3, 1)

typedef struct {
    Owner owner;
    TABLE_COLUMNS(COLUMN_POINTER)
    size_t rows, width; /* Numbers in each row of sums. */
    uint32_t most;      /* No number of pages in it is larger, */
    size_t item;        /* so each takes 1, 2 or 4 bytes: a third less memory for sites of fewer than 256 pages. */
    int has_owners;     /* Does each key belong to another? */
} Table;

/* A number of pages out of `count` or `last`. */
static inline uint32_t pages_at(const Table *table, const uint8_t *column, size_t row)
{
    uint16_t half;
    uint32_t whole;
    switch (table->item) {
    case 1:
        return column[row];
    case 2:
        memcpy(&half, column + 2 * row, sizeof(half));
        return half;
    default:
        memcpy(&whole, column + 4 * row, sizeof(whole));
        return whole;
    }
}

/* On how many pages the key of a row was, and the last of them. */
static inline uint32_t count_at(const Table *table, size_t row)
{
    return pages_at(table, table->count, row);
}

static inline uint32_t last_at(const Table *table, size_t row)
{
    return pages_at(table, table->last, row);
}

extern PyType_Spec table_spec;

/* The keys of a page, some of them more than once, with or without owners and sums. */
typedef struct {
    const uint64_t *keys, *owners, *sums;
    size_t count, width;
    uint32_t number; /* Of the page. */
} PageKeys;

/* A table of one page, each key once: its sums added up, of two owners the lesser. 0 without memory. `items`, of which
   there is room for twice as many, are the keys in order then. */
int fill_of_page(Table *table, const PageKeys *page, Keyed *items);

/* A table to be laid out; NULL with an exception set. */
Table *empty_table(PyObject *type);

/* A table to be filled, with no number of pages above `most`; NULL with an exception set. */
Table *make_table(PyObject *type, size_t rows, int has_owners, size_t width, uint32_t most);

/* The table of that name in a dict of them, NULL where there is none or it is empty; 0 with an exception set if
   it is no table, or has not so many sums. It is the caller's to let go: others may change the dict meanwhile. */
int find_table(const Types *types, PyObject *tables, const char *name, size_t width, Table **found);

/* How many keys of a table are less; 0 without one. Without a branch on the keys, which nobody can foresee. */
static inline size_t find_key(const Table *table, uint64_t key)
{
    const uint64_t *from = table ? table->keys : NULL;
    size_t left = table ? table->rows : 0;
    while (left > 1) {
        size_t half = left / 2;
        from = from[half - 1] < key ? from + half : from;
        left -= half;
    }
    return left ? (size_t)(from - table->keys) + (*from < key) : 0;
}

/* The row of a key; `SIZE_MAX` where there is none. */
static inline size_t row_of(const Table *table, uint64_t key)
{
    size_t at = find_key(table, key);
    return table && at < table->rows && table->keys[at] == key ? at : SIZE_MAX;
}

/* On how many pages a key was. */
static inline uint32_t count_of(const Table *table, uint64_t key)
{
    size_t row = row_of(table, key);
    return row == SIZE_MAX ? 0 : count_at(table, row);
}

#endif
