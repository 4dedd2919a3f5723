/* The content of a page on its way to Markdown: a tree whose nodes are renamed, moved, dropped and
   added to. What `dehusk.render.as_markdown` does with the parser's document is done with a sheet
   here, step by step in the same order, before the sheet is written out as HTML.

   A node of the page has the same number in the sheet. A node that was dropped stays linked with what
   it holds, and is not reached any more. */

#ifndef DEHUSK_SHEET_H
#define DEHUSK_SHEET_H

#include "addresses.h"
#include "buffer.h"
#include "draft.h"

/* What a tag is to Markdown, by its number: the bits of `shape.SHAPE_KINDS`. */
enum {
    IS_BLOCK = 1 << 0,
    IS_INLINE = 1 << 1,
    IS_FIXED = 1 << 2, /* Keeps its white space: `<pre>` and the like. */
    IS_CODE = 1 << 3,
    IS_BREAK = 1 << 4,
    IS_ORDERED = 1 << 5,
    IS_ITEM = 1 << 6,
    IS_LIST = 1 << 7,
    IS_DEFINITIONS = 1 << 8,
    IS_TERM = 1 << 9,
    IS_DEFINITION = 1 << 10,
    IS_POWER = 1 << 11,
    IS_EMPHASIS = 1 << 12,
    IS_STRUCK = 1 << 13,
    IS_STRONG = 1 << 14,
    IS_HEADING = 1 << 15,
    IS_LINK = 1 << 16,
    IS_IMAGE = 1 << 17,
    IS_TABLE = 1 << 18,
    IS_CAPTION = 1 << 19,
    IS_SECTION = 1 << 20, /* Of a table. */
    IS_HEAD = 1 << 21,    /* The section of a table that names its columns. */
    IS_ROW = 1 << 22,
    IS_CELL = 1 << 23,
    IS_HEADER_CELL = 1 << 24,
    IS_STRUCTURE = 1 << 25, /* What no cell of a Markdown table can hold. */
    IS_VOID = 1 << 26,
    IS_REFUSED = 1 << 27,  /* The twin must be asked about it. */
    STOPS_ITEMS = 1 << 28, /* An item inside does not end an item around it. */
    IS_INPUT = 1 << 29,
};
#define IS_ANY_ITEM (IS_ITEM | IS_TERM | IS_DEFINITION)
#define IS_PART (IS_CAPTION | IS_SECTION | IS_ROW | IS_CELL)

/* The places of tag numbers in `shape.NEW_NAMES`. */
enum { NAME_A, NAME_BR, NAME_DIV, NAME_LI, NAME_PRE, NAME_SPAN, NAME_TD, NAME_TH, NAME_TR, NAME_UL,
       NEW_NAMES };

#define NAME_BYTES 16 /* Of each tag in `shape.NAMES`. */

enum {
    SPACE_BEFORE = 1,  /* Of a text: a space comes before it. */
    FREE_SPACES = 2,   /* Of a text: its spaces that may not break become plain ones. */
    PROTECTED = 4,     /* Of a text: it is code that polishing must leave alone. */
    IS_LITERAL = 8,    /* Of a text: it is what `extra` says. */
    NO_CLASS = 16,     /* Of an element: its class says nothing. */
    HAS_EXTRA = 32,    /* Of an element: `extra` is its address, its language, or both of an image. */
    FIRST_ITEM = 64,   /* Of an item: it may say where its list begins to count. */
    WITHIN_ITEM = 128, /* Of an element that was written: an item inside would end one around it. */
    IS_COMMENT = 256,  /* Of a text: it is none, but a comment. */
};

typedef struct {
    int32_t parent, first, last, before, next; /* -1 for none. */
    int32_t extra, extra_size; /* In `Sheet.extras`; of a text of the page, bytes cut off its front. */
    int16_t name;
    uint16_t flags;
} Item;

typedef struct {
    DraftPage page;
    Drafted found;
    const uint8_t *raw;
    const uint32_t *kinds;     /* By tag number. */
    const int16_t *renamed;    /* By tag number. */
    const char *names;         /* By tag number, NAME_BYTES each, the rest zeros. */
    const int16_t *new_names;
    size_t tags;
    Bases bases;
    PyObject *absolute, *language, *is_word, *is_power;
    Item *items;
    size_t count, room;
    const int32_t *elements; /* The kept ones, in order. */
    size_t element_count;
    uint32_t present; /* What any of them is. */
    int32_t *numbers; /* Four for each node and four more, for a step to use. */
    uint8_t *held;    /* Of each node, the kinds below that it is or holds. */
    uint8_t *in_data; /* Of each node, whether it is or stands in a table of data. */
    uint8_t *in_fixed;
    Buffer extras, scratch;
    int is_refused;
} Sheet;

enum { HOLDS_BLOCK = 1, HOLDS_FIXED = 2, HOLDS_BREAK = 4, HOLDS_HEADING = 8 };

static inline uint32_t kind_of(const Sheet *sheet, size_t node)
{
    return sheet->kinds[sheet->page.tag[node]];
}

/* Of a kept node its kinds, of another one none. */
static inline uint32_t kept_kind(const Sheet *sheet, size_t node)
{
    return sheet->found.kept[node] ? kind_of(sheet, node) : 0;
}

static inline void rename_item(Sheet *sheet, size_t item, int name)
{
    sheet->items[item].name = sheet->new_names[name];
}

static inline int is_named(const Sheet *sheet, size_t item, int name)
{
    return sheet->items[item].name == sheet->new_names[name];
}

static inline void detach(Sheet *sheet, int32_t number)
{
    Item *item = &sheet->items[number];
    if (item->before >= 0)
        sheet->items[item->before].next = item->next;
    else if (item->parent >= 0)
        sheet->items[item->parent].first = item->next;
    if (item->next >= 0)
        sheet->items[item->next].before = item->before;
    else if (item->parent >= 0)
        sheet->items[item->parent].last = item->before;
    item->parent = item->before = item->next = -1;
}

/* Put a detached item before another one, or last into a parent where `next` is -1. */
static inline void attach(Sheet *sheet, int32_t number, int32_t parent, int32_t next)
{
    Item *item = &sheet->items[number], *holder = &sheet->items[parent];
    item->parent = parent;
    item->next = next;
    item->before = next >= 0 ? sheet->items[next].before : holder->last;
    if (item->before >= 0)
        sheet->items[item->before].next = number;
    else
        holder->first = number;
    if (next >= 0)
        sheet->items[next].before = number;
    else
        holder->last = number;
}

static inline void insert_before(Sheet *sheet, int32_t number, int32_t next)
{
    if (sheet->items[next].parent >= 0)
        attach(sheet, number, sheet->items[next].parent, next);
}

/* Move all that one item holds to the end of another. */
static inline void move_children(Sheet *sheet, int32_t from, int32_t to)
{
    for (int32_t child; (child = sheet->items[from].first) >= 0;) {
        detach(sheet, child);
        attach(sheet, child, to, -1);
    }
}

/* A new item, detached; -1 with an exception set. */
int32_t new_item(Sheet *sheet, int16_t name);
int32_t new_element(Sheet *sheet, int name);
int32_t new_text(Sheet *sheet, const char *text);

/* Give an item all that stands in `extras` from a place on. */
void set_extra(Sheet *sheet, size_t item, size_t first);

/* The text of a node, escapes undone, in `scratch`. */
Bytes text_of(Sheet *sheet, size_t node);
/* What an attribute of an element says, escapes undone, in `scratch`; 0 if there is none. */
int attribute_of(Sheet *sheet, size_t node, const char *name, Bytes *value);
/* What a function of Python says of a text: 1 or 0, or -1 with an exception set. */
int says_yes(PyObject *function, Bytes text);

/* What is decided before the page is drafted: its images, and links that say nothing. 0 with an
   exception set. */
int find_marks(Sheet *sheet, int32_t *images, int32_t *permalinks);

/* The steps; each gives 0 with an exception set. */
int mend_texts(Sheet *sheet);
int shape_blocks(Sheet *sheet);
int shape_code(Sheet *sheet);
int shape_tables(Sheet *sheet);
int part_paragraphs(Sheet *sheet);
int shape_definitions(Sheet *sheet);
int mark_exponents(Sheet *sheet);
int flatten_emphasis(Sheet *sheet);
int place_images(Sheet *sheet);
int point_links(Sheet *sheet);
int protect_code(Sheet *sheet);

/* The body of a sheet as HTML. Sets `is_refused` where reading it would not give the same tree. */
void write_sheet(Sheet *sheet, int32_t body, Buffer *to);

#endif
