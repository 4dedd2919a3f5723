/* From which probability on to keep blocks, for the best F1 to be expected on a page.

   What a page calls content differs in how strict it is, not block by block: all its comments are, or none. So
   the truth is taken to be one of twenty, from 'only the likeliest blocks' to 'nearly all', and the threshold to
   be the best on average. (With blocks that are content independently of each other, many unlikely comments
   outweigh a short article: 0.011 less on news-dev.) */

#include "threshold.h"

#include <stdlib.h>

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

int make_sorting(Sorting *sorting, size_t count)
{
    sorting->items = malloc((count + 1) * 2 * (sizeof(Keyed) + sizeof(double)));
    if (!sorting->items)
        return 0;
    sorting->spare = sorting->items + count + 1;
    sorting->likely = (double *)(sorting->spare + count + 1);
    sorting->kept = sorting->likely + count + 1;
    return 1;
}

double find_threshold(const double *probabilities, const double *chars, size_t count,
                      Sorting *sorting)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &probabilities[i], sizeof(bits));
        sorting->items[i] = (Keyed){~bits, (int32_t)i}; /* Numbers from 0 on: in the order of bits. */
    }
    sort_keyed(sorting->items, sorting->spare, count);
    for (size_t i = 0; i < count; i++) {
        sorting->likely[i] = probabilities[sorting->items[i].place];
        sorting->kept[i] = sum += chars[sorting->items[i].place];
    }
    return best_of(sorting->likely, sorting->kept, count);
}
