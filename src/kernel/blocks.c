/* A page cut into blocks, runs of text that no block tag interrupts, and the letters of each. */

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

/* --- letters --- */

/* By byte: its kind, a one in the byte of that, and what it adds to a signature. */
typedef struct {
    Bytes source;
    uint8_t kinds[256];
    uint64_t one_of[256], signatures[256];
} Reader;

static uint8_t kind_of(uint8_t byte)
{
    if (byte < 33)
        return SPACE;
    if (byte >= 128)
        return FOREIGN;
    if (byte >= 'a' && byte <= 'z')
        return LOWER;
    if (byte >= 'A' && byte <= 'Z')
        return UPPER;
    if (byte >= '0' && byte <= '9')
        return DIGIT;
    return strchr(".!?", byte) ? STOP : strchr(",;:()\"'", byte) ? COMMA : SIGN;
}

/* Texts of the same letters and digits have one signature, however spaced and marked up. */
static void make_reader(Reader *reader, Bytes source)
{
    reader->source = source;
    for (size_t byte = 0; byte < 256; byte++) {
        uint8_t kind = reader->kinds[byte] = kind_of((uint8_t)byte);
        int is_signed = kind == LOWER || kind == UPPER || kind == DIGIT || kind == FOREIGN;
        reader->one_of[byte] = UINT64_C(1) << 8 * kind;
        reader->signatures[byte] = is_signed ? mix(byte + 1) : 0;
    }
}

#define MOST_AT_ONCE 255 /* Bytes that are counted before a byte of the count would run over. */

/* Count a segment's bytes by kind, all eight in one number: to count each in memory would wait for the
   byte before. Signatures add up; a no-break space, as the parser writes it, has none. */
static void read_segment(const Reader *reader, size_t at, size_t stop, Letters *letters)
{
    static const char nbsp[] = "&nbsp;";
    const uint64_t *signatures = reader->signatures;
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

/* The last byte of a block that is not white space, and the two before it, the first of them highest; 0 for
   those that are not there. */
static uint32_t find_last(const Reader *reader, const Tree *tree, const int32_t *segments, size_t count)
{
    uint32_t code = 0;
    int found = 0;
    while (count--) {
        size_t start = (size_t)tree->start[segments[count]], at = (size_t)tree->stop[segments[count]];
        while (at > start) {
            uint8_t byte = tree->source.bytes[--at];
            if (!found && reader->kinds[byte] == SPACE)
                continue;
            code |= (uint32_t)byte << 8 * found;
            if (++found == 3)
                return code;
        }
    }
    return code;
}

/* Are these bytes the end of a sentence? '.', '!', '?', and in UTF-8 those of other scripts. */
static int is_end(uint32_t code)
{
    static const uint32_t ends[] = {'.',      '!',      '?',      0xD89F,  0xE38082,
                                    0xEFBC81, 0xEFBC9F, 0xE280A6, 0xE0A5A4};
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
        if (ends[i] == code)
            return 1;
    return 0;
}

void read_letters(const Reading *reading, Letters *letters)
{
    const Tree *tree = reading->tree;
    Reader reader;
    make_reader(&reader, tree->source);
    for (size_t block = 0; block < reading->blocks; block++, letters++) {
        size_t first = (size_t)reading->first[block];
        size_t behind = block + 1 < reading->blocks ? (size_t)reading->first[block + 1]
                                                    : reading->segment_count;
        *letters = (Letters){0};
        for (size_t i = first; i < behind; i++) {
            size_t node = (size_t)reading->segments[i];
            read_segment(&reader, (size_t)tree->start[node], (size_t)tree->stop[node], letters);
        }
        uint32_t last = find_last(&reader, tree, reading->segments + first, behind - first);
        letters->ends = is_end(last & 0xFF) || is_end(last & 0xFFFF) || is_end(last);
        letters->colon = (last & 0xFF) == ':';
    }
}

/* --- numbers --- */

/* The exponential of a number from -30 to 30, to fifteen digits. */
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
