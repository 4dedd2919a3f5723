/* A page cut into blocks, and the letters of each: the twins of `dehusk.methods.auto.blocks` and
   `dehusk.methods.auto.letters`. */

#include "reading.h"

#define LONG 80

static uint8_t of_tag(const uint8_t *table, const LookTables *tables, int16_t tag)
{
    return tag >= 0 && (size_t)tag < tables->tags ? table[tag] : 0;
}

/* Which nodes come right behind an element that cuts, and what holds each node. */
static void find_cuts(const PageTree *page, const LookTables *tables, uint8_t *ended,
                      int32_t *holder)
{
    memset(ended, 0, page->count + 1);
    for (size_t i = 0; i < page->count; i++) {
        int32_t parent = page->parent[i] < 0 ? 0 : page->parent[i];
        holder[i] = i && !of_tag(tables->holds, tables, page->tag[i]) ? holder[parent] : (int32_t)i;
        if (of_tag(tables->cuts, tables, page->tag[i]))
            ended[page->end[i]] = 1;
    }
}

static void begin_block(const PageTree *page, Blocks *blocks, int32_t container)
{
    static const int is_level[FARTHEST + 1] = {0, 1, 1, 1, 1, 0, 1, 0, 1};
    size_t block = blocks->count++, at = block * LEVELS;
    int32_t node = container;
    blocks->first[block] = (int32_t)blocks->segment_count;
    blocks->container[block] = container;
    for (int level = 1; level <= FARTHEST; level++) {
        if (is_level[level])
            blocks->levels[at++] = node;
        node = page->parent[node] < 0 ? 0 : page->parent[node];
    }
    blocks->chars[block] = blocks->link_chars[block] = 0;
}

void cut_blocks(const PageTree *page, const LookTables *tables, Blocks *blocks, uint8_t *ended,
                int32_t *holder)
{
    int moved = 1;
    blocks->segment_count = blocks->count = 0;
    find_cuts(page, tables, ended, holder);
    for (size_t i = 0; i < page->count; i++) {
        blocks->before[i] = (int32_t)blocks->count;
        moved |= ended[i] | of_tag(tables->cuts, tables, page->tag[i]);
        if (page->tag[i] != 0 || !page->shown[i] || page->text_length[i] <= 0)
            continue;
        if (moved)
            begin_block(page, blocks, page->parent[i] < 0 ? 0 : holder[page->parent[i]]);
        moved = 0;
        size_t segment = blocks->segment_count++, block = blocks->count - 1;
        blocks->segments[segment] = (int32_t)i;
        blocks->owner[segment] = (int32_t)block;
        blocks->chars[block] += page->text_length[i];
        blocks->link_chars[block] += page->link_length[i];
    }
    blocks->before[page->count] = (int32_t)blocks->count;
    for (size_t i = 0; i < blocks->count * LEVELS; i++) {
        blocks->low[i] = blocks->before[blocks->levels[i]];
        blocks->high[i] = blocks->before[page->end[blocks->levels[i]]];
    }
}

/* --- letters --- */

typedef struct {
    Bytes source;
    const LookTables *tables;
    uint64_t one_of[256]; /* By byte: a one in the byte of its kind. */
} Reader;

#define MOST_AT_ONCE 255 /* Bytes that are counted before a byte of the count would run over. */

/* Count a segment's bytes by kind, all eight in one number: to count each in memory would wait for the
   byte before. Signatures add up. */
static void read_segment(const Reader *reader, size_t at, size_t stop, Letters *letters)
{
    static const char nbsp[] = "&nbsp;";
    const uint64_t *signatures = reader->tables->signatures;
    Bytes source = reader->source;
    uint64_t signature = letters->signature;
    while (at < stop) {
        size_t end = stop - at < MOST_AT_ONCE ? stop : at + MOST_AT_ONCE;
        uint64_t counts = 0;
        for (; at < end; at++) {
            uint8_t byte = source.bytes[at];
            counts += reader->one_of[byte];
            signature += signatures[byte];
            if (byte == '&' && source.size - at >= 6 && memcmp(source.bytes + at, nbsp, 6) == 0)
                for (size_t i = 0; i < 6; i++)
                    signature -= signatures[(uint8_t)nbsp[i]];
        }
        for (size_t kind = 0; kind < BYTE_KINDS; kind++)
            letters->counts[kind] += (double)(counts >> 8 * kind & 0xFF);
    }
    letters->signature = signature;
}

/* The last byte of a block that is not white space, and the two before it: the first one lowest. 0 for
   those that are not there. */
static int64_t find_last(const PageTree *page, const LookTables *tables, const int32_t *segments,
                         size_t count)
{
    int64_t code = 0;
    int found = 0;
    while (count--) {
        size_t start = (size_t)page->start[segments[count]], at = (size_t)page->stop[segments[count]];
        while (at > start) {
            uint8_t byte = page->source.bytes[--at];
            if (!found && (tables->byte_kinds[byte] & 7) == SPACE)
                continue;
            code |= (int64_t)byte << 8 * found;
            if (++found == 3)
                return code;
        }
    }
    return code;
}

static int is_end(const LookTables *tables, int64_t code)
{
    for (size_t i = 0; i < tables->end_count; i++)
        if (tables->ends[i] == code)
            return 1;
    return 0;
}

void read_letters(const PageTree *page, const LookTables *tables, Blocks *blocks)
{
    Reader reader = {.source = page->source, .tables = tables};
    for (size_t byte = 0; byte < 256; byte++)
        reader.one_of[byte] = UINT64_C(1) << 8 * (tables->byte_kinds[byte] & 7);
    for (size_t block = 0; block < blocks->count; block++) {
        size_t first = (size_t)blocks->first[block];
        size_t behind = block + 1 < blocks->count ? (size_t)blocks->first[block + 1]
                                                  : blocks->segment_count;
        Letters *letters = &blocks->letters[block];
        *letters = (Letters){0};
        for (size_t i = first; i < behind; i++) {
            size_t node = (size_t)blocks->segments[i];
            read_segment(&reader, (size_t)page->start[node], (size_t)page->stop[node], letters);
        }
        int64_t last = find_last(page, tables, blocks->segments + first, behind - first);
        letters->ends = is_end(tables, last & 0xFF) || is_end(tables, last & 0xFFFF) ||
                        is_end(tables, last);
        letters->colon = (last & 0xFF) == ':';
    }
}

void sum_blocks(Blocks *blocks)
{
    blocks->chars_sum[0] = blocks->link_sum[0] = blocks->running_sum[0] = 0;
    for (size_t i = 0; i < blocks->count; i++) {
        double chars = blocks->chars[i], linked = blocks->link_chars[i];
        blocks->running[i] = chars > LONG && linked < 0.3 * chars ? chars : 0;
        blocks->chars_sum[i + 1] = blocks->chars_sum[i] + chars;
        blocks->link_sum[i + 1] = blocks->link_sum[i] + linked;
        blocks->running_sum[i + 1] = blocks->running_sum[i] + blocks->running[i];
    }
}

/* --- what several parts need --- */

/* The exponential of a number from -30 to 30: `columns.exp`, by the same steps. */
static double exp_steps(double x)
{
    static const double series[] = {
        2.08767569878681e-09, 2.505210838544172e-08, 2.755731922398589e-07, 2.7557319223985893e-06,
        2.48015873015873e-05, 1.984126984126984e-04, 1.388888888888889e-03, 8.333333333333333e-03,
        4.1666666666666664e-02, 1.6666666666666666e-01, 0.5, 1.0, 1.0,
    };
    const double rounder = 6755399441055744.0; /* 1.5 * 2**52: added and taken away, it rounds. */
    double whole = (x * 1.4426950408889634 + rounder) - rounder, power;
    double rest = (x - whole * 0.6931471803691238) - whole * 1.9082149292705877e-10;
    double sum = 1.6059043836821613e-10;
    for (size_t i = 0; i < sizeof(series) / sizeof(*series); i++)
        sum = sum * rest + series[i];
    uint64_t bits = (uint64_t)(1023 + (int64_t)whole) << 52;
    memcpy(&power, &bits, sizeof(power));
    return sum * power;
}

double probability_of(double logit)
{
    logit = logit > -30 ? logit : -30;
    logit = logit < 30 ? logit : 30;
    return 1 / (1 + exp_steps(-logit));
}

static int is_before(const Keyed *one, const Keyed *other)
{
    return one->key != other->key ? one->key < other->key : one->place < other->place;
}

/* Sort few items that are nearly in order. */
static void insert_sorted(Keyed *items, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        Keyed item = items[i];
        size_t at = i;
        for (; at && is_before(&item, &items[at - 1]); at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

#define RUN 12 /* Items that are sorted by inserting. */

/* Merge sort, from the bottom up: nobody can make it slow. */
static void merge_sorted(Keyed *items, Keyed *spare, size_t count)
{
    Keyed *from = items, *to = spare;
    for (size_t start = 0; start < count; start += RUN)
        insert_sorted(items + start, count - start < RUN ? count - start : RUN);
    for (size_t width = RUN; width < count; width *= 2) {
        for (size_t start = 0; start < count; start += 2 * width) {
            size_t middle = start + width < count ? start + width : count;
            size_t stop = start + 2 * width < count ? start + 2 * width : count;
            size_t left = start, right = middle;
            for (size_t i = start; i < stop; i++)
                to[i] = right >= stop || (left < middle && !is_before(&from[right], &from[left]))
                            ? from[left++]
                            : from[right++];
        }
        Keyed *done = to;
        to = from;
        from = done;
    }
    if (from != items)
        memcpy(items, from, count * sizeof(Keyed));
}

#define BUCKET_BITS 8

/* Hashes are spread evenly: sorted by their top bits first, few are left to be sorted together. */
void sort_keyed(Keyed *items, Keyed *spare, size_t count)
{
    size_t starts[(1 << BUCKET_BITS) + 1] = {0};
    if (count <= 4 * RUN) {
        merge_sorted(items, spare, count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        starts[(items[i].key >> (64 - BUCKET_BITS)) + 1]++;
    for (size_t i = 1; i <= 1 << BUCKET_BITS; i++)
        starts[i] += starts[i - 1];
    memcpy(spare, items, count * sizeof(Keyed));
    for (size_t i = 0; i < count; i++)
        items[starts[spare[i].key >> (64 - BUCKET_BITS)]++] = spare[i];
    for (size_t i = 0, start = 0; i < 1 << BUCKET_BITS; start = starts[i++])
        merge_sorted(items + start, spare, starts[i] - start);
}
