/* Tags, texts and comments of a page in their order, by the rules of the HTML standard. */

#include "builder.h"

/* --- before the body --- */

/* The body begins, with the tag that was read or without one. */
static void begin_body(Builder *builder, int is_read)
{
    close_current(builder);
    put(&builder->out, builder->gap.bytes, builder->gap.size);
    if (is_read)
        open_read(builder, SPACE_HTML);
    else
        open_implied(builder, TAG_body);
    builder->mode = MODE_IN_BODY;
}

/* Open what must be there before the mode that comes next. */
static void move_on(Builder *builder)
{
    switch (builder->mode) {
    case MODE_INITIAL:
        builder->quirks = QUIRKS_YES;
        builder->mode = MODE_BEFORE_HTML;
        return;
    case MODE_BEFORE_HTML:
        open_implied(builder, TAG_html);
        builder->mode = MODE_BEFORE_HEAD;
        return;
    case MODE_BEFORE_HEAD:
        open_implied(builder, TAG_head);
        builder->mode = MODE_IN_HEAD;
        return;
    case MODE_IN_HEAD_NOSCRIPT:
        close_current(builder);
        builder->mode = MODE_IN_HEAD;
        return;
    case MODE_IN_HEAD:
        leave_head(builder);
        return;
    case MODE_AFTER_HEAD:
        begin_body(builder, 0);
        return;
    default:
        builder->mode = MODE_IN_BODY;
    }
}

/* --- start tags --- */

static int is_for_head(int16_t tag)
{
    switch (tag) {
    case TAG_base: case TAG_basefont: case TAG_bgsound: case TAG_link: case TAG_meta: case TAG_noframes:
    case TAG_script: case TAG_style: case TAG_template: case TAG_title: case TAG_head:
        return 1;
    }
    return 0;
}

/* By the rules of what comes before the body. */
static int start_before_body(Builder *builder)
{
    int16_t tag = builder->token.tag;
    Mode mode = builder->mode;
    if (tag == TAG_html && mode > MODE_BEFORE_HTML) {
        if (mode == MODE_AFTER_HEAD)
            builder->gives_up = 1;
        start_in_body(builder);
        return 1;
    }
    if ((mode == MODE_BEFORE_HTML && tag == TAG_html) || (mode == MODE_BEFORE_HEAD && tag == TAG_head)) {
        open_read(builder, SPACE_HTML);
        builder->mode = mode + 1;
        return 1;
    }
    if (mode == MODE_IN_HEAD)
        return start_in_head(builder);
    if (mode == MODE_IN_HEAD_NOSCRIPT) {
        if (tag == TAG_noscript)
            return 1;
        if (is_for_head(tag) && tag != TAG_base && tag != TAG_script && tag != TAG_template && tag != TAG_title)
            return start_in_head(builder);
    }
    if (mode == MODE_AFTER_HEAD) {
        if (tag == TAG_frameset || tag == TAG_head)
            builder->gives_up = 1;
        if (is_for_head(tag))
            return start_in_head(builder);
        if (tag == TAG_body) {
            begin_body(builder, 1);
            return 1;
        }
    }
    move_on(builder);
    return 0;
}

/* --- templates --- */

static int start_in_template(Builder *builder)
{
    int16_t tag = builder->token.tag;
    if (is_for_head(tag) && tag != TAG_head)
        return start_in_head(builder);
    if (tag_kinds[tag] & KIND_TABLE_PART)
        builder->gives_up = 1;
    for (size_t i = builder->level; i--;)
        if (builder->stack[i].tag == TAG_template && builder->stack[i].space == SPACE_HTML) {
            builder->stack[i].holds_html = 1;
            break;
        }
    builder->mode = MODE_IN_BODY;
    return 0;
}

static void end_template(Builder *builder)
{
    if (!builder->templates) {
        builder->gives_up = 1;
        return;
    }
    close_until(builder, TAG_template);
    clear_to_marker(builder);
    builder->templates--;
    reset_mode(builder);
}

/* --- all start tags --- */

static int start_in_mode(Builder *builder)
{
    if (builder->mode == MODE_IN_TEMPLATE)
        return start_in_template(builder);
    if (builder->mode < MODE_IN_BODY)
        return start_before_body(builder);
    if (builder->mode > MODE_IN_BODY && builder->mode < MODE_AFTER_BODY)
        return start_in_table(builder);
    if (builder->mode != MODE_IN_BODY && builder->token.tag == TAG_html)
        builder->gives_up = 1;
    builder->mode = MODE_IN_BODY;
    start_in_body(builder);
    return 1;
}

void take_start_tag(Builder *builder)
{
    if (is_in_island(builder)) {
        start_in_island(builder);
        return;
    }
    while (!builder->gives_up && !start_in_mode(builder))
        ;
}

/* --- end tags --- */

static int end_before_body(Builder *builder)
{
    int16_t tag = builder->token.tag;
    if (builder->mode == MODE_INITIAL) {
        move_on(builder);
        return 0;
    }
    int is_passed_on = tag == TAG_body || tag == TAG_html || tag == TAG_br;
    switch (builder->mode) {
    case MODE_IN_HEAD:
        if (tag == TAG_head) {
            leave_head(builder);
            return 1;
        }
        break;
    case MODE_IN_HEAD_NOSCRIPT:
        if (tag == TAG_noscript) {
            move_on(builder);
            return 1;
        }
        is_passed_on = tag == TAG_br;
        break;
    case MODE_AFTER_HEAD:
        break;
    default:
        is_passed_on |= tag == TAG_head;
    }
    if (!is_passed_on)
        return 1;
    move_on(builder);
    return 0;
}

static int end_in_mode(Builder *builder)
{
    if (builder->token.tag == TAG_template) {
        if (builder->mode >= MODE_AFTER_BODY && builder->mode != MODE_IN_TEMPLATE)
            builder->gives_up = 1;
        end_template(builder);
        return 1;
    }
    if (builder->mode == MODE_IN_TEMPLATE)
        return 1;
    if (builder->mode < MODE_IN_BODY)
        return end_before_body(builder);
    if (builder->mode > MODE_IN_BODY && builder->mode < MODE_AFTER_BODY)
        return end_in_table(builder);
    if (builder->mode != MODE_IN_BODY) {
        if (builder->token.tag == TAG_html) {
            builder->mode = MODE_AFTER_AFTER_BODY;
            return 1;
        }
        builder->mode = MODE_IN_BODY;
    }
    end_in_body(builder);
    return 1;
}

void take_end_tag(Builder *builder)
{
    if (builder->level && current(builder)->space != SPACE_HTML) {
        if (builder->token.tag == TAG_p || builder->token.tag == TAG_br)
            builder->gives_up = 1;
        if (builder->gives_up || end_in_island(builder))
            return;
    }
    while (!builder->gives_up && !end_in_mode(builder))
        ;
}

/* --- texts --- */

static int is_between_rows(Mode mode)
{
    return mode == MODE_IN_TABLE || mode == MODE_IN_TABLE_BODY || mode == MODE_IN_ROW ||
           mode == MODE_IN_COLUMN_GROUP;
}

/* White space at the front of a text, where that is no content. */
static void take_white(Builder *builder, size_t first, size_t behind)
{
    if (builder->mode == MODE_AFTER_HEAD)
        put(&builder->gap, builder->page.bytes + first, behind - first);
    else if (builder->mode > MODE_BEFORE_HEAD)
        write_text(builder, first, behind);
}

void take_text(Builder *builder, size_t first, size_t behind)
{
    if (is_in_island(builder)) {
        write_text(builder, first, behind);
        return;
    }
    while (!builder->gives_up && first < behind && builder->mode < MODE_IN_BODY) {
        size_t white = first;
        while (white < behind && is_space(builder->page.bytes[white]))
            white++;
        take_white(builder, first, white);
        first = white;
        if (first == behind)
            return;
        if (builder->page.bytes[first] == '&' || builder->mode == MODE_IN_HEAD_NOSCRIPT)
            builder->gives_up = 1; /* A reference may stand for a space. */
        move_on(builder);
    }
    size_t solid = first;
    while (solid < behind && is_space(builder->page.bytes[solid]))
        solid++;
    if (is_between_rows(builder->mode)) {
        if (solid < behind)
            builder->gives_up = 1; /* Browsers move it before the table. */
        write_text(builder, first, behind);
        return;
    }
    if (solid < behind && builder->mode >= MODE_AFTER_BODY && builder->mode != MODE_IN_TEMPLATE) {
        if (builder->page.bytes[solid] == '&')
            builder->gives_up = 1;
        builder->mode = MODE_IN_BODY;
    }
    if (first < behind)
        reopen_formatting(builder);
    write_text(builder, first, behind);
}

/* --- comments and the end --- */

void take_comment(Builder *builder, size_t first, size_t behind)
{
    Buffer *to = &builder->out;
    if (!builder->level || (builder->mode == MODE_AFTER_AFTER_BODY && current(builder)->space == SPACE_HTML))
        return; /* It stands outside of <html>. */
    if (builder->mode == MODE_AFTER_HEAD)
        to = &builder->gap;
    else if (builder->mode == MODE_AFTER_BODY && current(builder)->space == SPACE_HTML)
        to = &builder->tail;
    put_text(to, "<!--");
    put(to, builder->page.bytes + first, behind - first);
    put_text(to, "-->");
}

void take_end(Builder *builder)
{
    while (builder->templates)
        end_template(builder);
    while (builder->mode < MODE_IN_BODY)
        move_on(builder);
    while (builder->level > 1)
        close_current(builder);
    put(&builder->out, builder->tail.bytes, builder->tail.size);
    close_current(builder);
}
