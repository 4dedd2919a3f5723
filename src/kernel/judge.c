/* `threshold`, `spread` and `in_title`: small loops of the method `auto`, over blocks and nodes. The
   twins are `judge.best_threshold`, `_spread` and `looks.in_title` there. */

#include "kernel.h"

#include <stdlib.h>

#include "reading.h"

/* --- threshold --- */

#define TRUTHS 20 /* How many degrees of strictness are weighed. */

/* Of each degree, how many characters are content then; probabilities in falling order. */
static void find_truths(const double *likely, const double *kept, size_t count, double *truths)
{
    size_t at = count;
    for (size_t i = 0; i < TRUTHS; i++) {
        double strictness = ((double)i + 0.5) / TRUTHS;
        while (at && likely[at - 1] < strictness)
            at--;
        truths[i] = at ? kept[at - 1] : 0;
    }
}

static double best_of(const double *likely, const double *kept, size_t count)
{
    double truths[TRUTHS], best = likely[0], highest = -1;
    find_truths(likely, kept, count, truths);
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (size_t j = 0; j < TRUTHS; j++) {
            double common = kept[i] < truths[j] ? kept[i] : truths[j];
            sum += 2 * common / (kept[i] + truths[j]);
        }
        if (sum > highest) {
            highest = sum;
            best = likely[i];
        }
    }
    return best;
}

static PyObject *threshold_of(const double *probabilities, const double *chars, size_t count)
{
    Keyed *items = malloc(count * sizeof(Keyed)), *spare = malloc(count * sizeof(Keyed));
    double *likely = malloc(count * sizeof(double)), *kept = malloc(count * sizeof(double));
    PyObject *found = NULL;
    if (items && spare && likely && kept) {
        double sum = 0;
        for (size_t i = 0; i < count; i++) {
            uint64_t bits;
            memcpy(&bits, &probabilities[i], sizeof(bits));
            items[i] = (Keyed){~bits, (int32_t)i}; /* Numbers above 0 are in the order of bits. */
        }
        sort_keyed(items, spare, count);
        for (size_t i = 0; i < count; i++) {
            likely[i] = probabilities[items[i].place];
            kept[i] = sum += chars[items[i].place];
        }
        found = Py_BuildValue("(dd)", best_of(likely, kept, count), likely[0]);
    } else {
        PyErr_NoMemory();
    }
    free(items);
    free(spare);
    free(likely);
    free(kept);
    return found;
}

PyObject *kernel_threshold(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    static const Py_ssize_t sizes[] = {8, 8};
    View views[2];
    if (!check_count("threshold", count, 2) || !open_views(views, arguments, 2, 0))
        return NULL;
    Py_ssize_t blocks = views[0].buffer.len / 8;
    PyObject *found = NULL;
    if (blocks < 1)
        PyErr_SetString(PyExc_ValueError, "threshold: there are no blocks");
    else if (check_sizes("threshold", views, sizes, 2, blocks))
        found = threshold_of(views[0].buffer.buf, views[1].buffer.buf, (size_t)blocks);
    close_views(views, 2);
    return found;
}

/* --- spread --- */

typedef struct {
    const double *blocks, *lengths;
    const int32_t *segments, *owner, *end;
    const uint8_t *shown;
    size_t block_count, segment_count, count;
} Spread;

static void spread(const Spread *given, double *sums, double *lengths, double *means)
{
    size_t next = 0;
    sums[0] = lengths[0] = 0;
    for (size_t i = 0; i < given->count; i++) {
        double score = 0, length = 0;
        if (next < given->segment_count && (size_t)given->segments[next] == i) {
            double own = given->blocks[given->owner[next]];
            if (own == own) {
                score = own * given->lengths[next];
                length = given->lengths[next];
            }
            next++;
        }
        sums[i + 1] = sums[i] + score;
        lengths[i + 1] = lengths[i] + length;
    }
    for (size_t i = 0; i < given->count; i++) {
        double length = lengths[given->end[i]] - lengths[i];
        double mean = (sums[given->end[i]] - sums[i]) / length;
        mean = mean < 0 ? 0 : mean > 1 ? 1 : mean;
        means[i] = given->shown[i] && length > 0.5 ? mean : Py_NAN;
    }
    for (size_t i = 0; i < given->segment_count; i++)
        means[given->segments[i]] = given->blocks[given->owner[i]];
}

static PyObject *spread_of(const Spread *given)
{
    PyObject *memory = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(8 * given->count));
    double *sums = malloc((given->count + 1) * 2 * sizeof(double));
    if (memory && sums) {
        spread(given, sums, sums + given->count + 1, (double *)PyByteArray_AsString(memory));
    } else {
        Py_XDECREF(memory);
        memory = PyErr_NoMemory();
    }
    free(sums);
    return memory;
}

PyObject *kernel_spread(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    static const Py_ssize_t of_segment[] = {8, 4, 4}, of_node[] = {4, 1};
    View views[6];
    if (!check_count("spread", count, 6) || !open_views(views, arguments, 6, 0))
        return NULL;
    PyObject *memory = NULL;
    Py_ssize_t segments = views[1].buffer.len / 8, nodes = views[5].buffer.len;
    if (check_sizes("spread", views + 1, of_segment, 3, segments) &&
        check_sizes("spread", views + 4, of_node, 2, nodes)) {
        Spread given = {views[0].buffer.buf, views[1].buffer.buf, views[2].buffer.buf,
                        views[3].buffer.buf, views[4].buffer.buf, views[5].buffer.buf,
                        (size_t)views[0].buffer.len / 8, (size_t)segments, (size_t)nodes};
        if (check_below("spread", given.segments, given.segment_count, given.count) &&
            check_below("spread", given.owner, given.segment_count, given.block_count) &&
            check_below("spread", given.end, given.count, given.count + 1))
            memory = spread_of(&given);
    }
    close_views(views, 6);
    return memory;
}

/* --- title --- */

#define MAX_TEXT 1000 /* A title is not looked at further either. */
enum { NOT_IN_TITLE, IN_TITLE, NOT_PLAIN };

static int is_gap(uint8_t byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r') || (byte >= 0x1C && byte <= 0x1F);
}

/* A text in lower case, white space as one space and none at its ends; how long it is, SIZE_MAX if
   it has other than plain letters, and one more than there is room for if it is longer. */
static size_t read_plain(Bytes source, size_t at, size_t stop, uint8_t *text)
{
    size_t size = 0;
    int has_gap = 0;
    for (; at < stop && size <= MAX_TEXT; at++) {
        uint8_t byte = source.bytes[at];
        if (is_gap(byte)) {
            has_gap = size > 0;
            continue;
        }
        if (byte >= 0x80 || byte < ' ' || byte == '&')
            return SIZE_MAX;
        if (has_gap)
            text[size++] = ' ';
        has_gap = 0;
        text[size++] = lower(byte);
    }
    return size;
}

/* Is the text in the title? (Knuth, Morris and Pratt: in one pass, whatever both are.) */
static int is_inside(Bytes title, const uint8_t *text, size_t size)
{
    size_t falls[MAX_TEXT + 2], known = 0;
    falls[0] = 0;
    for (size_t i = 1; i < size; i++) {
        while (known && text[i] != text[known])
            known = falls[known - 1];
        known += text[i] == text[known];
        falls[i] = known;
    }
    known = 0;
    for (size_t i = 0; i < title.size; i++) {
        while (known && title.bytes[i] != text[known])
            known = falls[known - 1];
        known += title.bytes[i] == text[known];
        if (known == size)
            return 1;
    }
    return 0;
}

#define MIN_TEXT 8
#define PAIRS (1 << 16)

/* Is a text of `MIN_TEXT` letters or more in the title? `pairs` are the two letters that follow
   each other there. */
static int find_in_title(Bytes title, const uint8_t *pairs, Bytes source, size_t at, size_t stop)
{
    uint8_t text[MAX_TEXT + 2];
    size_t size = read_plain(source, at, stop, text);
    if (size == SIZE_MAX)
        return NOT_PLAIN;
    if (size < MIN_TEXT || size > title.size || size > MAX_TEXT)
        return NOT_IN_TITLE;
    for (size_t i = 0; i < MIN_TEXT - 1; i++)
        if (!pairs[text[i] << 8 | text[i + 1]])
            return NOT_IN_TITLE;
    return is_inside(title, text, size) ? IN_TITLE : NOT_IN_TITLE;
}

/* Of each text, whether it is in the title, or that it is not plain. */
static PyObject *find_texts(Bytes source, Bytes title, const int32_t *start, const int32_t *stop,
                            size_t count)
{
    PyObject *memory = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)count);
    uint8_t *pairs = calloc(PAIRS, 1);
    if (memory && pairs) {
        char *found = PyByteArray_AsString(memory);
        for (size_t i = 0; i + 1 < title.size; i++)
            pairs[title.bytes[i] << 8 | title.bytes[i + 1]] = 1;
        for (size_t i = 0; i < count; i++) {
            int is_text = start[i] >= 0 && stop[i] >= start[i] && (size_t)stop[i] <= source.size;
            found[i] = is_text ? (char)find_in_title(title, pairs, source, (size_t)start[i],
                                                     (size_t)stop[i])
                               : NOT_IN_TITLE;
        }
    } else {
        Py_XDECREF(memory);
        memory = PyErr_NoMemory();
    }
    free(pairs);
    return memory;
}

PyObject *kernel_in_title(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    static const Py_ssize_t sizes[] = {4, 4};
    View views[4];
    if (!check_count("in_title", count, 4) || !open_views(views, arguments, 4, 0))
        return NULL;
    PyObject *memory = NULL;
    Py_ssize_t texts = views[2].buffer.len / 4;
    if (check_sizes("in_title", views + 2, sizes, 2, texts))
        memory = find_texts(bytes_of(&views[0]), bytes_of(&views[1]), views[2].buffer.buf,
                                  views[3].buffer.buf, (size_t)texts);
    close_views(views, 4);
    return memory;
}
