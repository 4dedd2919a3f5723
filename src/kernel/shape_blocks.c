/* The blocks and the running text of a sheet, made into what the Markdown writer knows: the twin of
   `dehusk.render.blocks`, which says why, and of what goes with it in `as_markdown` and `draft`. */

#include "sheet.h"

#include "white.h"

/* --- texts --- */

/* Is the character at a place, of so many bytes, a letter or a digit? -1 with an exception set. */
static int is_alnum(Sheet *sheet, const uint8_t *at, size_t size)
{
    uint8_t letter = lower(*at);
    if (letter < 0x80)
        return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');
    return says_yes(sheet->is_word, (Bytes){at, size});
}

/* Do two texts run together into one word? -1 with an exception set. An escape stands for no letter,
   and neither its first character nor its last is one. */
static int run_together(Sheet *sheet, size_t before, size_t behind)
{
    const DraftPage *page = &sheet->page;
    const uint8_t *bytes = page->source.bytes;
    size_t first = (size_t)page->start[before], last = (size_t)page->stop[before];
    size_t at = (size_t)page->start[behind], stop = (size_t)page->stop[behind], end = at + 1;
    if (last == first || stop == at)
        return 0;
    size_t begin = last - 1;
    while (begin > first && (bytes[begin] & 0xC0) == 0x80)
        begin--;
    while (end < stop && (bytes[end] & 0xC0) == 0x80)
        end++;
    int answer = is_alnum(sheet, bytes + begin, last - begin);
    return answer > 0 ? is_alnum(sheet, bytes + at, end - at) : answer;
}

int mend_texts(Sheet *sheet)
{
    const Drafted *found = &sheet->found;
    for (size_t i = 1; i < found->texts; i++) {
        if (!found->is_cut[i] || found->is_spaced[i] || found->is_line[i] || found->cells[i])
            continue;
        int answer = run_together(sheet, (size_t)found->nodes[i - 1], (size_t)found->nodes[i]);
        if (answer < 0)
            return 0;
        if (answer)
            sheet->items[found->nodes[i]].flags |= SPACE_BEFORE;
    }
    for (size_t i = 0; i < found->spaces; i++) {
        sheet->items[found->spaced_texts[i]].flags |= FREE_SPACES;
        sheet->is_refused |= sheet->raw[found->spaced_texts[i]];
    }
    return 1;
}

/* --- names, and numbers of lists --- */

int shape_blocks(Sheet *sheet)
{
    int is_new_list = 0; /* No item has come since the last ordered list began. */
    for (size_t place = 0; place < sheet->element_count; place++) {
        size_t i = (size_t)sheet->elements[place];
        uint32_t kind = kind_of(sheet, i);
        if (kind & IS_INLINE && sheet->held[i] & HOLDS_BLOCK)
            rename_item(sheet, i, NAME_DIV);
        if (kind & IS_ITEM) {
            if (is_new_list && kind_of(sheet, (size_t)sheet->page.parent[i]) & IS_ORDERED)
                sheet->items[i].flags |= FIRST_ITEM;
        }
        if (kind & (IS_ITEM | IS_TERM | IS_DEFINITION)) /* All of them become items. */
            is_new_list = 0;
        is_new_list |= (kind & IS_ORDERED) != 0;
    }
    return 1;
}

/* --- paragraphs --- */

int part_paragraphs(Sheet *sheet)
{
    const DraftPage *page = &sheet->page;
    int32_t before = -1, inks = 0, inks_before = 0;
    int follows = 0;
    for (size_t i = 0; i < page->count && sheet->present & IS_BREAK; i++) {
        uint32_t kind = kept_kind(sheet, i);
        inks += sheet->found.kept[i] && !(page->tag[i] == 0 && page->text_length[i] == 0);
        if (!(kind & IS_BREAK) || sheet->in_data[i] || sheet->in_fixed[i])
            continue;
        int did_follow = follows;
        follows = before >= 0 && inks == inks_before + 1 && page->parent[i] == page->parent[before];
        if (follows) {
            detach(sheet, (int32_t)i);
            if (!did_follow)
                rename_item(sheet, (size_t)before, NAME_DIV);
        }
        before = (int32_t)i;
        inks_before = inks;
    }
    return 1;
}

/* --- definitions --- */

enum { NO_LIST = -2, NO_TERM = -1 };

/* Put a definition below its term. */
static int add_definition(Sheet *sheet, size_t node, int32_t term, int has_block)
{
    rename_item(sheet, node, has_block ? NAME_DIV : NAME_SPAN);
    if (!has_block) {
        int32_t line = new_element(sheet, NAME_BR);
        if (line < 0)
            return 0;
        attach(sheet, line, term, -1);
    }
    detach(sheet, (int32_t)node);
    attach(sheet, (int32_t)node, term, -1);
    return 1;
}

/* The list that a term or definition belongs to; -1 for none. Groups of a term and its definitions may
   stand in an element of their own. */
static int32_t list_of(const Sheet *sheet, size_t node, const int32_t *terms)
{
    int32_t owner = sheet->page.parent[node];
    if (owner >= 0 && terms[owner] == NO_LIST)
        owner = sheet->page.parent[owner];
    return owner >= 0 && terms[owner] != NO_LIST ? owner : -1;
}

int shape_definitions(Sheet *sheet)
{
    size_t count = sheet->page.count;
    int32_t *terms = sheet->numbers, *blocks = terms + count; /* Blocks before each node. */
    for (size_t i = 0, passed = 0; i < count && sheet->present & IS_DEFINITIONS; i++) {
        uint32_t kind = kept_kind(sheet, i);
        int is_list = kind & IS_DEFINITIONS && sheet->items[i].name == sheet->page.tag[i];
        terms[i] = is_list ? NO_TERM : NO_LIST;
        if (is_list)
            rename_item(sheet, i, NAME_UL);
        blocks[i] = (int32_t)passed;
        passed += (kind & IS_BLOCK) != 0;
        blocks[i + 1] = (int32_t)passed;
    }
    for (size_t place = 0; place < sheet->element_count && sheet->present & IS_DEFINITIONS; place++) {
        size_t i = (size_t)sheet->elements[place];
        uint32_t kind = kind_of(sheet, i);
        int32_t list = kind & (IS_TERM | IS_DEFINITION) ? list_of(sheet, i, terms) : -1;
        if (list < 0)
            continue;
        if (terms[list] == NO_TERM || kind & IS_TERM) {
            rename_item(sheet, i, NAME_LI);
            terms[list] = (int32_t)i;
        } else if (!add_definition(sheet, i, terms[list],
                                   blocks[sheet->page.end[i]] > blocks[i + 1])) {
            return 0;
        }
    }
    return 1;
}

/* --- exponents --- */

int mark_exponents(Sheet *sheet)
{
    for (size_t place = 0; place < sheet->element_count && sheet->present & IS_POWER; place++) {
        size_t i = (size_t)sheet->elements[place];
        if (!(kind_of(sheet, i) & IS_POWER))
            continue;
        int32_t only = sheet->items[i].first;
        if (only < 0 || sheet->items[only].next >= 0 || (size_t)only >= sheet->page.count ||
            sheet->page.tag[only] != 0)
            continue;
        int answer = says_yes(sheet->is_power, text_of(sheet, (size_t)only));
        if (answer < 0)
            return 0;
        if (answer) {
            int32_t sign = new_text(sheet, "^");
            if (sign < 0)
                return 0;
            insert_before(sheet, sign, only);
        }
    }
    return 1;
}

/* --- emphasis --- */

/* Make plain those of a kind that stand in another one, or in a holder; two that touch become one. */
static void flatten(Sheet *sheet, uint32_t marked, uint32_t holders)
{
    const DraftPage *page = &sheet->page;
    size_t reach = 0, before = 0;
    int is_any = 0; /* There is one before, and it is marked. */
    for (size_t place = 0; place < sheet->element_count && sheet->present & marked; place++) {
        size_t i = (size_t)sheet->elements[place];
        uint32_t kind = kind_of(sheet, i) & (marked | holders);
        if (!kind)
            continue;
        if (i < reach) {
            if (kind & marked)
                rename_item(sheet, i, NAME_SPAN);
            continue;
        }
        int touches = is_any && kind & marked && i == reach;
        reach = (size_t)page->end[i];
        if (touches && page->parent[i] == page->parent[before]) {
            move_children(sheet, (int32_t)i, (int32_t)before);
            detach(sheet, (int32_t)i);
        } else {
            before = i;
            is_any = (kind & marked) != 0;
        }
    }
}

int flatten_emphasis(Sheet *sheet)
{
    flatten(sheet, IS_EMPHASIS, 0);
    flatten(sheet, IS_STRUCK, 0);
    flatten(sheet, IS_STRONG, IS_HEADING);
    return 1;
}
