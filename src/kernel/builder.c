/* The open elements of a page that is read. */

#include "builder.h"

#define BOX (KIND_SPECIAL | KIND_CLOSES_P | KIND_BOX)
#define PART (KIND_SPECIAL | KIND_TABLE_PART)

const uint8_t tag_kinds[TAG_COUNT] = {
    [TAG_a] = KIND_FORMATTING,
    [TAG_address] = BOX,
    [TAG_applet] = KIND_SPECIAL | KIND_BARRIER | KIND_BOX,
    [TAG_area] = KIND_SPECIAL,
    [TAG_article] = BOX,
    [TAG_aside] = BOX,
    [TAG_b] = KIND_FORMATTING,
    [TAG_base] = KIND_SPECIAL,
    [TAG_basefont] = KIND_SPECIAL,
    [TAG_bgsound] = KIND_SPECIAL,
    [TAG_big] = KIND_FORMATTING,
    [TAG_blockquote] = BOX,
    [TAG_body] = KIND_SPECIAL,
    [TAG_br] = KIND_SPECIAL,
    [TAG_button] = KIND_SPECIAL | KIND_BOX,
    [TAG_caption] = PART | KIND_BARRIER,
    [TAG_center] = BOX,
    [TAG_code] = KIND_FORMATTING,
    [TAG_col] = PART,
    [TAG_colgroup] = PART,
    [TAG_dd] = KIND_SPECIAL | KIND_IMPLIED,
    [TAG_details] = BOX,
    [TAG_dialog] = BOX & ~KIND_SPECIAL,
    [TAG_dir] = BOX,
    [TAG_div] = BOX,
    [TAG_dl] = BOX,
    [TAG_dt] = KIND_SPECIAL | KIND_IMPLIED,
    [TAG_em] = KIND_FORMATTING,
    [TAG_embed] = KIND_SPECIAL,
    [TAG_fieldset] = BOX,
    [TAG_figcaption] = BOX,
    [TAG_figure] = BOX,
    [TAG_font] = KIND_FORMATTING,
    [TAG_footer] = BOX,
    [TAG_form] = KIND_SPECIAL,
    [TAG_frame] = KIND_SPECIAL,
    [TAG_frameset] = KIND_SPECIAL,
    [TAG_h1] = KIND_SPECIAL | KIND_HEADING,
    [TAG_h2] = KIND_SPECIAL | KIND_HEADING,
    [TAG_h3] = KIND_SPECIAL | KIND_HEADING,
    [TAG_h4] = KIND_SPECIAL | KIND_HEADING,
    [TAG_h5] = KIND_SPECIAL | KIND_HEADING,
    [TAG_h6] = KIND_SPECIAL | KIND_HEADING,
    [TAG_head] = KIND_SPECIAL,
    [TAG_header] = BOX,
    [TAG_hgroup] = BOX,
    [TAG_hr] = KIND_SPECIAL,
    [TAG_html] = KIND_SPECIAL | KIND_BARRIER,
    [TAG_i] = KIND_FORMATTING,
    [TAG_iframe] = KIND_SPECIAL,
    [TAG_img] = KIND_SPECIAL,
    [TAG_input] = KIND_SPECIAL,
    [TAG_keygen] = KIND_SPECIAL,
    [TAG_li] = KIND_SPECIAL | KIND_IMPLIED,
    [TAG_link] = KIND_SPECIAL,
    [TAG_listing] = BOX,
    [TAG_main] = BOX,
    [TAG_marquee] = KIND_SPECIAL | KIND_BARRIER | KIND_BOX,
    [TAG_menu] = BOX,
    [TAG_meta] = KIND_SPECIAL,
    [TAG_nav] = BOX,
    [TAG_nobr] = KIND_FORMATTING,
    [TAG_noembed] = KIND_SPECIAL,
    [TAG_noframes] = KIND_SPECIAL,
    [TAG_noscript] = KIND_SPECIAL,
    [TAG_object] = KIND_SPECIAL | KIND_BARRIER | KIND_BOX,
    [TAG_ol] = BOX,
    [TAG_optgroup] = KIND_IMPLIED,
    [TAG_option] = KIND_IMPLIED,
    [TAG_p] = KIND_SPECIAL | KIND_CLOSES_P | KIND_IMPLIED,
    [TAG_param] = KIND_SPECIAL,
    [TAG_plaintext] = KIND_SPECIAL,
    [TAG_pre] = BOX,
    [TAG_rb] = KIND_IMPLIED,
    [TAG_rp] = KIND_IMPLIED,
    [TAG_rt] = KIND_IMPLIED,
    [TAG_rtc] = KIND_IMPLIED,
    [TAG_s] = KIND_FORMATTING,
    [TAG_script] = KIND_SPECIAL,
    [TAG_search] = BOX,
    [TAG_section] = BOX,
    [TAG_select] = KIND_SPECIAL | KIND_BOX | KIND_BARRIER,
    [TAG_small] = KIND_FORMATTING,
    [TAG_source] = KIND_SPECIAL,
    [TAG_strike] = KIND_FORMATTING,
    [TAG_strong] = KIND_FORMATTING,
    [TAG_style] = KIND_SPECIAL,
    [TAG_summary] = BOX,
    [TAG_table] = KIND_SPECIAL | KIND_BARRIER,
    [TAG_tbody] = PART,
    [TAG_td] = PART | KIND_BARRIER,
    [TAG_template] = KIND_SPECIAL | KIND_BARRIER,
    [TAG_textarea] = KIND_SPECIAL,
    [TAG_tfoot] = PART,
    [TAG_th] = PART | KIND_BARRIER,
    [TAG_thead] = PART,
    [TAG_title] = KIND_SPECIAL,
    [TAG_tr] = PART,
    [TAG_track] = KIND_SPECIAL,
    [TAG_tt] = KIND_FORMATTING,
    [TAG_u] = KIND_FORMATTING,
    [TAG_ul] = BOX,
    [TAG_wbr] = KIND_SPECIAL,
    [TAG_xmp] = KIND_SPECIAL,
};

void push(Builder *builder, size_t start, int16_t tag, Space space)
{
    if (builder->level == MAX_OPEN || ++builder->elements > builder->max_elements) {
        builder->gives_up = 1;
        return;
    }
    Bytes written = {builder->out.bytes, builder->out.size};
    size_t end = start + 1;
    while (end < written.size && written.bytes[end] != ' ' && written.bytes[end] != '>')
        end++;
    builder->open[tag] += space == SPACE_HTML;
    builder->stack[builder->level++] =
        (Open){start, (uint32_t)(end - start - 1), tag, (uint8_t)space, 0};
}

int is_misplaced(Builder *builder)
{
    if (builder->in_table)
        builder->gives_up = 1;
    return builder->gives_up;
}

void open_read(Builder *builder, Space space)
{
    size_t start = builder->out.size;
    if (is_misplaced(builder))
        return;
    write_start_tag(builder, space);
    push(builder, start, builder->token.tag, space);
}

void write_void(Builder *builder)
{
    if (!is_misplaced(builder))
        write_start_tag(builder, SPACE_HTML);
    if (++builder->elements > builder->max_elements)
        builder->gives_up = 1;
}

void open_implied(Builder *builder, int16_t tag)
{
    static const struct {
        int16_t tag;
        const char *written;
    } tags[] = {
        {TAG_html, "<html>"}, {TAG_head, "<head>"},         {TAG_body, "<body>"}, {TAG_p, "<p>"},
        {TAG_tbody, "<tbody>"}, {TAG_colgroup, "<colgroup>"}, {TAG_tr, "<tr>"},
    };
    size_t start = builder->out.size;
    if (is_misplaced(builder))
        return;
    for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); i++)
        if (tags[i].tag == tag)
            put_text(&builder->out, tags[i].written);
    push(builder, start, tag, SPACE_HTML);
}

/* The innermost element ends, whether it is in the stack or only waits for that. */
static void close_one(Builder *builder)
{
    Buffer *out = &builder->out;
    const Open *open = &builder->stack[--builder->level];
    uint8_t *to = room_in(out, (size_t)open->name_size + 3);
    if (!to)
        return;
    *to++ = '<';
    *to++ = '/';
    memcpy(to, out->bytes + open->start + 1, open->name_size);
    to[open->name_size] = '>';
    out->size += (size_t)open->name_size + 3;
    builder->open[open->tag] -= open->space == SPACE_HTML;
    if (open->space == SPACE_HTML && tag_kinds[open->tag] & KIND_FORMATTING)
        for (size_t i = builder->listed; i--;)
            if (builder->formatting[i].start == open->start)
                builder->formatting[i].is_open = 0;
}

void close_current(Builder *builder)
{
    if (builder->level)
        close_one(builder);
    while (builder->level && current(builder)->tag == TAG_TEXT)
        close_one(builder);
}

void close_until(Builder *builder, int16_t tag)
{
    int is_found = 0;
    while (builder->level && !is_found) {
        is_found = current_tag(builder) == tag;
        close_current(builder);
    }
}

void forget(Builder *builder, size_t place)
{
    if (place == builder->level - 1) {
        close_current(builder);
    } else {
        builder->open[builder->stack[place].tag]--;
        builder->stack[place].tag = TAG_TEXT;
        builder->open[TAG_TEXT]++;
    }
}

void close_implied(Builder *builder, int16_t but)
{
    for (int16_t tag; tag_kinds[tag = current_tag(builder)] & KIND_IMPLIED && tag != but;)
        close_current(builder);
}

int is_barrier(const Open *open, Scope scope)
{
    if (open->space != SPACE_HTML)
        return scope != SCOPE_TABLE && open->holds_html;
    if (scope == SCOPE_TABLE)
        return open->tag == TAG_html || open->tag == TAG_table || open->tag == TAG_template;
    return tag_kinds[open->tag] & KIND_BARRIER || (scope == SCOPE_BUTTON && open->tag == TAG_button) ||
           (scope == SCOPE_LIST && (open->tag == TAG_ol || open->tag == TAG_ul));
}

int in_scope(const Builder *builder, int16_t tag, Scope scope)
{
    for (size_t i = builder->open[tag] ? builder->level : 0; i--;) {
        const Open *open = &builder->stack[i];
        if (open->space == SPACE_HTML && open->tag == tag)
            return 1;
        if (is_barrier(open, scope))
            return 0;
    }
    return 0;
}

void close_p(Builder *builder)
{
    if (!in_scope(builder, TAG_p, SCOPE_BUTTON))
        return;
    close_implied(builder, TAG_p);
    close_until(builder, TAG_p);
}

int is_of_name(const Builder *builder, const Open *open)
{
    const Token *token = &builder->token;
    size_t size = token->name_end - token->name;
    if (open->space == SPACE_HTML && open->tag != TAG_OTHER)
        return open->tag == token->tag;
    if (open->tag == TAG_TEXT || open->name_size != size)
        return 0;
    for (size_t i = 0; i < size; i++)
        if (lower(builder->out.bytes[open->start + 1 + i]) != lower(builder->page.bytes[token->name + i]))
            return 0;
    return 1;
}
