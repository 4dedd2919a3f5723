/* Tags in the body of a page, by the rules of the HTML standard. */

#include "builder.h"
#include "references.h"

/* --- start tags --- */

/* <li> ends the item that is open, <dt> and <dd> end each other. */
static void close_item(Builder *builder, int16_t one, int16_t other)
{
    for (size_t i = builder->level; i--;) {
        const Open *open = &builder->stack[i];
        int16_t tag = open->space == SPACE_HTML ? open->tag : TAG_TEXT;
        if (tag == one || tag == other) {
            close_implied(builder, tag);
            close_until(builder, tag);
            break;
        }
        if (open->space == SPACE_HTML ? tag_kinds[tag] & KIND_SPECIAL && tag != TAG_address && tag != TAG_div &&
                                            tag != TAG_p
                                      : open->holds_html)
            break;
    }
    close_p(builder);
}

static void start_form(Builder *builder)
{
    if (builder->has_form && !builder->templates)
        return;
    close_p(builder);
    if (!builder->templates) {
        builder->has_form = 1;
        builder->form = builder->out.size;
    }
    open_read(builder, SPACE_HTML);
}

/* <a> and <nobr> end the one that is open. */
static void start_single(Builder *builder, int16_t tag)
{
    if (tag == TAG_nobr) {
        reopen_formatting(builder);
        if (in_scope(builder, tag, SCOPE_PLAIN)) {
            builder->gives_up |= !end_formatting(builder, tag);
            reopen_formatting(builder);
        }
    } else if (is_formatted(builder, tag)) {
        end_formatting(builder, tag);
        if (is_formatted(builder, tag))
            builder->gives_up = 1;
    }
    reopen_formatting(builder);
    open_read(builder, SPACE_HTML);
    add_formatting(builder);
}

static void start_option(Builder *builder, int16_t tag)
{
    if (in_scope(builder, TAG_select, SCOPE_PLAIN))
        close_implied(builder, tag == TAG_option ? TAG_optgroup : TAG_TEXT);
    else if (current_tag(builder) == TAG_option)
        close_current(builder);
    reopen_formatting(builder);
    open_read(builder, SPACE_HTML);
}

static void start_table(Builder *builder)
{
    if (in_scope(builder, TAG_select, SCOPE_PLAIN))
        builder->gives_up = 1; /* In a table it ends the list, elsewhere not. */
    if (builder->quirks != QUIRKS_YES && in_scope(builder, TAG_p, SCOPE_BUTTON)) {
        if (builder->quirks == QUIRKS_UNKNOWN)
            builder->gives_up = 1;
        close_p(builder);
    }
    open_read(builder, SPACE_HTML);
    builder->mode = MODE_IN_TABLE;
}

/* The newline at the front of <pre> is not its text. */
static void eat_newline(Builder *builder)
{
    Bytes page = builder->page;
    size_t length = 0;
    if (builder->at < page.size && page.bytes[builder->at] == '\n')
        length = 1;
    else if (builder->at < page.size && page.bytes[builder->at] == '&' &&
             read_reference(page, builder->at, page.size, 0, &length) != '\n')
        length = 0;
    builder->at += length;
    builder->fresh = builder->out.size;
    const Formatting *last = builder->listed ? &builder->formatting[builder->listed - 1] : NULL;
    if (length && last && last->tag != TAG_TEXT && !last->is_open)
        builder->gives_up = 1; /* Is it opened again by a newline that is eaten? */
}

static void start_raw(Builder *builder, int16_t tag)
{
    if (tag == TAG_xmp) {
        close_p(builder);
        reopen_formatting(builder);
    }
    open_read(builder, SPACE_HTML);
    if (tag == TAG_textarea)
        eat_newline(builder);
    read_raw(builder, tag == TAG_textarea);
}

static void start_box(Builder *builder, int16_t tag)
{
    close_p(builder);
    if (tag_kinds[tag] & KIND_HEADING && tag_kinds[current_tag(builder)] & KIND_HEADING)
        close_current(builder);
    open_read(builder, SPACE_HTML);
    if (tag == TAG_pre || tag == TAG_listing)
        eat_newline(builder);
}

static void start_ruby(Builder *builder, int16_t tag)
{
    if (in_scope(builder, TAG_ruby, SCOPE_PLAIN))
        close_implied(builder, tag == TAG_rp || tag == TAG_rt ? TAG_rtc : TAG_TEXT);
    open_read(builder, SPACE_HTML);
}

/* Of a control in a <select>: the list has ended. */
static void leave_select(Builder *builder)
{
    if (in_scope(builder, TAG_select, SCOPE_PLAIN))
        close_until(builder, TAG_select);
}

/* Is the element that was read one of the few unlisted ones that are not like all others? */
static int has_own_rules(const Builder *builder)
{
    static const char *const names[] = {"selectedcontent", "mglyph", "malignmark", "isindex", "command"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (is_named(builder, names[i]))
            return 1;
    return 0;
}

void start_in_body(Builder *builder)
{
    int16_t tag = builder->token.tag;
    uint8_t kinds = tag_kinds[tag];
    if (kinds & (KIND_CLOSES_P | KIND_HEADING)) {
        start_box(builder, tag);
        return;
    }
    if (kinds & KIND_TABLE_PART)
        return;
    switch (tag) {
    case TAG_html: case TAG_body: /* What is new in it belongs to the first one. */
        if (!builder->templates)
            add_attributes(builder, tag == TAG_body);
        return;
    case TAG_base: case TAG_basefont: case TAG_bgsound: case TAG_link: case TAG_meta: case TAG_noframes:
    case TAG_script: case TAG_style: case TAG_template: case TAG_title:
        start_in_head(builder);
        return;
    case TAG_head: case TAG_frame:
        return;
    case TAG_frameset: case TAG_plaintext: case TAG_image:
        builder->gives_up = 1;
        return;
    case TAG_form:
        start_form(builder);
        return;
    case TAG_li:
        close_item(builder, TAG_li, TAG_li);
        open_read(builder, SPACE_HTML);
        return;
    case TAG_dd: case TAG_dt:
        close_item(builder, TAG_dd, TAG_dt);
        open_read(builder, SPACE_HTML);
        return;
    case TAG_a: case TAG_nobr:
        start_single(builder, tag);
        return;
    case TAG_table:
        start_table(builder);
        return;
    case TAG_textarea: case TAG_xmp: case TAG_iframe: case TAG_noembed:
        start_raw(builder, tag);
        return;
    case TAG_hr:
        close_p(builder);
        if (in_scope(builder, TAG_select, SCOPE_PLAIN))
            close_implied(builder, TAG_TEXT);
        write_void(builder);
        return;
    case TAG_select:
        if (in_scope(builder, TAG_select, SCOPE_PLAIN)) {
            close_until(builder, TAG_select);
            return;
        }
        break;
    case TAG_option: case TAG_optgroup:
        start_option(builder, tag);
        return;
    case TAG_rb: case TAG_rtc: case TAG_rp: case TAG_rt:
        start_ruby(builder, tag);
        return;
    case TAG_button:
        if (in_scope(builder, TAG_button, SCOPE_PLAIN)) {
            close_implied(builder, TAG_TEXT);
            close_until(builder, TAG_button);
        }
        break;
    case TAG_input:
        leave_select(builder);
        break;
    }
    if (tag == TAG_OTHER && has_own_rules(builder))
        builder->gives_up = 1;
    reopen_formatting(builder);
    if (tag_sets[tag] & SET_VOID) {
        write_void(builder);
        return;
    }
    if (tag == TAG_svg || tag == TAG_math) {
        start_in_island(builder);
        return;
    }
    open_read(builder, SPACE_HTML);
    if (kinds & KIND_FORMATTING)
        add_formatting(builder);
    if (tag == TAG_applet || tag == TAG_marquee || tag == TAG_object)
        add_marker(builder);
}

/* --- end tags --- */

static void end_other(Builder *builder)
{
    for (size_t i = builder->open[builder->token.tag] ? builder->level : 0; i--;) {
        const Open *open = &builder->stack[i];
        if (open->space == SPACE_HTML && is_of_name(builder, open)) {
            close_implied(builder, builder->token.tag);
            while (builder->level > i)
                close_current(builder);
            return;
        }
        if (open->space == SPACE_HTML ? tag_kinds[open->tag] & KIND_SPECIAL : open->holds_html)
            return;
    }
}

static void end_form(Builder *builder)
{
    int is_open = builder->has_form && builder->form != SIZE_MAX;
    builder->has_form = 0;
    size_t place = builder->level;
    while (is_open && place-- && builder->stack[place].start != builder->form)
        ;
    if (!is_open || place == SIZE_MAX || builder->stack[place].tag != TAG_form ||
        !in_scope(builder, TAG_form, SCOPE_PLAIN))
        return;
    close_implied(builder, TAG_TEXT);
    forget(builder, place);
}

static void end_heading(Builder *builder)
{
    size_t place = builder->level;
    while (place--) {
        const Open *open = &builder->stack[place];
        if (open->space == SPACE_HTML && tag_kinds[open->tag] & KIND_HEADING)
            break;
        if (is_barrier(open, SCOPE_PLAIN))
            return;
    }
    if (place == SIZE_MAX)
        return;
    close_implied(builder, TAG_TEXT);
    while (builder->level > place)
        close_current(builder);
}

/* An element whose end tag ends what is open in it, if it is in scope. */
static void end_box(Builder *builder, int16_t tag, Scope scope, int16_t but)
{
    if (!in_scope(builder, tag, scope))
        return;
    close_implied(builder, but);
    close_until(builder, tag);
    if (tag == TAG_applet || tag == TAG_marquee || tag == TAG_object)
        clear_to_marker(builder);
}

void end_in_body(Builder *builder)
{
    int16_t tag = builder->token.tag;
    uint8_t kinds = tag_kinds[tag];
    if (kinds & KIND_BOX) {
        end_box(builder, tag, SCOPE_PLAIN, TAG_TEXT);
        return;
    }
    switch (tag) {
    case TAG_html: case TAG_body:
        if (in_scope(builder, TAG_body, SCOPE_PLAIN))
            builder->mode = tag == TAG_html ? MODE_AFTER_AFTER_BODY : MODE_AFTER_BODY;
        return;
    case TAG_form:
        if (builder->templates)
            end_box(builder, tag, SCOPE_PLAIN, TAG_TEXT);
        else
            end_form(builder);
        return;
    case TAG_p:
        if (!in_scope(builder, TAG_p, SCOPE_BUTTON))
            open_implied(builder, TAG_p);
        close_p(builder);
        return;
    case TAG_li:
        end_box(builder, tag, SCOPE_LIST, tag);
        return;
    case TAG_dd: case TAG_dt:
        end_box(builder, tag, SCOPE_PLAIN, tag);
        return;
    case TAG_h1: case TAG_h2: case TAG_h3: case TAG_h4: case TAG_h5: case TAG_h6:
        end_heading(builder);
        return;
    case TAG_br:
        reopen_formatting(builder);
        builder->token.count = 0;
        write_void(builder);
        return;
    }
    if (!(kinds & KIND_FORMATTING) || !end_formatting(builder, tag))
        end_other(builder);
}
