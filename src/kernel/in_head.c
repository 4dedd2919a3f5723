/* What stands in the head of a page, and raw texts, by the rules of the HTML standard. */

#include "builder.h"

/* --- raw texts --- */

/* Does the name of the innermost element stand at `at`, and end there? */
static int ends_name(Builder *builder, size_t at)
{
    const Open *open = current(builder);
    const uint8_t *name = builder->out.bytes + open->start + 1;
    size_t behind = at + open->name_size;
    if (builder->out.is_short || behind >= builder->page.size)
        return 0;
    for (size_t i = 0; i < open->name_size; i++)
        if (lower(builder->page.bytes[at + i]) != name[i])
            return 0;
    uint8_t next = builder->page.bytes[behind];
    return is_space(next) || next == '/' || next == '>';
}

/* Where a script ends that begins at `at`. In a comment in it, another script may begin and end. */
static size_t script_end(Builder *builder, size_t at)
{
    enum { PLAIN, IN_COMMENT, IN_SCRIPT } state = PLAIN;
    Bytes page = builder->page;
    size_t dashes = 0;
    for (;; at++) {
        at = state == PLAIN ? find_byte(page, '<', at, page.size) : find_either(page, '<', '>', at, page.size);
        if (at == page.size)
            return at;
        uint8_t next = at + 1 < page.size ? page.bytes[at + 1] : 0;
        if (page.bytes[at] == '>') {
            if (at >= dashes + 2 && page.bytes[at - 1] == '-' && page.bytes[at - 2] == '-')
                state = PLAIN;
        } else if (next == '/' && ends_name(builder, at + 2)) {
            if (state != IN_SCRIPT)
                return at;
            state = IN_COMMENT;
        } else if (state == PLAIN && next == '!' && stands_at(page, at, "<!--")) {
            state = IN_COMMENT;
            dashes = at + 2;
            at += 3;
        } else if (state == IN_COMMENT && ends_name(builder, at + 1)) {
            state = IN_SCRIPT;
        }
    }
}

static size_t raw_end(Builder *builder, size_t at)
{
    Bytes page = builder->page;
    for (; (at = find_byte(page, '<', at, page.size)) < page.size; at++)
        if (at + 1 < page.size && page.bytes[at + 1] == '/' && ends_name(builder, at + 2))
            break;
    return at;
}

void read_raw(Builder *builder, int is_escapable)
{
    Bytes page = builder->page;
    Buffer *lengths = &builder->made->lengths;
    if (builder->gives_up)
        return;
    size_t first = builder->at;
    size_t end = builder->token.tag == TAG_script ? script_end(builder, first) : raw_end(builder, first);
    if (is_escapable) {
        write_text(builder, first, end);
    } else {
        put(&builder->out, page.bytes + first, end - first);
        int64_t length = (int64_t)(end - first);
        if (!lengths->is_short && lengths->size >= sizeof(length))
            memcpy(lengths->bytes + lengths->size - sizeof(length), &length, sizeof(length));
    }
    if (end == page.size || !read_tag(builder, end + 2))
        builder->at = page.size;
    close_current(builder);
}

/* --- the head --- */

/* A page that names another charset than the one it is read in is for the parser. */
static void check_charset(Builder *builder)
{
    const Attribute *charset = attribute_named(builder, "charset");
    const Attribute *content = attribute_named(builder, "content");
    if (builder->is_decoded)
        return;
    if (charset) {
        builder->gives_up |= !is_value(builder, charset, "utf-8");
        return;
    }
    if (!attribute_named(builder, "http-equiv"))
        return;
    for (size_t i = content ? content->value : 0; content && i < content->value_end; i++)
        if (builder->page.bytes[i] == '&' || stands_at(builder->page, i, "charset"))
            builder->gives_up |= !stands_at(builder->page, i, "charset=utf-8");
}

void leave_head(Builder *builder)
{
    builder->is_head_over = 1;
    builder->mode = MODE_AFTER_HEAD;
}

int start_in_head(Builder *builder)
{
    int16_t tag = builder->token.tag;
    switch (tag) {
    case TAG_meta:
        check_charset(builder);
        write_void(builder);
        return 1;
    case TAG_base: case TAG_basefont: case TAG_bgsound: case TAG_link:
        write_void(builder);
        return 1;
    case TAG_title: case TAG_noframes: case TAG_style: case TAG_script:
        open_read(builder, SPACE_HTML);
        read_raw(builder, tag == TAG_title);
        return 1;
    case TAG_noscript:
        open_read(builder, SPACE_HTML);
        builder->mode = MODE_IN_HEAD_NOSCRIPT;
        return 1;
    case TAG_template:
        add_marker(builder);
        open_read(builder, SPACE_HTML);
        builder->templates++;
        builder->mode = MODE_IN_TEMPLATE;
        return 1;
    case TAG_head:
        return 1;
    }
    leave_head(builder);
    return 0;
}
