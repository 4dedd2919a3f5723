/* A page cut into blocks, runs of text that no block tag interrupts. */

#include "reading.h"

#include "tags.h"

#define LONG 80 /* Characters above which a block that is no link is running text. */

static int is_holder(int16_t tag)
{
    return (tag_sets[tag] & (SET_BLOCK | SET_CELL)) != 0;
}

static int is_cut(int16_t tag)
{
    return is_holder(tag) || tag == TAG_br;
}

static int is_segment(const Tree *tree, size_t node)
{
    return tree->tag[node] == TAG_TEXT && tree->shown[node] && tree->text_length[node] > 0;
}

void find_cuts(const Tree *tree, uint8_t *is_begun, int32_t *holder, size_t *counts)
{
    memset(is_begun, 0, tree->count + 1);
    counts[0] = counts[1] = 0;
    int is_new = 1;
    for (size_t i = 0; i < tree->count; i++) {
        int cuts = is_cut(tree->tag[i]);
        holder[i] = i && !is_holder(tree->tag[i]) ? holder[parent_of(tree, (int32_t)i)] : (int32_t)i;
        if (cuts)
            is_begun[tree->end[i]] = 1;
        is_begun[i] |= (uint8_t)cuts;
        is_new |= is_begun[i];
        if (!is_segment(tree, i))
            continue;
        counts[0] += (size_t)is_new;
        counts[1]++;
        is_new = 0;
    }
}

static void begin_block(Reading *reading, size_t block, size_t segment, int32_t container)
{
    static const int is_level[FARTHEST + 1] = {0, 1, 1, 1, 1, 0, 1, 0, 1};
    size_t at = block * LEVELS;
    int32_t node = container;
    reading->first[block] = (int32_t)segment;
    reading->container[block] = container;
    for (int level = 1; level <= FARTHEST; level++, node = parent_of(reading->tree, node))
        if (is_level[level])
            reading->levels[at++] = node;
    reading->chars[block] = reading->link_chars[block] = 0;
}

void cut_blocks(Reading *reading, const uint8_t *is_begun, const int32_t *holder, int32_t *before)
{
    const Tree *tree = reading->tree;
    size_t blocks = 0, segment = 0;
    int is_new = 1;
    for (size_t i = 0; i < tree->count; i++) {
        before[i] = (int32_t)blocks;
        is_new |= is_begun[i];
        if (!is_segment(tree, i))
            continue;
        if (is_new)
            begin_block(reading, blocks++, segment, holder[parent_of(tree, (int32_t)i)]);
        is_new = 0;
        reading->segments[segment] = (int32_t)i;
        reading->owners[segment] = (int32_t)blocks - 1;
        reading->lengths[segment++] = tree->text_length[i];
        reading->chars[blocks - 1] += tree->text_length[i];
        reading->link_chars[blocks - 1] += tree->link_length[i];
    }
    before[tree->count] = (int32_t)blocks;
    for (size_t i = 0; i < blocks * LEVELS; i++) {
        reading->low[i] = before[reading->levels[i]];
        reading->high[i] = before[tree->end[reading->levels[i]]];
    }
}

void sum_blocks(const Reading *reading, Sums *sums)
{
    sums->chars[0] = sums->link_chars[0] = sums->running_chars[0] = 0;
    for (size_t i = 0; i < reading->blocks; i++) {
        double chars = reading->chars[i], linked = reading->link_chars[i];
        sums->running[i] = chars > LONG && linked < 0.3 * chars ? chars : 0;
        sums->chars[i + 1] = sums->chars[i] + chars;
        sums->link_chars[i + 1] = sums->link_chars[i] + linked;
        sums->running_chars[i + 1] = sums->running_chars[i] + sums->running[i];
    }
}

double rank_blocks(const Reading *reading, const double *content, Keyed *items, Keyed *spare, double *likelier)
{
    double total = 0;
    for (size_t i = 0; i < reading->blocks; i++) {
        uint64_t bits;
        memcpy(&bits, &content[i], sizeof(bits));
        items[i] = (Keyed){~bits, (int32_t)i}; /* Numbers above 0 are in the order of bits. */
    }
    sort_keyed(items, spare, reading->blocks);
    for (size_t i = 0; i < reading->blocks; i++) {
        size_t block = (size_t)items[i].place;
        double expected = reading->chars[block] * content[block];
        total += expected;
        likelier[block] = total - expected;
    }
    return total;
}

/* --- numbers --- */

double exp_steps(double x)
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
