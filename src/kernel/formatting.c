/* Formatting elements, which may have to be opened again. */

#include "builder.h"

void add_marker(Builder *builder)
{
    if (builder->listed == MAX_FORMATTING)
        builder->gives_up = 1;
    else
        builder->formatting[builder->listed++] = (Formatting){0, 0, TAG_TEXT, 0};
}

void clear_to_marker(Builder *builder)
{
    while (builder->listed && builder->formatting[--builder->listed].tag != TAG_TEXT)
        ;
}

static void remove_listed(Builder *builder, size_t place)
{
    builder->listed--;
    memmove(&builder->formatting[place], &builder->formatting[place + 1],
            (builder->listed - place) * sizeof(Formatting));
}

/* Of four like elements the first is forgotten. */
static void keep_three(Builder *builder, const Formatting *added)
{
    const uint8_t *written = builder->out.bytes;
    size_t like = 0, first = 0;
    for (size_t i = builder->listed; i-- && builder->formatting[i].tag != TAG_TEXT;) {
        const Formatting *listed = &builder->formatting[i];
        if (listed->tag != added->tag || listed->size != added->size ||
            memcmp(written + listed->start, written + added->start, added->size) != 0)
            continue;
        like++;
        first = i;
    }
    if (like >= 3)
        remove_listed(builder, first);
}

void add_formatting(Builder *builder)
{
    if (builder->gives_up || builder->listed == MAX_FORMATTING) {
        builder->gives_up = 1;
        return;
    }
    const Open *open = current(builder);
    Formatting added = {open->start, builder->out.size - open->start, open->tag, 1};
    keep_three(builder, &added);
    builder->formatting[builder->listed++] = added;
}

void reopen_formatting(Builder *builder)
{
    size_t first = builder->listed;
    while (first && builder->formatting[first - 1].tag != TAG_TEXT && !builder->formatting[first - 1].is_open)
        first--;
    if (first < builder->listed && is_misplaced(builder))
        return;
    for (; first < builder->listed && !builder->gives_up; first++) {
        Formatting *formatting = &builder->formatting[first];
        size_t start = builder->out.size;
        if (!room_in(&builder->out, formatting->size))
            return;
        put(&builder->out, builder->out.bytes + formatting->start, formatting->size);
        push(builder, start, formatting->tag, SPACE_HTML);
        formatting->start = start;
        formatting->is_open = 1;
        if (start / MAX_GROWTH > builder->page.size)
            builder->gives_up = 1;
    }
}

/* Where the last formatting element of that tag is listed; SIZE_MAX if none is. */
static size_t find_listed(const Builder *builder, int16_t tag)
{
    for (size_t i = builder->listed; i-- && builder->formatting[i].tag != TAG_TEXT;)
        if (builder->formatting[i].tag == tag)
            return i;
    return SIZE_MAX;
}

int is_formatted(const Builder *builder, int16_t tag)
{
    return find_listed(builder, tag) != SIZE_MAX;
}

/* End the listed element, whose start tag is at that place of the stack. */
static void end_listed(Builder *builder, size_t listed, size_t place)
{
    int has_block = 0;
    for (size_t i = builder->level; --i > place;) {
        const Open *open = &builder->stack[i];
        if (is_barrier(open, SCOPE_PLAIN))
            return;
        has_block |= open->space == SPACE_HTML ? tag_kinds[open->tag] & KIND_SPECIAL : open->holds_html;
    }
    if (has_block) {
        builder->gives_up = 1; /* Browsers move what is in it. */
        return;
    }
    remove_listed(builder, listed);
    while (builder->level > place)
        close_current(builder);
}

int end_formatting(Builder *builder, int16_t tag)
{
    size_t listed = find_listed(builder, tag);
    const Open *open = current(builder);
    if (current_tag(builder) == tag && (listed == SIZE_MAX || builder->formatting[listed].start != open->start)) {
        int is_listed = 0;
        for (size_t i = 0; i < builder->listed; i++)
            is_listed |= builder->formatting[i].tag != TAG_TEXT && builder->formatting[i].start == open->start;
        if (!is_listed) {
            close_current(builder);
            return 1;
        }
    }
    if (listed == SIZE_MAX)
        return 0;
    size_t place = builder->level;
    while (place-- && builder->stack[place].start != builder->formatting[listed].start)
        ;
    if (place == SIZE_MAX || builder->stack[place].tag == TAG_TEXT)
        remove_listed(builder, listed);
    else
        end_listed(builder, listed, place);
    return 1;
}
