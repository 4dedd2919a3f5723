/* What the page states of itself: whether it is an article, and what the article says (`articleBody` in JSON-LD).

   A block's text is looked for in the stated one by all runs of `RUN` letters and digits, whatever is between
   them. Time and memory are linear in the page: what is stated is read up to `MAX_STATED` letters, and a table of
   runs is asked at most `MAX_PROBES` times for each. */

#include "reading.h"

#include <stdlib.h>

#include "attributes.h"
#include "tags.h"

#define RUN 12
#define RUN_FACTOR 0x9E3779B97F4A7C15u
#define MAX_STATED (1 << 18)
#define MAX_PROBES 8
#define MAX_ESCAPE 10 /* Bytes between `&` and `;`. */

typedef struct {
    uint8_t *letters; /* What is stated. */
    size_t count, room;
    int is_article, is_other, has_memory;
} Statement;

/* --- letters --- */

static int is_word_byte(uint8_t byte)
{
    return (byte >= '0' && byte <= '9') || (lower(byte) >= 'a' && lower(byte) <= 'z');
}

/* How many bytes belong to the escape, tag, or sign outside ASCII that begins at a place; 0 for none. */
static size_t skipped_at(Bytes text, size_t at)
{
    const uint8_t *from = text.bytes + at;
    size_t left = text.size - at, i = 1;
    if (*from == '&') {
        while (i < left && i <= MAX_ESCAPE && (is_word_byte(from[i]) || from[i] == '#'))
            i++;
        return i < left && from[i] == ';' ? i + 1 : 0;
    }
    if (*from == '<')
        return left > 1 && (is_word_byte(from[1]) || from[1] == '/') ? find_byte(text, '>', at, text.size) - at : 0;
    if (*from == 0xC2)
        return 2;
    return (*from == 0xE2 && left > 1 && from[1] <= 0x81) || (*from == 0xE3 && left > 1 && from[1] == 0x80) ? 3 : 0;
}

/* The letters and digits of a text, small where they are ASCII; `to` may be the text. How many bytes. */
static size_t put_letters(Bytes text, uint8_t *to)
{
    size_t size = 0;
    for (size_t at = 0; at < text.size;) {
        uint8_t byte = text.bytes[at];
        size_t skipped = is_word_byte(byte) ? 0 : skipped_at(text, at);
        if (is_word_byte(byte) || (byte >= 0x80 && !skipped))
            to[size++] = lower(byte);
        at += skipped ? skipped : 1;
    }
    return size;
}

/* --- runs --- */

typedef struct {
    uint32_t *marks; /* Of each run that is known, in a table with open addressing; 0 in a place that is free. */
    size_t places;   /* A power of two. */
} Runs;

/* The hash of the run that ends with `new`, given that of the one before, which began with `old`. */
static uint64_t next_run(uint64_t hash, uint8_t old, uint8_t new, uint64_t power)
{
    return (hash - (old + 1) * power) * RUN_FACTOR + new + 1;
}

static uint64_t power_of_run(void)
{
    uint64_t power = 1;
    for (int i = 1; i < RUN; i++)
        power *= RUN_FACTOR;
    return power;
}

/* The place of a run in the table: its own, or a free one; NULL if there is neither near by. */
static uint32_t *find_run(const Runs *runs, uint64_t hash, uint32_t *mark)
{
    uint64_t mixed = mix(hash);
    *mark = (uint32_t)(mixed >> 32) | 1;
    for (size_t i = 0; i < MAX_PROBES; i++) {
        uint32_t *place = &runs->marks[(mixed + i) & (runs->places - 1)];
        if (!*place || *place == *mark)
            return place;
    }
    return NULL;
}

/* Take all runs of the letters into the table, or count the letters that stand in runs of the table. */
static size_t pass_runs(const Runs *runs, const uint8_t *letters, size_t count, int is_asked)
{
    uint64_t hash = 0, power = power_of_run();
    size_t found = 0, covered = 0; /* Letters before `covered` have been counted. */
    for (size_t i = 0; i < count; i++) {
        uint32_t mark, *place;
        hash = i < RUN ? hash * RUN_FACTOR + letters[i] + 1 : next_run(hash, letters[i - RUN], letters[i], power);
        if (i + 1 < RUN || !(place = find_run(runs, hash, &mark)))
            continue;
        if (!is_asked) {
            *place = mark;
        } else if (*place) {
            size_t first = i + 1 - RUN > covered ? i + 1 - RUN : covered;
            found += i + 1 - first;
            covered = i + 1;
        }
    }
    return found;
}

/* --- JSON --- */

#define NO_CODE UINT32_MAX

/* The number of the character that is written as \uXXXX at a place; else `NO_CODE`. */
static uint32_t read_code(Bytes text, size_t at)
{
    uint32_t code = 0;
    if (text.size - at < 6 || text.bytes[at] != '\\' || text.bytes[at + 1] != 'u')
        return NO_CODE;
    for (size_t i = at + 2; i < at + 6; i++) {
        uint8_t byte = lower(text.bytes[i]);
        if (!is_word_byte(byte) || byte > 'f')
            return NO_CODE;
        code = code << 4 | (uint32_t)(byte <= '9' ? byte - '0' : byte - 'a' + 10);
    }
    return code;
}

/* A string of JSON with its escapes undone; never longer than it was. */
static size_t put_string(Bytes text, uint8_t *to)
{
    size_t size = 0, at = 0;
    while (at < text.size) {
        uint32_t code = read_code(text, at), next;
        if (code != NO_CODE) {
            at += 6;
            if (code >> 10 == 0x36 && (next = read_code(text, at)) != NO_CODE) { /* The first of a pair. */
                code = 0x10000 + ((code & 0x3FF) << 10) + (next & 0x3FF);
                at += 6;
            }
            size += put_utf8(code, to + size);
        } else if (text.bytes[at] == '\\' && at + 1 < text.size) {
            to[size++] = strchr("bfnrt", text.bytes[at + 1]) ? ' ' : text.bytes[at + 1];
            at += 2;
        } else {
            to[size++] = text.bytes[at++];
        }
    }
    return size;
}

/* Add what is stated to what was before. */
static void add_stated(Statement *statement, Bytes text)
{
    if (text.size > MAX_STATED)
        text.size = MAX_STATED;
    size_t needed = statement->count + text.size + 1;
    if (statement->count + text.size > MAX_STATED)
        return;
    if (needed > statement->room) {
        uint8_t *moved = realloc(statement->letters, needed * 2);
        if (!moved) {
            statement->has_memory = 0;
            return;
        }
        statement->letters = moved;
        statement->room = needed * 2;
    }
    uint8_t *to = statement->letters + statement->count;
    size_t size = put_string(text, to);
    statement->count += put_letters((Bytes){to, size}, to);
}

static int is_same(Bytes text, const char *word)
{
    return text.size == strlen(word) && memcmp(text.bytes, word, text.size) == 0;
}

static int ends_with(Bytes text, const char *word)
{
    size_t size = strlen(word);
    return text.size >= size && memcmp(text.bytes + text.size - size, word, size) == 0;
}

static void add_type(Statement *statement, Bytes type)
{
    static const char *const others[] = {"Product",   "ProfilePage",       "CollectionPage", "DiscussionForumPosting",
                                         "QAPage",    "SearchResultsPage", "ItemList",       "JobPosting"};
    statement->is_article |= ends_with(type, "Article") || ends_with(type, "BlogPosting");
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        statement->is_other |= is_same(type, others[i]);
}

/* One behind the last byte of the string whose first is at a place. */
static size_t find_string_end(Bytes source, size_t at, size_t stop)
{
    while (at < stop) {
        at = find_either(source, '"', '\\', at, stop);
        if (at >= stop || source.bytes[at] == '"')
            break;
        at += 2;
    }
    return at < stop ? at : stop;
}

/* Read the strings of a piece of JSON, whatever else it holds: a string before a colon is a key, others are
   values of the last one. */
static void read_json(Bytes source, size_t at, size_t stop, Statement *statement)
{
    enum { OTHER, BODY, TYPE } key = OTHER;
    while ((at = find_byte(source, '"', at, stop)) < stop) {
        size_t end = find_string_end(source, at + 1, stop);
        Bytes text = {source.bytes + at + 1, end - at - 1};
        for (at = end + 1; at < stop && is_white(source.bytes[at]);)
            at++;
        if (at < stop && source.bytes[at] == ':')
            key = is_same(text, "articleBody") ? BODY : is_same(text, "@type") ? TYPE : OTHER;
        else if (key == BODY)
            add_stated(statement, text);
        else if (key == TYPE)
            add_type(statement, text);
    }
}

/* --- the page --- */

static void read_meta(Bytes source, size_t at, size_t stop, Statement *statement)
{
    int is_type = 0, is_time = 0, is_article = 0, is_filled = 0;
    Attribute found;
    while (next_attribute(source, &at, stop, &found)) {
        if (is_value(source, &found, "og:type"))
            is_type = 1;
        else if (is_value(source, &found, "article:published_time"))
            is_time = 1;
        else if (is_named(source, &found, "content")) {
            is_filled = found.value < found.value_stop;
            is_article = is_value(source, &found, "article");
        }
    }
    statement->is_article |= (is_type && is_article) || (is_time && is_filled);
    statement->is_other |= is_type && is_filled && !is_article;
}

static int is_json(Bytes source, size_t at, size_t stop)
{
    Attribute found;
    while (next_attribute(source, &at, stop, &found))
        if (is_value(source, &found, "application/ld+json"))
            return 1;
    return 0;
}

static void read_statement(const Tree *tree, Statement *statement)
{
    for (size_t i = 0; i < tree->count; i++) {
        size_t start = (size_t)tree->start[i], stop = (size_t)tree->stop[i];
        if (tree->tag[i] == TAG_meta)
            read_meta(tree->source, start, stop, statement);
        else if (tree->tag[i] == TAG_script && (size_t)tree->end[i] == i + 2 && is_json(tree->source, start, stop))
            read_json(tree->source, (size_t)tree->start[i + 1], (size_t)tree->stop[i + 1], statement);
    }
}

/* Fill what share of each block, and of the page, stands in what is stated; `letters` has room for a page. */
static void fill_shares(const Reading *reading, const Runs *runs, uint8_t *letters)
{
    const Tree *tree = reading->tree;
    double page_found = 0, page_count = 0;
    for (size_t block = 0, segment = 0; block < reading->blocks; block++) {
        size_t count = 0;
        for (; segment < reading->segment_count && (size_t)reading->owners[segment] == block; segment++) {
            size_t node = (size_t)reading->segments[segment], start = (size_t)tree->start[node];
            count += put_letters((Bytes){tree->source.bytes + start, (size_t)tree->stop[node] - start}, letters + count);
        }
        double found = (double)pass_runs(runs, letters, count, 1);
        features_of(reading, block)[PAGE_IN_BODY] = (float)(found / at_least((double)count, 1));
        page_found += found;
        page_count += (double)count;
    }
    for (size_t block = 0; block < reading->blocks; block++)
        features_of(reading, block)[PAGE_BODY_SHARE] = (float)(page_found / at_least(page_count, 1));
}

/* Look for the blocks in what is stated; 0 without memory. */
static int find_blocks(const Reading *reading, const Statement *statement)
{
    Runs runs = {NULL, 64};
    while (runs.places < 2 * statement->count)
        runs.places *= 2;
    runs.marks = calloc(runs.places, sizeof(uint32_t));
    uint8_t *letters = malloc(reading->tree->source.size + 1);
    int is_done = runs.marks && letters;
    if (is_done) {
        pass_runs(&runs, statement->letters, statement->count, 0);
        fill_shares(reading, &runs, letters);
    }
    free(runs.marks);
    free(letters);
    return is_done;
}

int fill_statement(const Reading *reading)
{
    Statement statement = {.has_memory = 1};
    read_statement(reading->tree, &statement);
    float is_article = statement.is_article ? 1 : statement.is_other ? -1 : 0;
    for (size_t i = 0; i < reading->blocks; i++) {
        features_of(reading, i)[PAGE_IS_ARTICLE] = is_article;
        features_of(reading, i)[PAGE_HAS_BODY] = statement.count >= RUN;
    }
    int is_done = statement.has_memory && (statement.count < RUN || find_blocks(reading, &statement));
    free(statement.letters);
    return is_done;
}
