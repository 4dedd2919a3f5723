/* What stands in the head of a page, and raw texts, by the rules of the HTML standard. */

#include "builder.h"

/* --- raw texts --- */

/* Does the end tag of the element that was read stand at this `</`? */
static int ends_raw(const Builder *builder, size_t at, const char *name)
{
    size_t behind = at + 2 + strlen(name);
    if (behind >= builder->page.size || !stands_at(builder->page, at + 2, name))
        return 0;
    return strchr("\t\n\f />", builder->page.bytes[behind]) != NULL && builder->page.bytes[behind];
}

static const char *raw_name(int16_t tag)
{
    switch (tag) {
    case TAG_title:
        return "title";
    case TAG_textarea:
        return "textarea";
    case TAG_style:
        return "style";
    case TAG_script:
        return "script";
    case TAG_iframe:
        return "iframe";
    case TAG_xmp:
        return "xmp";
    case TAG_noembed:
        return "noembed";
    }
    return "noframes";
}

/* Where a script ends that begins at `at`. In a comment in it, another script may begin and end. */
static size_t script_end(const Builder *builder, size_t at)
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
        } else if (next == '/' && ends_raw(builder, at, "script")) {
            if (state != IN_SCRIPT)
                return at;
            state = IN_COMMENT;
        } else if (state == PLAIN && next == '!' && stands_at(page, at, "<!--")) {
            state = IN_COMMENT;
            dashes = at + 2;
            at += 3;
        } else if (state == IN_COMMENT && ends_raw(builder, at - 1, "script")) {
            state = IN_SCRIPT;
        }
    }
}

static size_t raw_end(const Builder *builder, size_t at, const char *name)
{
    Bytes page = builder->page;
    while ((at = find_byte(page, '<', at, page.size)) < page.size)
        if (at + 1 < page.size && page.bytes[at + 1] == '/' && ends_raw(builder, at, name))
            break;
        else
            at++;
    return at;
}

void read_raw(Builder *builder, int is_escapable)
{
    Bytes page = builder->page;
    Buffer *lengths = &builder->made->lengths;
    if (builder->gives_up)
        return;
    int16_t tag = builder->token.tag;
    size_t first = builder->at;
    size_t end = tag == TAG_script ? script_end(builder, first) : raw_end(builder, first, raw_name(tag));
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
