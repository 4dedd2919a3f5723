/* The letters of each block, of all scripts. */

#include "reading.h"

#include "escapes.h"

/* What a kind says beside its place among the counts. */
enum {
    KIND = 7,
    IS_UNSPACED = 8,
    IS_WIDE = 16,
    IS_CAPITAL = 32,
    IS_SMALL = 64,
    FOREIGN_UPPER = FOREIGN | IS_CAPITAL,
    FOREIGN_LOWER = FOREIGN | IS_SMALL,
    UNSPACED = FOREIGN | IS_UNSPACED,
    WIDE = FOREIGN | IS_WIDE,
    WIDE_UNSPACED = WIDE | IS_UNSPACED,
};

static const struct {
    uint32_t first, last;
    uint8_t kind, next; /* Of the first character, and of the one behind it. */
} ranges[] = {
#define CHARACTERS(first, last, kind) {first, last, kind, kind},
#define IN_TURN(first, last, kind, next) {first, last, kind, next},
#include "letters.def"
};

#define RANGES (sizeof(ranges) / sizeof(*ranges))
#define TABLED 0x3400  /* Characters before it are looked up; behind it are long ranges. */
#define FIRST_HAN 0x4E00
#define LAST_HAN 0x9FFF
#define WORD_CHARS 6 /* Characters of a word, and the space behind it. */

/* The same for all pages. By byte: its kind, a one in the byte of that, and what it adds to a signature. By
   number: the kinds of characters. */
static uint8_t kinds_of_bytes[256], table[TABLED];
static uint64_t one_of[256], signatures[256];

typedef struct {
    Bytes source;
    int has_tally;
    uint32_t tally[IS_SMALL * 2]; /* By kind, how many characters of a block are behind ASCII. */
} Reader;

static uint8_t kind_of_byte(uint8_t byte)
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

static void fill_letters(void)
{
    for (size_t byte = 0; byte < 256; byte++) {
        uint8_t kind = kinds_of_bytes[byte] = kind_of_byte((uint8_t)byte);
        /* Texts of the same letters and digits have one signature, however spaced and marked up. */
        int is_signed = kind == LOWER || kind == UPPER || kind == DIGIT || kind == FOREIGN;
        one_of[byte] = UINT64_C(1) << 8 * kind;
        signatures[byte] = is_signed ? mix(byte + 1) : 0;
    }
    memset(table, SIGN, TABLED);
    for (size_t i = 0; i < RANGES && ranges[i].first < TABLED; i++)
        for (uint32_t code = ranges[i].first; code <= ranges[i].last && code < TABLED; code++)
            table[code] = (code - ranges[i].first) % 2 ? ranges[i].next : ranges[i].kind;
}

void prepare_letters(void)
{
#ifdef Py_GIL_DISABLED
    static PyMutex filling; /* Two interpreters of the process may begin at a time. */
    PyMutex_Lock(&filling);
#endif
    if (!one_of[0]) /* Else another interpreter of the process has: a thread may be reading. */
        fill_letters();
#ifdef Py_GIL_DISABLED
    PyMutex_Unlock(&filling);
#endif
}

/* The kind of a character behind ASCII. */
static uint8_t kind_of(uint32_t code)
{
    if (code >= FIRST_HAN && code <= LAST_HAN)
        return WIDE_UNSPACED;
    if (code < TABLED)
        return table[code];
    for (size_t i = RANGES; i-- && ranges[i].last >= TABLED;)
        if (code >= ranges[i].first)
            return code <= ranges[i].last ? ranges[i].kind : SIGN;
    return SIGN;
}

/* The character behind ASCII that begins at a place, which moves behind it. */
static uint32_t next_code(Bytes source, size_t *at, size_t stop)
{
    uint8_t lead = source.bytes[(*at)++];
    int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    uint32_t code = lead & (0x3Fu >> more);
    for (; more && *at < stop && source.bytes[*at] >> 6 == 2; more--)
        code = code << 6 | (source.bytes[(*at)++] & 0x3Fu);
    return code;
}

/* Count the characters behind ASCII by what their kinds say. How many of them are wide. */
static uint32_t read_behind_ascii(Reader *reader, size_t at, size_t stop)
{
    Bytes source = reader->source;
    uint32_t wide = 0;
    while (at < stop) {
        if (stop - at >= WORD && !(load_word(source.bytes + at) & TOP_BITS)) {
            at += WORD;
        } else if (source.bytes[at] < 0x80) {
            at++;
        } else {
            uint8_t kind = kind_of(next_code(source, &at, stop));
            reader->tally[kind]++;
            wide += kind / IS_WIDE & 1;
        }
    }
    return wide;
}

/* Add what was counted of a block, a wide character as two, to its letters; from here on nothing is counted. */
static void take_tally(Reader *reader, Letters *letters)
{
    static const uint8_t kinds[] = {LOWER,   UPPER,         DIGIT,         COMMA,    STOP, SPACE,
                                    FOREIGN, FOREIGN_UPPER, FOREIGN_LOWER, UNSPACED, WIDE, WIDE_UNSPACED,
                                    SIGN};
    uint32_t unspaced = 0;
    for (size_t i = 0; i < sizeof(kinds); i++) {
        uint8_t kind = kinds[i];
        uint32_t count = reader->tally[kind] * (kind & IS_WIDE ? 2 : 1);
        letters->counts[kind & KIND] += count;
        letters->capitals += kind & IS_CAPITAL ? count : 0;
        letters->small += kind & IS_SMALL ? count : 0;
        unspaced += kind & IS_UNSPACED ? count : 0;
        reader->tally[kind] = 0;
    }
    letters->counts[SPACE] += unspaced / WORD_CHARS;
}

#define MOST_AT_ONCE 255 /* Bytes that are counted before a byte of the count would run over. */

/* Count a segment's characters by kind, all eight in one number: to count each in memory would wait for the
   byte before. Signatures add up; escapes have none. How many characters are wide. */
static uint32_t read_segment(Reader *reader, size_t first, size_t stop, Letters *letters)
{
    Bytes source = reader->source;
    uint64_t signature = letters->signature, foreign = 0;
    for (size_t at = first; at < stop;) {
        size_t end = stop - at < MOST_AT_ONCE ? stop : at + MOST_AT_ONCE;
        uint64_t counts = 0;
        for (; at < end; at++) {
            uint8_t byte = source.bytes[at];
            if (byte == '&') {
                size_t length;
                uint8_t means = unescaped(source.bytes + at, stop - at, &length);
                counts += one_of[means == NO_BREAK_SPACE ? ' ' : '&'];
                at += length - 1;
                continue;
            }
            counts += one_of[byte];
            signature += signatures[byte];
        }
        for (size_t kind = 0; kind < CHARACTER_KINDS; kind++)
            letters->counts[kind] += (double)(counts >> 8 * kind & 0xFF);
        foreign += counts >> 8 * FOREIGN & 0xFF;
    }
    letters->signature = signature;
    letters->counts[FOREIGN] -= (double)foreign; /* So far these are bytes. */
    reader->has_tally |= foreign > 0;
    return foreign ? read_behind_ascii(reader, first, stop) : 0;
}

/* --- ends --- */

static int is_quote(uint32_t code)
{
    return code == '"' || code == '\'' || code == 0xAB || code == 0xBB || (code >= 0x2018 && code <= 0x201F) ||
           code == 0x2039 || code == 0x203A || (code >= 0x300C && code <= 0x300F) || code == 0xFF02;
}

/* The last character before a place, which moves to its front; no-break spaces are passed over. */
static uint32_t last_code(Bytes source, size_t start, size_t *at)
{
    static const char nbsp[] = "&nbsp;";
    while (*at - start >= 6 && memcmp(source.bytes + *at - 6, nbsp, 6) == 0)
        *at -= 6;
    if (*at == start)
        return ' ';
    size_t stop = (*at)--;
    while (*at > start && stop - *at < 4 && source.bytes[*at] >> 6 == 2)
        --*at;
    size_t from = *at;
    return source.bytes[from] < 0x80 ? source.bytes[from] : next_code(source, &from, stop);
}

/* Does the block end like a sentence, or with a colon? White space is passed over, and quotes. */
static void read_end(const Tree *tree, const int32_t *segments, size_t count, Letters *letters)
{
    while (count--) {
        size_t start = (size_t)tree->start[segments[count]], at = (size_t)tree->stop[segments[count]];
        while (at > start) {
            uint32_t code = last_code(tree->source, start, &at);
            uint8_t kind = code < 0x80 ? kinds_of_bytes[code] : kind_of(code);
            if (kind == SPACE || is_quote(code))
                continue;
            letters->ends = kind == STOP;
            letters->colon = code == ':' || code == 0xFF1A;
            return;
        }
    }
}

void read_letters(const Reading *reading, Letters *letters)
{
    const Tree *tree = reading->tree;
    Reader reader = {tree->source, 0, {0}};
    for (size_t block = 0; block < reading->blocks; block++, letters++) {
        size_t first = (size_t)reading->first[block];
        size_t behind = block + 1 < reading->blocks ? (size_t)reading->first[block + 1]
                                                    : reading->segment_count;
        *letters = (Letters){0};
        for (size_t i = first; i < behind; i++) {
            size_t node = (size_t)reading->segments[i];
            uint32_t wide = read_segment(&reader, (size_t)tree->start[node], (size_t)tree->stop[node], letters);
            reading->lengths[i] += wide;
            reading->chars[block] += wide;
            reading->link_chars[block] += tree->link_length[node] ? wide : 0;
        }
        read_end(tree, reading->segments + first, behind - first, letters);
        if (reader.has_tally)
            take_tally(&reader, letters);
        reader.has_tally = 0;
    }
}
