/* Canonical HTML to the nodes of its tree, in one pass.

   Canonical HTML makes this possible without a parser: `<` and `>` in text and attribute values are escaped,
   so outside raw text and comments each `>` ends a tag. What it cannot tell is asked of the parser's document:
   which elements only look void or raw because they are SVG or MathML, and how long a raw text is that may
   hold its own end tag.

   Time and memory are linear in the page: a stack instead of recursion, every place is looked at a
   fixed number of times. What is no canonical HTML gives some tree, and nothing worse. */

#include "scan.h"

#include <stdlib.h>

#include "hidden.h"

typedef struct {
    uint64_t path; /* The sum over the elements around this one. */
    int32_t node;
    uint8_t inherited;
    uint8_t is_island;
} Open;

typedef struct {
    Bytes source;
    const TagNames *names;
    const Foreign *foreign;
    int max_depth;
    Node *nodes;
    size_t count, room;
    Open *stack;
    size_t level, stack_room;
    uint64_t path;
    uint8_t inherited;
    size_t islands;         /* How many of the open elements are `<svg>` or `<math>`. */
    size_t raws, voids, eaters; /* How many tags looked raw, void, or eating so far. */
    uint8_t flags; /* Those of any element. */
    uint64_t powers[MAX_SCAN_DEPTH + 1];
} Scan;

typedef struct {
    uint64_t name;
    int16_t tag;
    uint32_t sets;
} Tag;

/* The array, with room for one more element of `size` bytes; NULL without memory. */
static void *grown(void *array, size_t *room, size_t count, size_t size)
{
    if (count < *room)
        return array;
    if (*room > SIZE_MAX / 2 / size)
        return NULL;
    void *moved = realloc(array, *room * 2 * size);
    if (moved)
        *room *= 2;
    return moved;
}

/* The node that comes next, to be filled; NULL without memory. */
static Node *next_node(Scan *scan)
{
    Node *nodes = grown(scan->nodes, &scan->room, scan->count, sizeof(Node));
    if (!nodes)
        return NULL;
    scan->nodes = nodes;
    return &nodes[scan->count++];
}

/* --- texts --- */

/* Bytes that only escape others, in the escape that begins at `at`; all of &nbsp; */
static unsigned escape_excess(Bytes source, size_t at)
{
    switch (at + 1 < source.size ? source.bytes[at + 1] : 0) {
    case 'a':
        return 4;
    case 'l':
    case 'g':
        return 3;
    case 'n':
        return 6;
    }
    return 0;
}

/* The hash of a text without white space at its ends, and how many characters it has. */
static void read_text(Bytes source, size_t first, size_t behind, int is_raw, Node *node)
{
    while (first < behind && is_white(source.bytes[first]))
        first++;
    if (first == behind)
        return;
    while (is_white(source.bytes[behind - 1]))
        behind--;
    uint64_t sum = behind - first, weight = 1;
    int64_t length = (int64_t)(behind - first);
    for (size_t at = first; at < behind; at += WORD) {
        uint64_t word = word_before(source, at, behind);
        sum += (word ^ (word >> 32)) * weight;
        weight *= TEXT_FACTOR;
        /* UTF-8 continues a character with bytes 10......: the top bit set, the next one not. */
        length -= count_marks(word & ~(word << 1) & TOP_BITS);
        if (!is_raw && marks_of(word, '&'))
            for (size_t i = at; i < behind && i < at + WORD; i++)
                if (source.bytes[i] == '&')
                    length -= escape_excess(source, i);
    }
    node->own = mix(sum);
    node->length = (int32_t)length;
}

/* The node above one of this depth: what lies too deep are siblings there. */
static int32_t parent_of(const Scan *scan, int32_t depth)
{
    return depth > 0 ? scan->stack[depth - 1].node : -1;
}

static int32_t depth_of(const Scan *scan, size_t level)
{
    return level < (size_t)scan->max_depth ? (int32_t)level : scan->max_depth;
}

/* A node for the text between two tags, if there is one; 0 without memory. */
static int add_text(Scan *scan, size_t start, size_t stop, int is_raw)
{
    if (start >= stop)
        return 1;
    int32_t depth = depth_of(scan, scan->level), number = (int32_t)scan->count;
    uint8_t flags = scan->inherited | NODE_TEXT | (is_raw ? NODE_RAW : 0);
    Node *node = next_node(scan);
    if (!node)
        return 0;
    *node = (Node){0, mix(scan->path), parent_of(scan, depth), number + 1, depth,
                   (int32_t)start, (int32_t)stop, (int32_t)stop, 0, TAG_TEXT, flags};
    /* Raw text that is not shown (scripts, which cost the most) is not read. */
    if (!is_raw || !(flags & (NODE_HIDDEN | NODE_IN_NOSCRIPT)))
        read_text(scan->source, start, stop, is_raw, node);
    return 1;
}

/* --- elements --- */

static int is_foreign(Bytes flags, size_t rank)
{
    return rank < flags.size && flags.bytes[rank];
}

/* An element with an end tag is open from here on; 0 without memory. */
static int open_element(Scan *scan, const Tag *tag, uint64_t part, uint8_t inherited)
{
    Open *stack = grown(scan->stack, &scan->stack_room, scan->level, sizeof(Open));
    if (!stack)
        return 0;
    scan->stack = stack;
    uint8_t is_island = (tag->sets & SET_ISLAND) != 0;
    stack[scan->level++] =
        (Open){scan->path, (int32_t)scan->count - 1, scan->inherited, is_island};
    scan->path += part;
    scan->inherited = inherited;
    scan->islands += is_island;
    return 1;
}

/* The last open element ends with the end tag that ends at `stop`. */
static void close_element(Scan *scan, size_t stop)
{
    if (scan->level == 0)
        return;
    const Open *open = &scan->stack[--scan->level];
    Node *node = &scan->nodes[open->node];
    node->close = (int32_t)stop;
    if (node->depth < scan->max_depth)
        node->end = (int32_t)scan->count;
    scan->path = open->path;
    scan->inherited = open->inherited;
    scan->islands -= open->is_island;
}

/* What an element hands on to all that stands in it. */
static uint8_t inherited_by(const Scan *scan, const Tag *tag, size_t start, size_t stop)
{
    uint8_t inherited = scan->inherited;
    if (tag->tag == TAG_noscript)
        inherited |= NODE_IN_NOSCRIPT;
    else if (tag->sets & SET_NEVER_SHOWN)
        inherited |= NODE_HIDDEN;
    if (tag->tag == TAG_a)
        inherited |= NODE_IN_LINK;
    return inherited & NODE_HIDDEN ? inherited : add_hiding(scan->source, tag->tag, start, stop, inherited);
}

/* Something is seen in what is not: what it stands in is there to hold it. */
static void show_around(Scan *scan)
{
    for (size_t i = scan->level; i-- && scan->nodes[scan->stack[i].node].flags & NODE_UNSEEN;)
        scan->nodes[scan->stack[i].node].flags &= (uint8_t)~NODE_UNSEEN;
}

/* A node for the start tag; 0 without memory. */
static int add_element(Scan *scan, const Tag *tag, size_t start, size_t stop, int is_nested)
{
    int32_t depth = depth_of(scan, scan->level), number = (int32_t)scan->count;
    Node *node = next_node(scan);
    if (!node)
        return 0;
    uint64_t part = tag->name * scan->powers[depth];
    uint8_t inherited = inherited_by(scan, tag, start, stop);
    *node =
        (Node){tag->name, mix(scan->path + part), parent_of(scan, depth), number + 1, depth,
               (int32_t)start, (int32_t)stop, (int32_t)stop, 0, tag->tag, inherited};
    scan->flags |= inherited;
    if (scan->inherited & ~inherited & NODE_UNSEEN)
        show_around(scan);
    return !is_nested || open_element(scan, tag, part, inherited);
}

/* --- raw texts and comments --- */

/* Where the raw text ends that begins at `first`; SIZE_MAX where only the parser can tell.

   A script may hold its own end tag, but only behind a comment's and a script's start. */
static size_t raw_end(const Scan *scan, const Tag *tag, size_t start, size_t first)
{
    Bytes source = scan->source;
    size_t name = start + 1, name_size = 0, at = first;
    while (name + name_size < first && source.bytes[name + name_size] != ' ' &&
           source.bytes[name + name_size] != '>')
        name_size++;
    int is_script = tag->tag == TAG_script, is_escaped = 0;
    if (tag->tag == TAG_plaintext)
        return SIZE_MAX;
    for (;; at++) {
        at = find_byte(source, '<', at, source.size);
        if (source.size - at < name_size + 3)
            return source.size;
        const uint8_t *behind = source.bytes + at + 1;
        if (*behind == '/') {
            if (behind[name_size + 1] == '>' &&
                memcmp(behind + 1, source.bytes + name, name_size) == 0)
                return at;
        } else if (is_script && *behind == '!') {
            is_escaped |= stands_at(source, at, "<!--");
        } else if (is_escaped && stands_at(source, at, "<script")) {
            return SIZE_MAX;
        }
    }
}

/* One behind the raw text of the tag of that rank, by the parser's word where it is needed. */
static ScanEnd skip_raw(const Scan *scan, const Tag *tag, size_t start, size_t *at)
{
    size_t end = raw_end(scan, tag, start, *at), rank = scan->raws - 1;
    if (end == SIZE_MAX) {
        if (!scan->foreign->is_given)
            return SCAN_ASKS;
        int64_t length = rank < scan->foreign->length_count ? scan->foreign->lengths[rank] : 0;
        size_t left = scan->source.size - *at;
        end = *at + (length < 0 ? 0 : (uint64_t)length > left ? left : (size_t)length);
    }
    *at = end;
    return SCAN_DONE;
}

/* One behind the comment that begins at `at`. */
static size_t skip_comment(Bytes source, size_t at)
{
    for (at += 6; at < source.size; at++) {
        at = find_byte(source, '>', at, source.size);
        if (at < source.size && source.bytes[at - 1] == '-' && source.bytes[at - 2] == '-')
            return at + 1;
    }
    return source.size;
}

/* --- the pass --- */

/* Read the start tag at `start`, which ends at `*at`, and the raw text behind it, if any. */
static ScanEnd read_start_tag(Scan *scan, size_t start, size_t *at)
{
    size_t stop = *at;
    Tag tag = {hash_name(scan->source, start + 1, stop - 1), 0, 0};
    tag.tag = number_of(scan->names, tag.name);
    tag.sets = tag_sets[tag.tag];
    int is_void = (tag.sets & SET_VOID) != 0, is_raw = (tag.sets & SET_RAW) != 0;
    int eats = (tag.sets & SET_EATS_NEWLINE) != 0;
    if ((is_void || is_raw || eats) && scan->islands && !scan->foreign->is_given)
        return SCAN_ASKS;
    if (is_void)
        is_void = !is_foreign(scan->foreign->voids, scan->voids++);
    if (is_raw)
        is_raw = !is_foreign(scan->foreign->raws, scan->raws++);
    if (eats)
        eats = !is_foreign(scan->foreign->eaters, scan->eaters++);
    if (!add_element(scan, &tag, start, stop, !is_void))
        return SCAN_NO_MEMORY;
    if (is_raw) {
        ScanEnd end = skip_raw(scan, &tag, start, at);
        if (end != SCAN_DONE)
            return end;
        return add_text(scan, stop, *at, 1) ? SCAN_DONE : SCAN_NO_MEMORY;
    }
    /* A newline behind <pre> is written twice, since a parser drops the first. */
    if (eats && stop < scan->source.size && scan->source.bytes[stop] == '\n')
        ++*at;
    return SCAN_DONE;
}

static ScanEnd scan_all(Scan *scan)
{
    Bytes source = scan->source;
    size_t at = find_byte(source, '<', 0, source.size);
    while (at < source.size) {
        size_t start = at;
        uint8_t head = start + 1 < source.size ? source.bytes[start + 1] : 0;
        ScanEnd end = SCAN_DONE;
        if (head == '!') {
            at = skip_comment(source, start);
        } else {
            at = find_byte(source, '>', start, source.size);
            if (at == source.size)
                break;
            at++;
            if (head == '/')
                close_element(scan, at);
            else if (head != '?') /* The parser writes what PHP left behind as it came. */
                end = read_start_tag(scan, start, &at);
        }
        if (end != SCAN_DONE)
            return end;
        size_t next = find_byte(source, '<', at, source.size);
        if (next < source.size && !add_text(scan, at, next, 0))
            return SCAN_NO_MEMORY;
        at = next;
    }
    while (scan->level)
        close_element(scan, source.size);
    return SCAN_DONE;
}

ScanEnd scan(Bytes source, const TagNames *names, const Foreign *foreign, int max_depth,
             ScanResult *result)
{
    Scan state = {.source = source, .names = names, .foreign = foreign, .max_depth = max_depth};
    state.room = source.size / 32 + 64; /* Real pages have 40 bytes a node and more. */
    state.stack_room = 64;
    state.nodes = malloc(state.room * sizeof(Node));
    state.stack = malloc(state.stack_room * sizeof(Open));
    ScanEnd end = SCAN_NO_MEMORY;
    if (state.nodes && state.stack) {
        state.powers[0] = 1;
        for (int i = 1; i <= max_depth; i++)
            state.powers[i] = state.powers[i - 1] * PATH_FACTOR;
        end = scan_all(&state);
    }
    free(state.stack);
    if (end != SCAN_DONE) {
        free(state.nodes);
        state.nodes = NULL;
    }
    *result = (ScanResult){state.nodes, state.count, state.flags};
    return end;
}
