/* Long rows of siblings are decided together. */

#include "reading.h"

#define MIN_SIBLINGS 100 /* Blocks. */
/* The share of their text that is content before all is. What stands on the last hundredth of a page is template on nearly
   all pages that networks learn from, so of 1,000 paragraphs they drop up to 11, of 50,000 up to 19. */
#define NEARLY_ALL 0.98
#define POSSIBLE 0.1 /* Those fall to 0.21, a line of copyright behind them to 0.05 to 0.2. */

void keep_siblings(const Reading *reading, double *content)
{
    for (size_t i = 0, stop; i < reading->blocks; i = stop) {
        int32_t parent = parent_of(reading->tree, reading->container[i]);
        double kept = 0, chars = 0;
        for (stop = i; stop < reading->blocks && parent_of(reading->tree, reading->container[stop]) == parent; stop++) {
            kept += content[stop] >= 0.5 ? reading->chars[stop] : 0;
            chars += reading->chars[stop];
        }
        if (stop - i < MIN_SIBLINGS || kept < NEARLY_ALL * chars)
            continue;
        for (size_t k = i; k < stop; k++)
            content[k] = content[k] < POSSIBLE ? content[k] : at_least(content[k], 0.5);
    }
}
