/* `draft`: what of a page goes into its Markdown. The twin of `dehusk.render.plan.plan_of`, which says
   what that is. */

#include "draft.h"

#include <stdlib.h>

#include "gaps.h"

/* What a tag is to Markdown, by its number: the bits of `plan.PLAN_KINDS`. */
enum { IS_RULE = 1, IS_SMALL = 2, IS_TABLE_CELL = 4, IS_BREAK = 8, PARTS_BLOCKS = 16 };

typedef struct {
    Gaps gaps;
    uint8_t *content, *ink, *kept_before;
    int32_t *total;  /* Of each node, how many before it are marked; one more than nodes. */
    int32_t *blocks; /* By node: moves wherever a block or cell begins or ends. */
    int32_t *open;   /* Nodes that have not ended. */
    uint8_t present; /* What any of the tags is. */
} Room;

static uint8_t kind_of(const DraftPage *page, size_t node)
{
    return kind_in(page->kinds, page->tag[node]);
}

/* One behind the last node that is written inside each node. */
static void find_ends(const DraftPage *page, Room *room, int32_t *ends)
{
    size_t level = 0;
    for (size_t i = 0; i < page->count; i++) {
        while (level && page->close[room->open[level - 1]] <= page->start[i])
            ends[room->open[--level]] = (int32_t)i;
        room->open[level++] = (int32_t)i;
    }
    while (level)
        ends[room->open[--level]] = (int32_t)page->count;
}

/* Which texts are content: shown, more than white space, and in no permalink. What tags the page has is
   found on the way. */
static void find_content(const DraftPage *page, Room *room, const int32_t *ends)
{
    for (size_t i = 0; i < page->count; i++) {
        room->content[i] = page->tag[i] == 0 && page->text_length[i] > 0 &&
                           page->labels[i] == LABEL_CONTENT;
        room->present |= kind_of(page, i);
    }
    for (size_t i = 0, reach = 0; i < page->permalink_count; i++) {
        size_t node = (size_t)page->permalinks[i], end = (size_t)ends[node];
        for (size_t at = node > reach ? node : reach; at < end; at++)
            room->content[at] = 0;
        reach = end > reach ? end : reach;
    }
    memcpy(room->ink, room->content, page->count);
    for (size_t i = 0; i < page->image_count; i++)
        room->ink[page->images[i]] = 1;
}

static void count_marks_before(const uint8_t *marked, size_t count, int32_t *total)
{
    total[0] = 0;
    for (size_t i = 0; i < count; i++)
        total[i + 1] = total[i] + marked[i];
}

static int is_shown_content(const DraftPage *page, size_t node)
{
    return page->shown[node] && page->labels[node] == LABEL_CONTENT;
}

/* A rule parts ink from ink: one at an end, or behind another, parts nothing. */
static void mark_rules(const DraftPage *page, Room *room)
{
    int32_t all = room->total[page->count], before = 0;
    size_t last = 0;
    int is_any = 0;
    for (size_t i = 0; i < page->count; i++) {
        if (!(kind_of(page, i) & IS_RULE) || !is_shown_content(page, i))
            continue;
        if (is_any)
            room->ink[last] = before > 0 && room->total[i + 1] > before;
        before = room->total[i + 1];
        last = i;
        is_any = 1;
    }
    if (is_any)
        room->ink[last] = before > 0 && all > before;
}

/* Numbers that move at the edges of blocks and cells; `open` holds those that have not ended. */
static void number_blocks(const DraftPage *page, Room *room)
{
    size_t level = 0;
    int32_t number = 0;
    for (size_t i = 0; i < page->count; i++) {
        while (level && (size_t)page->end[room->open[level - 1]] <= i) {
            number++;
            level--;
        }
        if (kind_of(page, i) & PARTS_BLOCKS) {
            number++;
            room->open[level++] = (int32_t)i;
        }
        room->blocks[i] = number;
    }
}

/* A break is kept between ink and ink of one block. */
static void keep_breaks(const DraftPage *page, Room *room, uint8_t *kept)
{
    int32_t before = -1, behind = -1;
    size_t next = 0; /* From here on `behind` is looked for. */
    int is_numbered = 0;
    for (size_t i = 0; i < page->count; i++) {
        if (kind_of(page, i) & IS_BREAK && is_shown_content(page, i)) {
            if (!is_numbered)
                number_blocks(page, room);
            is_numbered = 1;
            for (next = next > i ? next : i; next < page->count && !room->ink[next];)
                next++;
            behind = next < page->count ? (int32_t)next : -1;
            kept[i] = before >= 0 && behind >= 0 && room->blocks[before] == room->blocks[i] &&
                      room->blocks[behind] == room->blocks[i];
        }
        if (room->ink[i])
            before = (int32_t)i;
    }
}

/* Which nodes stay; `ink` has the rules that part something, and `total` counts it. */
static void find_kept(const DraftPage *page, Room *room, const int32_t *ends, uint8_t *kept)
{
    for (size_t i = 0; i < page->count; i++) {
        int is_space = page->tag[i] == 0 && page->shown[i] && page->text_length[i] == 0;
        kept[i] = room->total[ends[i]] > room->total[i] || is_space;
    }
    for (size_t i = 0; i < page->count && room->present & IS_SMALL; i++)
        kept[i] |= kind_of(page, i) & IS_SMALL && is_shown_content(page, i);
    if (room->present & IS_TABLE_CELL) {
        memcpy(room->kept_before, kept, page->count);
        for (size_t i = 1; i < page->count; i++)
            if (kind_of(page, i) & IS_TABLE_CELL)
                kept[i] = room->kept_before[page->parent[i]];
    }
    if (page->count && kept[0] && room->present & IS_BREAK)
        keep_breaks(page, room, kept);
}

/* Does a text have spaces that may not break? */
static int has_fixed_space(const DraftPage *page, size_t node)
{
    size_t at = (size_t)page->start[node], stop = (size_t)page->stop[node];
    for (; (at = find_byte(page->source, '&', at, stop)) < stop; at++)
        if (stop - at >= 6 && memcmp(page->source.bytes + at, "&nbsp;", 6) == 0)
            return 1;
    return 0;
}

static void find_texts(const DraftPage *page, Room *room, Drafted *found)
{
    for (size_t i = 0; i < page->count; i++) {
        leave_elements(&room->gaps, i);
        if (page->tag[i] != 0) {
            enter_element(&room->gaps, page->end[i], tag_sets[page->tag[i]]);
        } else if (room->content[i]) {
            Gap gap = take_gap(&room->gaps);
            found->nodes[found->texts] = (int32_t)i;
            found->cells[found->texts] = gap.cells;
            found->is_line[found->texts] = (uint8_t)gap.is_line;
            found->is_spaced[found->texts] = (uint8_t)gap.is_spaced;
            found->is_cut[found->texts++] = (uint8_t)gap.is_cut;
            if (has_fixed_space(page, i))
                found->spaced_texts[found->spaces++] = (int32_t)i;
        } else if (page->text_length[i] == 0) {
            room->gaps.is_spaced |= page->shown[i];
        } else if (page->text_length[i] > 0 && page->labels[i] == LABEL_TEMPLATE) {
            room->gaps.is_cut = 1;
        }
    }
}

/* The nodes that are not kept and lie in no other such node. */
static void find_dropped(const DraftPage *page, Drafted *found)
{
    size_t reach = 0;
    for (size_t i = 0; i < page->count; i++)
        if (!found->kept[i]) {
            if (i >= reach)
                found->dropped[found->drops++] = (int32_t)i;
            reach = (size_t)found->ends[i] > reach ? (size_t)found->ends[i] : reach;
        }
}

static void make_draft(const DraftPage *page, Room *room, Drafted *found)
{
    find_ends(page, room, found->ends);
    find_content(page, room, found->ends);
    count_marks_before(room->ink, page->count, room->total);
    for (size_t i = 0; i < page->count; i++)
        found->inked[i] = room->total[found->ends[i]] > room->total[i];
    if (room->present & IS_RULE) {
        mark_rules(page, room);
        count_marks_before(room->ink, page->count, room->total);
    }
    find_kept(page, room, found->ends, found->kept);
    find_texts(page, room, found);
    find_dropped(page, found);
}

/* --- memory --- */

Drafted drafted_in(void *memory, size_t nodes)
{
    Drafted found = {.ends = memory};
    found.nodes = found.ends + nodes;
    found.cells = found.nodes + nodes;
    found.dropped = found.cells + nodes;
    found.spaced_texts = found.dropped + nodes;
    found.kept = (uint8_t *)(found.spaced_texts + nodes);
    found.inked = found.kept + nodes;
    found.is_line = found.inked + nodes;
    found.is_spaced = found.is_line + nodes;
    found.is_cut = found.is_spaced + nodes;
    return found;
}

int draft_page(const DraftPage *page, Drafted *found)
{
    size_t room_for = page->count + 1;
    char *scratch = malloc(room_for * (sizeof(Open) + 3 * sizeof(int32_t) + 3));
    if (!scratch) {
        PyErr_NoMemory();
        return 0;
    }
    Room room = {.gaps = {.open = (Open *)scratch}};
    room.total = (int32_t *)(room.gaps.open + room_for);
    room.blocks = room.total + room_for;
    room.open = room.blocks + room_for;
    room.content = (uint8_t *)(room.open + room_for);
    room.ink = room.content + room_for;
    room.kept_before = room.ink + room_for;
    make_draft(page, &room, found);
    free(scratch);
    return 1;
}

static PyObject *draft_of(const DraftPage *page)
{
    PyObject *draft = NULL;
    PyObject *memory = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(page->count * DRAFTED_BYTES));
    if (!memory)
        return NULL;
    Drafted found = drafted_in(PyByteArray_AsString(memory), page->count);
    if (draft_page(page, &found))
        draft = Py_BuildValue("(Onnn)", memory, (Py_ssize_t)found.texts, (Py_ssize_t)found.drops,
                              (Py_ssize_t)found.spaces);
    Py_DECREF(memory);
    return draft;
}

int is_tree(const DraftPage *page)
{
    for (size_t i = 0; i < page->count; i++)
        if (page->parent[i] >= (int32_t)i || page->parent[i] < (i ? 0 : -1) || page->start[i] < 0 ||
            page->stop[i] < page->start[i] || page->close[i] < page->stop[i] ||
            (size_t)page->close[i] > page->source.size ||
            (i && page->start[i] < page->start[i - 1])) {
            PyErr_SetString(PyExc_ValueError, "draft: a node lies outside of the tree or the source");
            return 0;
        }
    return 1;
}

#define GIVEN 14

PyObject *kernel_draft(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    static const Py_ssize_t sizes[] = {2, 4, 4, 4, 4, 4, 4, 1, 1};
    View views[GIVEN];
    if (!open_all("draft", views, GIVEN, arguments, count))
        return NULL;
    PyObject *draft = NULL;
    Py_ssize_t nodes = views[11].buffer.len;
    DraftPage page = {bytes_of(&views[0]),  views[3].buffer.buf,  views[4].buffer.buf,
                 views[5].buffer.buf,  views[6].buffer.buf,  views[7].buffer.buf,
                 views[8].buffer.buf,  views[9].buffer.buf,  views[10].buffer.buf,
                 views[11].buffer.buf, bytes_of(&views[1]),  bytes_of(&views[2]),
                 views[12].buffer.buf, views[13].buffer.buf, (size_t)views[12].buffer.len / 4,
                 (size_t)views[13].buffer.len / 4, (size_t)nodes};
    if (check_sizes("draft", views + 3, sizes, 9, nodes) && is_tree(&page) &&
        check_below("draft", page.permalinks, page.permalink_count, page.count) &&
        check_below("draft", page.images, page.image_count, page.count))
        draft = draft_of(&page);
    close_views(views, GIVEN);
    return draft;
}
