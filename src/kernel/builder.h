/* How HTML becomes canonical HTML while it is read: the open elements, and what is written.

   Nothing is kept of a page but its open elements, so nothing that was written can be moved. Where browsers
   move elements (mended nesting, text between the rows of a table) the builder gives up, and a parser that
   builds the whole tree takes over. */

#ifndef DEHUSK_BUILDER_H
#define DEHUSK_BUILDER_H

#include "canonical.h"

/* Pages beyond these are left to the parser: no search in them takes long. */
#define MAX_OPEN 250
#define MAX_FORMATTING 60
#define MAX_ATTRIBUTES 60
#define MAX_GROWTH 8 /* So many times as large may a page become by elements that are opened again. */

typedef enum { SPACE_HTML, SPACE_SVG, SPACE_MATH } Space;

/* The insertion modes of the HTML standard, as far as they are needed. */
typedef enum {
    MODE_INITIAL,
    MODE_BEFORE_HTML,
    MODE_BEFORE_HEAD,
    MODE_IN_HEAD,
    MODE_IN_HEAD_NOSCRIPT,
    MODE_AFTER_HEAD,
    MODE_IN_BODY,
    MODE_IN_TABLE,
    MODE_IN_CAPTION,
    MODE_IN_COLUMN_GROUP,
    MODE_IN_TABLE_BODY,
    MODE_IN_ROW,
    MODE_IN_CELL,
    MODE_AFTER_BODY,
    MODE_AFTER_AFTER_BODY,
    MODE_IN_TEMPLATE,
} Mode;

typedef enum { QUIRKS_NO, QUIRKS_YES, QUIRKS_UNKNOWN } Quirks;

/* An attribute of the tag that is read: places in the page. */
typedef struct {
    size_t name, name_end, value, value_end;
} Attribute;

typedef struct {
    size_t name, name_end;
    size_t count;
    int16_t tag;
    uint8_t is_self_closing;
    Attribute attributes[MAX_ATTRIBUTES];
} Token;

/* An open element: where its start tag was written. */
typedef struct {
    size_t start;
    uint32_t name_size;
    int16_t tag; /* TAG_TEXT if it is no longer in the stack, and only waits for its end. */
    uint8_t space;
    uint8_t holds_html; /* Is HTML read in it, though it is SVG or MathML? Of a template: more than metadata? */
} Open;

/* A formatting element that may have to be opened again; TAG_TEXT for a marker. */
typedef struct {
    size_t start, size;
    int16_t tag;
    uint8_t is_open;
} Formatting;

typedef struct {
    Bytes page;
    size_t at;
    const TagNames *names;
    Canonical *made;
    Buffer out;
    Buffer gap;  /* What stands between head and body. */
    Buffer tail; /* What stands behind the body. */
    size_t elements, max_elements;
    size_t raws, voids, eaters; /* How many tags looked raw, void, or eating so far. */
    size_t fresh; /* How much was written when an element began that eats a newline. */
    size_t level, listed;
    Mode mode;
    Quirks quirks;
    size_t templates;   /* How many are open. */
    uint8_t is_head_over;
    uint8_t has_form;   /* Is a form open, or thought to be? */
    uint8_t in_table;   /* Is what comes now wrong in a table? */
    uint8_t is_decoded; /* Is a charset that the page names of no interest? */
    uint8_t gives_up;
    size_t form;        /* Where its start tag was written. */
    Token token;
    uint16_t open[TAG_COUNT]; /* How many elements of HTML are open, by their tags. */
    Open stack[MAX_OPEN];
    Formatting formatting[MAX_FORMATTING];
} Builder;

/* White space between attributes, and where text is no content. */
static inline int is_space(uint8_t byte)
{
    return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\f';
}

/* --- tokens.c --- */

/* Read the tag whose name begins here. 0 if the page ends first. */
int read_tag(Builder *builder, size_t name);

/* Is that the name of the tag that was read? In lower case. */
int is_named(const Builder *builder, const char *name);

/* The attribute with that name, in lower case; NULL if there is none. */
const Attribute *attribute_named(const Builder *builder, const char *name);

/* Is the value that word, in whatever case? */
int is_value(const Builder *builder, const Attribute *attribute, const char *word);

/* Write the start tag that was read, or text of the page. */
void write_start_tag(Builder *builder, Space space);
void write_text(Builder *builder, size_t first, size_t behind);

/* Give the attributes that were read to the open element at that place, which has none. */
void add_attributes(Builder *builder, size_t place);

/* --- builder.c --- */

enum {
    KIND_SPECIAL = 1,
    KIND_CLOSES_P = 2,     /* Begins behind the paragraph that is open. */
    KIND_BOX = 4,          /* Its end tag ends all that is open in it. */
    KIND_FORMATTING = 8,
    KIND_IMPLIED = 16,     /* Its end tag may be left out. */
    KIND_BARRIER = 32,     /* Hides what is around it. */
    KIND_HEADING = 64,
    KIND_TABLE_PART = 128, /* Only in a table. */
};

extern const uint8_t tag_kinds[TAG_COUNT];

typedef enum { SCOPE_PLAIN, SCOPE_BUTTON, SCOPE_LIST, SCOPE_TABLE } Scope;

static inline Open *current(Builder *builder)
{
    return &builder->stack[builder->level - 1];
}

/* The tag of the innermost element, if that is HTML; else TAG_TEXT. */
static inline int16_t current_tag(Builder *builder)
{
    return builder->level && current(builder)->space == SPACE_HTML ? current(builder)->tag : TAG_TEXT;
}

/* Write the start tag that was read; it stays open, or has no content. */
void open_read(Builder *builder, Space space);
void write_void(Builder *builder);

/* Open an element that the page leaves out. */
void open_implied(Builder *builder, int16_t tag);

void close_current(Builder *builder);
void close_until(Builder *builder, int16_t tag);

/* Take the element at that place out of the stack: it ends with what is open in it. */
void forget(Builder *builder, size_t place);
void close_implied(Builder *builder, int16_t but);
int in_scope(const Builder *builder, int16_t tag, Scope scope);
void close_p(Builder *builder);

/* Does an open element hide those around it? */
int is_barrier(const Open *open, Scope scope);

/* Open an element whose start tag is written at `start`. */
void push(Builder *builder, size_t start, int16_t tag, Space space);

/* Where HTML has no place in a table, browsers move it before that. 1 if so, or if the builder has given up. */
int is_misplaced(Builder *builder);

/* Is the open element of the name that was read? */
int is_of_name(const Builder *builder, const Open *open);

/* --- formatting.c --- */

void add_marker(Builder *builder);
void clear_to_marker(Builder *builder);
void add_formatting(Builder *builder);
void reopen_formatting(Builder *builder);
int is_formatted(const Builder *builder, int16_t tag);

/* End a formatting element as the standard's adoption agency does. 0 if it is not one that is open. */
int end_formatting(Builder *builder, int16_t tag);

/* --- in_head.c, in_body.c, in_table.c, islands.c, modes.c --- */

void take_start_tag(Builder *builder);
void take_end_tag(Builder *builder);
void take_text(Builder *builder, size_t first, size_t behind);
void take_comment(Builder *builder, size_t first, size_t behind);
void take_end(Builder *builder);

/* By the rules of that mode. 0 if the mode is another now, whose rules are to be asked. */
int start_in_head(Builder *builder);

/* The head is over, but stays open until the body begins: more may belong to it. */
void leave_head(Builder *builder);
void start_in_body(Builder *builder);
void end_in_body(Builder *builder);
int start_in_table(Builder *builder);
int end_in_table(Builder *builder);

/* The mode that goes with the open elements, when a table or a template has ended. */
void reset_mode(Builder *builder);

/* Text that is read up to the end tag of the element that was read. */
void read_raw(Builder *builder, int is_escapable);

/* Is the innermost element SVG or MathML, and not a point where HTML is read? */
int is_in_island(Builder *builder);
void start_in_island(Builder *builder);

/* 0 if the end tag is for the rules of HTML. */
int end_in_island(Builder *builder);

/* The name of an element or an attribute as SVG writes it; NULL if it is as it is read. */
const char *svg_name(const uint8_t *name, size_t size, int is_attribute);

#endif
