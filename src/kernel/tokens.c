/* Tags, attributes and texts of HTML: read as browsers do, written in the canonical way. */

#include "builder.h"
#include "references.h"

enum { ENDS_NAME = 1, ENDS_ATTRIBUTE = 2, ENDS_VALUE = 4, SPECIAL_IN_TEXT = 8, SPECIAL_IN_VALUE = 16 };

#define SPACES(kinds) ['\t'] = kinds, ['\n'] = kinds, ['\f'] = kinds, [' '] = kinds

/* What is special about a byte. 0xC2 may begin a space that does not break. */
static const uint8_t byte_kinds[256] = {
    SPACES(ENDS_NAME | ENDS_ATTRIBUTE | ENDS_VALUE),
    ['/'] = ENDS_NAME | ENDS_ATTRIBUTE,
    ['>'] = ENDS_NAME | ENDS_ATTRIBUTE | ENDS_VALUE | SPECIAL_IN_TEXT | SPECIAL_IN_VALUE,
    ['='] = ENDS_ATTRIBUTE,
    ['<'] = SPECIAL_IN_TEXT | SPECIAL_IN_VALUE,
    ['&'] = SPECIAL_IN_TEXT | SPECIAL_IN_VALUE,
    ['"'] = SPECIAL_IN_VALUE,
    [0xC2] = SPECIAL_IN_TEXT | SPECIAL_IN_VALUE,
};

/* The first byte from `at` on that is of that kind; else `stop`. */
static size_t find_kind(Bytes page, size_t at, size_t stop, uint8_t kind)
{
    while (at < stop && !(byte_kinds[page.bytes[at]] & kind))
        at++;
    return at;
}

/* The first byte that is not written as it is; else `stop`. */
static size_t find_special(Bytes page, size_t at, size_t stop, int is_in_value)
{
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8(is_in_value ? '"' : '&');
    for (; stop - at >= 16; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(page.bytes + at));
        __m128i signs = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('<')),
                                     _mm_cmpeq_epi8(bytes, _mm_set1_epi8('>')));
        signs = _mm_or_si128(signs, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('&')));
        signs = _mm_or_si128(signs, _mm_cmpeq_epi8(bytes, _mm_set1_epi8((char)0xC2)));
        signs = _mm_or_si128(signs, _mm_cmpeq_epi8(bytes, quote));
        int marks = _mm_movemask_epi8(signs);
        if (marks)
            return at + lowest_bit((uint32_t)marks);
    }
#endif
    return find_kind(page, at, stop, is_in_value ? SPECIAL_IN_VALUE : SPECIAL_IN_TEXT);
}

static size_t skip_white(Bytes page, size_t at)
{
    while (at < page.size && is_space(page.bytes[at]))
        at++;
    return at;
}

/* --- reading --- */

static int16_t tag_of(const Builder *builder, size_t first, size_t behind)
{
    uint8_t name[16];
    size_t size = behind - first;
    if (size >= sizeof(name))
        return TAG_OTHER;
    for (size_t i = 0; i < size; i++)
        name[i] = lower(builder->page.bytes[first + i]);
    name[size] = '>';
    return number_of(builder->names, hash_name((Bytes){name, size + 1}, 0, size));
}

static int is_same_name(Bytes page, const Attribute *one, const Attribute *other)
{
    size_t size = one->name_end - one->name;
    if (size != other->name_end - other->name)
        return 0;
    for (size_t i = 0; i < size; i++)
        if (lower(page.bytes[one->name + i]) != lower(page.bytes[other->name + i]))
            return 0;
    return 1;
}

/* Read the value at `at`, behind a `=`; one behind it. The page's size if it does not end. */
static size_t read_value(Bytes page, size_t at, Attribute *attribute)
{
    at = skip_white(page, at);
    if (at == page.size || page.bytes[at] == '>')
        return at;
    uint8_t quote = page.bytes[at];
    if (quote != '"' && quote != '\'') {
        attribute->value = at;
        return attribute->value_end = find_kind(page, at, page.size, ENDS_VALUE);
    }
    attribute->value = at + 1;
    attribute->value_end = find_near(page, quote, at + 1, page.size);
    return attribute->value_end < page.size ? attribute->value_end + 1 : page.size;
}

/* Keep an attribute, unless the tag has one of its name. */
static void keep_attribute(Builder *builder, const Attribute *attribute)
{
    Token *token = &builder->token;
    for (size_t i = 0; i < token->count; i++)
        if (is_same_name(builder->page, &token->attributes[i], attribute))
            return;
    if (token->count == MAX_ATTRIBUTES)
        builder->gives_up = 1;
    else
        token->attributes[token->count++] = *attribute;
}

int read_tag(Builder *builder, size_t name)
{
    Bytes page = builder->page;
    Token *token = &builder->token;
    size_t at = find_kind(page, name, page.size, ENDS_NAME);
    token->name = name;
    token->name_end = at;
    token->tag = tag_of(builder, name, at);
    token->count = 0;
    while (!builder->gives_up) {
        at = skip_white(page, at);
        if (at == page.size)
            return 0;
        uint8_t byte = page.bytes[at];
        token->is_self_closing = byte == '/' && at + 1 < page.size && page.bytes[at + 1] == '>';
        if (byte == '>' || token->is_self_closing) {
            builder->at = at + 1 + token->is_self_closing;
            return 1;
        }
        if (byte == '/') {
            at++;
            continue;
        }
        Attribute attribute = {at, find_kind(page, at + 1, page.size, ENDS_ATTRIBUTE), 0, 0};
        at = skip_white(page, attribute.name_end);
        if (at < page.size && page.bytes[at] == '=')
            at = read_value(page, at + 1, &attribute);
        keep_attribute(builder, &attribute);
    }
    return 0;
}

static int is_text(Bytes page, size_t first, size_t behind, const char *text)
{
    return behind - first == strlen(text) && stands_at(page, first, text);
}

int is_named(const Builder *builder, const char *name)
{
    return is_text(builder->page, builder->token.name, builder->token.name_end, name);
}

const Attribute *attribute_named(const Builder *builder, const char *name)
{
    const Token *token = &builder->token;
    for (size_t i = 0; i < token->count; i++)
        if (is_text(builder->page, token->attributes[i].name, token->attributes[i].name_end, name))
            return &token->attributes[i];
    return NULL;
}

int is_value(const Builder *builder, const Attribute *attribute, const char *word)
{
    return attribute && is_text(builder->page, attribute->value, attribute->value_end, word);
}

/* --- writing --- */

static void put_lower(Buffer *out, Bytes page, size_t first, size_t behind)
{
    size_t size = behind - first;
    uint8_t *to = room_in(out, size);
    if (!to)
        return;
    for (size_t i = 0; i < size; i++)
        to[i] = lower(page.bytes[first + i]);
    out->size += size;
}

static void put_character(Buffer *out, uint32_t number)
{
    uint8_t bytes[4];
    put(out, bytes, put_utf8(number, bytes));
}

/* Write a character as canonical HTML does. */
static void put_escaped(Buffer *out, uint32_t number, int is_in_value)
{
    switch (number) {
    case '&':
        put(out, "&amp;", 5);
        return;
    case '<':
        put(out, "&lt;", 4);
        return;
    case '>':
        put(out, "&gt;", 4);
        return;
    case 0xA0:
        put(out, "&nbsp;", 6);
        return;
    case '"':
        if (is_in_value) {
            put(out, "&quot;", 6);
            return;
        }
    }
    put_character(out, number);
}

/* Write the special byte at `at`, and what belongs to it; one behind that. */
static size_t put_special(Builder *builder, Buffer *out, size_t at, size_t stop, int is_in_value)
{
    Bytes page = builder->page;
    uint8_t byte = page.bytes[at];
    size_t length = 1;
    uint32_t number = byte;
    if (byte == '&') {
        number = read_reference(page, at, stop, is_in_value, &length);
        if (number == STRANGE_REFERENCE)
            builder->gives_up = 1;
        if (number == NO_REFERENCE)
            number = '&';
        if (number == '\n' && out->size == builder->fresh)
            put(out, "\n", 1);
    } else if (byte == 0xC2) {
        if (at + 1 == stop || page.bytes[at + 1] != 0xA0) {
            put(out, &page.bytes[at], 1);
            return at + 1;
        }
        number = 0xA0;
        length = 2;
    }
    put_escaped(out, number, is_in_value);
    return at + length;
}

static void put_run(Builder *builder, size_t at, size_t stop, int is_in_value)
{
    Buffer *out = &builder->out;
    while (at < stop) {
        size_t special = find_special(builder->page, at, stop, is_in_value);
        put(out, builder->page.bytes + at, special - at);
        at = special < stop ? put_special(builder, out, special, stop, is_in_value) : stop;
    }
}

void write_text(Builder *builder, size_t first, size_t behind)
{
    /* A newline at the front of <pre> is written twice, since a parser drops the first. */
    if (first < behind && builder->page.bytes[first] == '\n' && builder->out.size == builder->fresh)
        put(&builder->out, "\n", 1);
    put_run(builder, first, behind, 0);
}

static void put_name(Builder *builder, size_t first, size_t behind, Space space, int is_attribute)
{
    const char *name = NULL;
    if (space == SPACE_SVG)
        name = svg_name(builder->page.bytes + first, behind - first, is_attribute);
    else if (space == SPACE_MATH && is_attribute && is_text(builder->page, first, behind, "definitionurl"))
        name = "definitionURL";
    if (name)
        put_text(&builder->out, name);
    else
        put_lower(&builder->out, builder->page, first, behind);
}

static void put_attributes(Builder *builder, Space space)
{
    const Token *token = &builder->token;
    for (size_t i = 0; i < token->count; i++) {
        const Attribute *attribute = &token->attributes[i];
        put(&builder->out, " ", 1);
        put_name(builder, attribute->name, attribute->name_end, space, 1);
        put(&builder->out, "=\"", 2);
        put_run(builder, attribute->value, attribute->value_end, 1);
        put(&builder->out, "\"", 1);
    }
}

/* Note that the tag of that rank only looks as if it were HTML's. */
static void note(Buffer *flags, size_t rank)
{
    while (flags->size < rank && !flags->is_short)
        put(flags, "", 1);
    put(flags, "\1", 1);
}

/* What canonical HTML does not say of a tag. */
static void note_looks(Builder *builder, uint32_t sets, int is_foreign)
{
    static const int64_t none = 0;
    if (sets & SET_RAW)
        put(&builder->made->lengths, &none, sizeof(none));
    if (is_foreign && sets & SET_RAW)
        note(&builder->made->raws, builder->raws);
    if (is_foreign && sets & SET_VOID)
        note(&builder->made->voids, builder->voids);
    if (is_foreign && sets & SET_EATS_NEWLINE)
        note(&builder->made->eaters, builder->eaters);
    builder->raws += (sets & SET_RAW) != 0;
    builder->voids += (sets & SET_VOID) != 0;
    builder->eaters += (sets & SET_EATS_NEWLINE) != 0;
}

void write_start_tag(Builder *builder, Space space)
{
    const Token *token = &builder->token;
    uint32_t sets = tag_sets[token->tag];
    if (sets & (SET_RAW | SET_VOID | SET_EATS_NEWLINE))
        note_looks(builder, sets, space != SPACE_HTML);
    put(&builder->out, "<", 1);
    put_name(builder, token->name, token->name_end, space, 0);
    put_attributes(builder, space);
    put(&builder->out, ">", 1);
}

void add_attributes(Builder *builder, size_t place)
{
    Buffer *out = &builder->out;
    const Open *open = &builder->stack[place];
    size_t at = open->start + 1 + open->name_size, size = out->size;
    if (!builder->token.count)
        return;
    if (out->is_short || out->bytes[at] != '>') {
        builder->gives_up = 1;
        return;
    }
    put_attributes(builder, SPACE_HTML);
    size_t added = out->size - size;
    uint8_t *copy = malloc(added + 1);
    if (!copy || out->is_short) {
        out->is_short = 1;
        free(copy);
        return;
    }
    memcpy(copy, out->bytes + size, added);
    memmove(out->bytes + at + added, out->bytes + at, size - at);
    memcpy(out->bytes + at, copy, added);
    free(copy);
    for (size_t i = place + 1; i < builder->level; i++)
        builder->stack[i].start += added;
    for (size_t i = 0; i < builder->listed; i++)
        builder->formatting[i].start += added;
    builder->form += builder->form == SIZE_MAX ? 0 : added;
    builder->fresh += builder->fresh == SIZE_MAX ? 0 : added;
}
