/* Tags in a table, by the rules of the HTML standard. */

#include "builder.h"

static int is_group(int16_t tag)
{
    return tag == TAG_tbody || tag == TAG_thead || tag == TAG_tfoot;
}

/* Close what is open in the table, its groups of rows, or its row. */
static void clear_to(Builder *builder, Mode mode)
{
    for (int16_t tag; (tag = current_tag(builder)) != TAG_html && builder->level;) {
        if (mode == MODE_IN_TABLE ? tag == TAG_table : mode == MODE_IN_ROW ? tag == TAG_tr : is_group(tag))
            return;
        close_current(builder);
    }
}

void reset_mode(Builder *builder)
{
    for (size_t i = builder->level; i--;) {
        const Open *open = &builder->stack[i];
        if (open->space != SPACE_HTML)
            continue;
        builder->mode = is_group(open->tag) ? MODE_IN_TABLE_BODY : MODE_IN_BODY;
        switch (open->tag) {
        case TAG_td: case TAG_th:
            builder->mode = MODE_IN_CELL;
            return;
        case TAG_tr:
            builder->mode = MODE_IN_ROW;
            return;
        case TAG_caption:
            builder->mode = MODE_IN_CAPTION;
            return;
        case TAG_colgroup:
            builder->mode = MODE_IN_COLUMN_GROUP;
            return;
        case TAG_table:
            builder->mode = MODE_IN_TABLE;
            return;
        case TAG_template:
            builder->mode = open->holds_html ? MODE_IN_BODY : MODE_IN_TEMPLATE;
            return;
        case TAG_head:
            builder->mode = builder->is_head_over ? MODE_AFTER_HEAD : MODE_IN_HEAD;
            return;
        case TAG_tbody: case TAG_thead: case TAG_tfoot: case TAG_body: case TAG_html:
            return;
        }
    }
}

static void end_table(Builder *builder)
{
    close_until(builder, TAG_table);
    reset_mode(builder);
}

/* --- between the rows --- */

static void start_in_body_of_table(Builder *builder)
{
    builder->in_table = 1;
    start_in_body(builder);
    builder->in_table = 0;
}

static void start_form_in_table(Builder *builder)
{
    if (builder->has_form || builder->templates)
        return;
    builder->has_form = 1;
    builder->form = SIZE_MAX; /* It holds nothing. */
    open_read(builder, SPACE_HTML);
    close_current(builder);
}

static int start_between(Builder *builder)
{
    int16_t tag = builder->token.tag;
    switch (tag) {
    case TAG_caption:
        clear_to(builder, MODE_IN_TABLE);
        add_marker(builder);
        open_read(builder, SPACE_HTML);
        builder->mode = MODE_IN_CAPTION;
        return 1;
    case TAG_colgroup:
        clear_to(builder, MODE_IN_TABLE);
        open_read(builder, SPACE_HTML);
        builder->mode = MODE_IN_COLUMN_GROUP;
        return 1;
    case TAG_col:
        clear_to(builder, MODE_IN_TABLE);
        open_implied(builder, TAG_colgroup);
        builder->mode = MODE_IN_COLUMN_GROUP;
        return 0;
    case TAG_tbody: case TAG_thead: case TAG_tfoot:
        clear_to(builder, MODE_IN_TABLE);
        open_read(builder, SPACE_HTML);
        builder->mode = MODE_IN_TABLE_BODY;
        return 1;
    case TAG_td: case TAG_th: case TAG_tr:
        clear_to(builder, MODE_IN_TABLE);
        open_implied(builder, TAG_tbody);
        builder->mode = MODE_IN_TABLE_BODY;
        return 0;
    case TAG_table:
        end_table(builder);
        return 0;
    case TAG_style: case TAG_script: case TAG_template:
        return start_in_head(builder);
    case TAG_form:
        start_form_in_table(builder);
        return 1;
    }
    start_in_body_of_table(builder);
    return 1;
}

static int end_between(Builder *builder)
{
    int16_t tag = builder->token.tag;
    if (tag == TAG_table) {
        end_table(builder);
        return 1;
    }
    if (tag_kinds[tag] & KIND_TABLE_PART || tag == TAG_body || tag == TAG_html)
        return 1;
    builder->in_table = 1;
    end_in_body(builder);
    builder->in_table = 0;
    return 1;
}

/* --- captions, columns, cells --- */

/* Close the cell or the caption that is open. */
static void close_part(Builder *builder, int16_t tag, Mode mode)
{
    close_implied(builder, TAG_TEXT);
    close_until(builder, tag);
    clear_to_marker(builder);
    builder->mode = mode;
}

static void close_cell(Builder *builder)
{
    close_part(builder, in_scope(builder, TAG_td, SCOPE_TABLE) ? TAG_td : TAG_th, MODE_IN_ROW);
}

static int start_in_part(Builder *builder)
{
    int16_t tag = builder->token.tag;
    if (!(tag_kinds[tag] & KIND_TABLE_PART)) {
        start_in_body(builder);
        return 1;
    }
    if (builder->mode == MODE_IN_CAPTION)
        close_part(builder, TAG_caption, MODE_IN_TABLE);
    else
        close_cell(builder);
    return 0;
}

static int end_in_caption(Builder *builder)
{
    int16_t tag = builder->token.tag;
    if (tag == TAG_caption || tag == TAG_table) {
        close_part(builder, TAG_caption, MODE_IN_TABLE);
        return tag == TAG_caption;
    }
    if (!(tag_kinds[tag] & KIND_TABLE_PART) && tag != TAG_body && tag != TAG_html)
        end_in_body(builder);
    return 1;
}

static int end_in_cell(Builder *builder)
{
    int16_t tag = builder->token.tag;
    if (tag == TAG_td || tag == TAG_th) {
        if (in_scope(builder, tag, SCOPE_TABLE))
            close_part(builder, tag, MODE_IN_ROW);
        return 1;
    }
    if (tag == TAG_table || tag == TAG_tr || is_group(tag)) {
        if (!in_scope(builder, tag, SCOPE_TABLE))
            return 1;
        close_cell(builder);
        return 0;
    }
    if (!(tag_kinds[tag] & KIND_TABLE_PART) && tag != TAG_body && tag != TAG_html)
        end_in_body(builder);
    return 1;
}

/* The columns are over. */
static int leave_columns(Builder *builder)
{
    if (current_tag(builder) != TAG_colgroup)
        return 1;
    close_current(builder);
    builder->mode = MODE_IN_TABLE;
    return 0;
}

/* --- rows --- */

static int leave_row(Builder *builder)
{
    if (!in_scope(builder, TAG_tr, SCOPE_TABLE))
        return 1;
    clear_to(builder, MODE_IN_ROW);
    close_current(builder);
    builder->mode = MODE_IN_TABLE_BODY;
    return 0;
}

static int leave_group(Builder *builder)
{
    if (!in_scope(builder, TAG_tbody, SCOPE_TABLE) && !in_scope(builder, TAG_thead, SCOPE_TABLE) &&
        !in_scope(builder, TAG_tfoot, SCOPE_TABLE))
        return 1;
    clear_to(builder, MODE_IN_TABLE_BODY);
    close_current(builder);
    builder->mode = MODE_IN_TABLE;
    return 0;
}

static int start_in_group(Builder *builder)
{
    switch (builder->token.tag) {
    case TAG_tr:
        clear_to(builder, MODE_IN_TABLE_BODY);
        open_read(builder, SPACE_HTML);
        builder->mode = MODE_IN_ROW;
        return 1;
    case TAG_td: case TAG_th:
        clear_to(builder, MODE_IN_TABLE_BODY);
        open_implied(builder, TAG_tr);
        builder->mode = MODE_IN_ROW;
        return 0;
    case TAG_caption: case TAG_col: case TAG_colgroup: case TAG_tbody: case TAG_thead: case TAG_tfoot:
        return leave_group(builder);
    }
    return start_between(builder);
}

static int end_in_group(Builder *builder)
{
    int16_t tag = builder->token.tag;
    if (is_group(tag)) {
        if (in_scope(builder, tag, SCOPE_TABLE))
            leave_group(builder);
        return 1;
    }
    return tag == TAG_table ? leave_group(builder) : end_between(builder);
}

static int start_in_row(Builder *builder)
{
    int16_t tag = builder->token.tag;
    if (tag == TAG_td || tag == TAG_th) {
        clear_to(builder, MODE_IN_ROW);
        open_read(builder, SPACE_HTML);
        builder->mode = MODE_IN_CELL;
        add_marker(builder);
        return 1;
    }
    return tag_kinds[tag] & KIND_TABLE_PART ? leave_row(builder) : start_between(builder);
}

static int end_in_row(Builder *builder)
{
    int16_t tag = builder->token.tag;
    if (tag == TAG_tr) {
        leave_row(builder);
        return 1;
    }
    if (tag == TAG_table)
        return leave_row(builder);
    if (is_group(tag))
        return in_scope(builder, tag, SCOPE_TABLE) ? leave_row(builder) : 1;
    return end_between(builder);
}

/* --- all of them --- */

int start_in_table(Builder *builder)
{
    switch (builder->mode) {
    case MODE_IN_CAPTION:
    case MODE_IN_CELL:
        return start_in_part(builder);
    case MODE_IN_COLUMN_GROUP:
        if (builder->token.tag == TAG_col)
            write_void(builder);
        else if (builder->token.tag == TAG_html)
            start_in_body(builder);
        else if (builder->token.tag == TAG_template)
            return start_in_head(builder);
        else
            return leave_columns(builder);
        return 1;
    case MODE_IN_TABLE_BODY:
        return start_in_group(builder);
    case MODE_IN_ROW:
        return start_in_row(builder);
    default:
        return start_between(builder);
    }
}

int end_in_table(Builder *builder)
{
    int16_t tag = builder->token.tag;
    switch (builder->mode) {
    case MODE_IN_CAPTION:
        return end_in_caption(builder);
    case MODE_IN_CELL:
        return end_in_cell(builder);
    case MODE_IN_COLUMN_GROUP:
        if (tag == TAG_col)
            builder->gives_up = 1; /* The standard passes it over, the parser ends the columns. */
        return leave_columns(builder) || tag == TAG_colgroup;
    case MODE_IN_TABLE_BODY:
        return end_in_group(builder);
    case MODE_IN_ROW:
        return end_in_row(builder);
    default:
        return end_between(builder);
    }
}
