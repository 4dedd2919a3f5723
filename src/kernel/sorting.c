/* Keys in order, by steps that nobody can make slow. */

#include "sorting.h"

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
