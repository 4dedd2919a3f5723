/* Where images are loaded from, and what a memory knows them by. */

#ifndef DEHUSK_IMAGES_H
#define DEHUSK_IMAGES_H

#include "tags.h"
#include "tree.h"

static inline int is_image(const Tree *tree, size_t node)
{
    return tree->tag[node] == TAG_img || tree->tag[node] == TAG_amp_img;
}

/* Where an image is loaded from, escapes and all: the largest candidate of its sets and of those of its `<picture>`,
   else what is loaded late, else its `src`. 0 where no address says it. */
int find_image_source(const Tree *tree, size_t node, Bytes *written);

#endif
