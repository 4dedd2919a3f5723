/* The content of a labelled tree, written as Markdown in one walk over its nodes.

   markdown.c         what is asked of a page before, and the walk: which element does what
   markdown_blocks.c  blocks: lists, quotes, headings, code, and the lines between them
   markdown_tables.c  tables of data, cell by cell
   markdown_html.c    tables that Markdown cannot hold
   markdown_links.c   addresses, and links whose addresses stand at the end
   markdown_inline.c  a paragraph as it is gathered: its text, its white space, its marks
   markdown_write.c   a paragraph as it is written: marks that CommonMark reads, and escapes

   A paragraph is gathered as text that nothing is escaped in, and marks at places in it. It is written when a
   block begins or ends, once all that stands around each of its characters is known. */

#ifndef DEHUSK_MARKDOWN_H
#define DEHUSK_MARKDOWN_H

#include "addresses.h"
#include "buffer.h"
#include "images.h"
#include "tags.h"
#include "tree.h"
#include "wording.h"

/* --- what the user wants: `dehusk.settings.MarkdownSettings` --- */

typedef enum { LINKS_KEEP, LINKS_TEXT, LINKS_FOOTNOTES, LINKS_NONE, LINKS_FULL } Links;
typedef enum { IMAGES_KEEP, IMAGES_DESCRIBED, IMAGES_ALT, IMAGES_NONE } Images;
typedef struct {
    Links links;
    Images images;
    int has_html_tables, has_parts;
} Wanted;

/* --- what is known of nodes before the walk --- */

enum {
    HOLDS_BLOCK = 1, /* Of an element: what stands in it. */
    HOLDS_FIXED = 2,
    HOLDS_BREAK = 4,
    HOLDS_HEADING = 8,
    HOLDS_STRUCTURE = 16, /* What no cell of a table can hold, and no link. */
    HOLDS_LIST = 32,
    IS_LOOSE = 64, /* Of a list: an item has several paragraphs. */
};

/* --- a paragraph --- */

typedef enum { STYLE_NONE, STYLE_LINK, STYLE_STRONG, STYLE_EMPHASIS, STYLE_STRUCK, STYLE_CODE,
               MARK_IMAGE, MARK_FORMULA } Style;

/* The styles of a text, the outermost first; none is there twice. */
#define MAX_STYLES 5
typedef struct {
    struct {
        uint8_t style;
        int32_t node;
        int32_t place; /* A link's place in `links`; in an open paragraph that of the opening mark. */
    } all[MAX_STYLES];
    size_t count;
} Styles;

/* Where a style begins or ends in a paragraph, or an image stands. */
typedef struct {
    size_t at;
    int32_t partner; /* The mark at the other end. */
    int32_t link;    /* Of a link or an image, its place in `links`. */
    uint8_t style, is_end, is_dead;
    uint8_t is_low;   /* Of emphasis: written as `_`. */
    uint8_t is_block; /* Of a formula: it has lines of its own. */
    uint8_t is_bare;  /* The same: it is written without marks, as a reference is. */
} Mark;

/* Where a link or an image leads, and the alternative text of an image: places in `addresses`. */
typedef struct {
    int32_t node;
    size_t url, url_size, alt, alt_size;
    uint8_t is_heading_only;
    uint8_t is_used; /* A link is written once; in later paragraphs its text stands alone. */
} Link;

typedef struct {
    Buffer text; /* '\n' is a break of the line. */
    Mark *marks;
    size_t mark_count, mark_room;
    Styles open;
    Buffer gap;       /* White space behind the text that is no plain space. */
    int has_space;    /* The same of plain spaces. */
    int breaks;       /* How many `<br>` stand behind it. */
    int has_moved;    /* A block began or ended behind it. */
    int is_cut;       /* Something that is not written stood behind it. */
    int is_new_anchor, was_anchored;
    int is_in_fixed;  /* The last text was preformatted, and its line goes on. */
    size_t node;      /* The first node of it. */
} Paragraph;

/* --- blocks --- */

#define MAX_CONTAINERS 25 /* Lists and quotes deeper than that are flattened; no reader tells them apart. */

typedef enum { CONTAINER_PAGE, CONTAINER_QUOTE, CONTAINER_ITEM, CONTAINER_NOTE } ContainerKind;

#define MAX_MARKED_TAG 4096 /* Bytes of a start tag that is asked: many blocks may ask the same one. */

/* The last block in a container; of a list its sign. */
enum { LAST_NONE = 0, LAST_PARAGRAPH = 'p', LAST_OTHER = 'o' };

/* What gives each line inside something to begin with. */
typedef struct {
    int32_t end;
    uint8_t kind, is_started, last;
    uint8_t task;   /* Of an item: 'x' or ' ' for one with a box, or 0. */
    uint8_t width;  /* Of an item: how far it indents. */
    int32_t list;   /* Of an item: its place in `lists`. */
    int32_t value;  /* Of an item: the number that it says it has, or -1; of a footnote its number. */
    const char *callout; /* Of a quote: the kind that GitHub has for it, or NULL. */
} Container;

typedef struct {
    int32_t end;
    size_t depth; /* Containers around it. */
    int32_t number;
    uint8_t tag_kind, sign, is_loose, is_reversed, width;
    size_t written; /* Items so far. */
} List;
enum { LIST_BULLETS, LIST_NUMBERS, LIST_TERMS };

/* An element that does something when it ends. */
typedef struct {
    int32_t end;
    uint16_t does;
} Open;

/* Where a block or a row begins, and with which node; as `dehusk.answer.markdown.Part` has it. */
typedef struct {
    int32_t at, node, kind;
} Part;
enum { PART_TEXT = 0, /* 1 to 6: headings. */ PART_CODE = 7, PART_TABLE = 8, PART_ROW = 9 };

/* One table of data. */
typedef struct {
    int32_t end; /* -1 without one. */
    Buffer columns; /* Of each cell its column, or -1; int32_t. */
    Buffer reach, filled;
    Buffer aligned; /* Of each column: 'l', 'c', 'r' or 0. */
    int32_t column_count, next_cell, column;
    size_t rows_written;
    uint8_t has_header, is_in_row;
} Table;

/* A part of a footnote, as `dehusk.answer.footnotes` has it. */
typedef struct {
    int32_t node, number, kind;
} Footnote;
enum { FOOTNOTE_REFERENCE, FOOTNOTE_TEXT, FOOTNOTE_GONE };

/* The addresses that links stand for by number. */
typedef struct {
    Buffer urls, starts; /* One behind another, and where each begins; size_t. */
    uint32_t *places;    /* By hash, the number of each, from 1. */
    size_t count, room;
} References;

typedef struct {
    const Tree *tree;
    const int8_t *labels;
    Wanted wanted;
    const Footnote *footnotes;
    size_t footnote_count, next_footnote;
    References references;
    Wording wording;
    Bases bases;
    PyObject *absolute, *language, *character_kind;
    int is_failed; /* With an exception set. */
    Buffer out, addresses, scratch, code;
    Buffer parts; /* Where blocks and rows begin, if somebody asks: `Part`s. */
    size_t node;  /* Where the walk is. */
    uint8_t *facts;
    int32_t *ink;     /* Texts and images before each node. */
    int32_t *outside; /* Characters outside of preformatted text before each node. */
    Open *open;
    size_t open_count;
    Container containers[MAX_CONTAINERS];
    size_t depth; /* Containers, the page included. */
    List *lists;
    size_t list_count, list_room;
    Link *links;
    size_t link_count, link_room;
    Styles styles;
    Paragraph paragraph;
    Table table;
    int heading, soft; /* The level of the heading, and how many elements whose blocks are only words. */
    int32_t anchors;
    int32_t code_node, code_end; /* Of a block of code; the end is -1 without one. */
    size_t fixed_end; /* Of preformatted text in a cell. */
    size_t passed;    /* One behind the last node that was written as a whole. */
    int is_fixed, is_code_moved;
    size_t rule, rule_end; /* The last rule that was written, to be taken back. */
    uint32_t known[64];    /* Characters and their kinds. */
    uint8_t known_kinds[64];
} Writer;

/* What `markdown.character_kind` says of a character. */
enum { CHARACTER_PUNCTUATION = 1, CHARACTER_SYMBOL = 2, CHARACTER_WORD = 4, CHARACTER_WHITE = 8 };
int kind_of_character(Writer *writer, const uint8_t *at, size_t left);

/* The length of the character at a place, and the place of the one before it. */
static inline size_t character_size(const uint8_t *at, size_t left)
{
    size_t size = *at < 0xC0 ? 1 : *at < 0xE0 ? 2 : *at < 0xF0 ? 3 : 4;
    return size < left ? size : left;
}

static inline size_t before_character(const uint8_t *bytes, size_t at)
{
    do
        at--;
    while (at && (bytes[at] & 0xC0) == 0x80);
    return at;
}

static inline int has_ink(const Writer *writer, size_t node)
{
    return writer->ink[writer->tree->end[node]] > writer->ink[node];
}

static inline int is_content(const Writer *writer, size_t node)
{
    return writer->tree->shown[node] && writer->labels[node] == LABEL_CONTENT;
}

/* The value of an attribute, escapes undone, in `scratch`; 0 if there is none. */
int attribute_value(Writer *writer, size_t node, const char *name, Bytes *value);

/* markdown_inline.c */
void add_text(Writer *writer, size_t node);
void add_literal(Writer *writer, const char *text);
void add_image(Writer *writer, size_t node);
void add_formula(Writer *writer, const Formula *formula);
void add_reference(Writer *writer, int32_t number);
void add_mixed(Writer *writer, size_t node); /* A text with formulas in it. */
/* Where an attribute leads, until the next address is asked for; 0 if nowhere. */
int address_for(Writer *writer, size_t node, const char *name, Bytes *url);
int image_address(Writer *writer, size_t node, Bytes *url); /* The same of an image, as the user wants it: */
int image_said(Writer *writer, size_t node, Bytes *alt); /* its alternative text, or its caption; in `scratch`. */
int is_unwanted(Writer *writer, size_t node); /* A link, where the user wants none. */
int push_link(Writer *writer, size_t node);
int push_style(Writer *writer, Style style, size_t node);
int is_blank(const Paragraph *paragraph);
void end_paragraph(Writer *writer); /* All that was gathered is there. */
void clear_paragraph(Writer *writer);

/* markdown_write.c: what was gathered, on one line, on lines with breaks, or in a cell. */
typedef enum { ON_LINES, IN_HEADING, IN_CELL } Shape;
void write_inline(Writer *writer, Shape shape);
void write_url(Writer *writer, Bytes url); /* As it is read between `<` and `>`. */

/* markdown_blocks.c */
void flush(Writer *writer);
void start_block(Writer *writer, int kind);
void note_part(Writer *writer, size_t node, int kind);
void put_prefix(Writer *writer);
void push_quote(Writer *writer, size_t node);
void push_note(Writer *writer, size_t node, int32_t number);
int push_callout(Writer *writer, size_t node);
void push_list(Writer *writer, size_t node);
void push_item(Writer *writer, size_t node);
void enter_definition(Writer *writer, size_t node);
void end_containers(Writer *writer, size_t node);
void write_rule(Writer *writer);
void begin_code(Writer *writer, size_t node, int is_fixed); /* With its white space, or without. */
void add_code(Writer *writer, size_t node);
void break_code(Writer *writer);
void end_code(Writer *writer, size_t node);

/* markdown_tables.c */
int is_layout(Writer *writer, size_t node); /* By its own word. */
int begin_table(Writer *writer, size_t node);
int is_table_cell(const Writer *writer, size_t node);
int32_t span_of(Writer *writer, size_t cell, const char *name);
void enter_row(Writer *writer);
void enter_cell(Writer *writer);
void end_row(Writer *writer);

/* markdown_html.c */
int needs_html(Writer *writer, size_t node);
void write_html_table(Writer *writer, size_t node);

/* markdown_links.c */
void strip_tracking(Writer *writer, size_t from); /* Of the last address, which begins there. */
size_t number_of_reference(Writer *writer, Bytes url);
void write_references(Writer *writer);
void free_references(References *references);

#endif
