/* SVG and MathML in a page. */

#include "builder.h"

/* Names that SVG writes with capitals, in the order of their bytes in lower case. */
static const char *const elements[] = {
    "altGlyph", "altGlyphDef", "altGlyphItem", "animateColor", "animateMotion", "animateTransform", "clipPath",
    "feBlend", "feColorMatrix", "feComponentTransfer", "feComposite", "feConvolveMatrix", "feDiffuseLighting",
    "feDisplacementMap", "feDistantLight", "feDropShadow", "feFlood", "feFuncA", "feFuncB", "feFuncG",
    "feFuncR", "feGaussianBlur", "feImage", "feMerge", "feMergeNode", "feMorphology", "feOffset",
    "fePointLight", "feSpecularLighting", "feSpotLight", "feTile", "feTurbulence", "foreignObject",
    "glyphRef", "linearGradient", "radialGradient", "textPath",
};

static const char *const attributes[] = {
    "attributeName", "attributeType", "baseFrequency", "baseProfile", "calcMode", "clipPathUnits",
    "diffuseConstant", "edgeMode", "filterUnits", "glyphRef", "gradientTransform", "gradientUnits",
    "kernelMatrix", "kernelUnitLength", "keyPoints", "keySplines", "keyTimes", "lengthAdjust",
    "limitingConeAngle", "markerHeight", "markerUnits", "markerWidth", "maskContentUnits", "maskUnits",
    "numOctaves", "pathLength", "patternContentUnits", "patternTransform", "patternUnits", "pointsAtX",
    "pointsAtY", "pointsAtZ", "preserveAlpha", "preserveAspectRatio", "primitiveUnits", "refX", "refY",
    "repeatCount", "repeatDur", "requiredExtensions", "requiredFeatures", "specularConstant",
    "specularExponent", "spreadMethod", "startOffset", "stdDeviation", "stitchTiles", "surfaceScale",
    "systemLanguage", "tableValues", "targetX", "targetY", "textLength", "viewBox", "viewTarget",
    "xChannelSelector", "yChannelSelector", "zoomAndPan",
};

/* How the name compares with one of the list: -1, 0 or 1. */
static int compare(const uint8_t *name, size_t size, const char *listed)
{
    for (size_t i = 0; i < size; i++) {
        uint8_t one = lower(name[i]), other = lower((uint8_t)listed[i]);
        if (one != other)
            return one < other ? -1 : 1;
    }
    return listed[size] ? -1 : 0;
}

const char *svg_name(const uint8_t *name, size_t size, int is_attribute)
{
    const char *const *list = is_attribute ? attributes : elements;
    size_t low = 0, high = is_attribute ? sizeof(attributes) / sizeof(*attributes)
                                        : sizeof(elements) / sizeof(*elements);
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = compare(name, size, list[middle]);
        if (order == 0)
            return list[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* Does the start tag that was read end SVG and MathML? */
static int ends_island(const Builder *builder)
{
    switch (builder->token.tag) {
    case TAG_b: case TAG_big: case TAG_blockquote: case TAG_body: case TAG_br: case TAG_center: case TAG_code:
    case TAG_dd: case TAG_div: case TAG_dl: case TAG_dt: case TAG_em: case TAG_embed: case TAG_font: case TAG_h1:
    case TAG_h2: case TAG_h3: case TAG_h4: case TAG_h5: case TAG_h6: case TAG_head: case TAG_hr: case TAG_i:
    case TAG_img: case TAG_li: case TAG_listing: case TAG_menu: case TAG_meta: case TAG_nobr: case TAG_ol:
    case TAG_p: case TAG_pre: case TAG_ruby: case TAG_s: case TAG_small: case TAG_span: case TAG_strong:
    case TAG_strike: case TAG_sub: case TAG_sup: case TAG_table: case TAG_tt: case TAG_u: case TAG_ul:
    case TAG_var:
        return 1;
    }
    return 0;
}

/* Is HTML read in the element that was read? */
static int is_point(const Builder *builder, Space space)
{
    if (space == SPACE_SVG)
        return is_named(builder, "foreignobject") || is_named(builder, "desc") || is_named(builder, "title");
    return is_named(builder, "mi") || is_named(builder, "mo") || is_named(builder, "mn") ||
           is_named(builder, "ms") || is_named(builder, "mtext");
}

int is_in_island(Builder *builder)
{
    return builder->level && current(builder)->space != SPACE_HTML && !current(builder)->holds_html;
}

void start_in_island(Builder *builder)
{
    int16_t tag = builder->token.tag;
    Space space = tag == TAG_svg ? SPACE_SVG : SPACE_MATH;
    int is_inside = current(builder)->space != SPACE_HTML && !current(builder)->holds_html;
    if (is_inside)
        space = (Space)current(builder)->space;
    if ((is_inside && (ends_island(builder) || tag == TAG_template)) || is_named(builder, "annotation-xml") ||
        is_named(builder, "mglyph") || is_named(builder, "malignmark")) {
        builder->gives_up = 1;
        return;
    }
    open_read(builder, space);
    if (builder->gives_up)
        return;
    current(builder)->holds_html = (uint8_t)is_point(builder, space);
    if (builder->token.is_self_closing)
        close_current(builder);
}

int end_in_island(Builder *builder)
{
    for (size_t i = builder->level; i--;) {
        const Open *open = &builder->stack[i];
        if (open->space == SPACE_HTML)
            return 0;
        if (!is_of_name(builder, open))
            continue;
        while (builder->level > i)
            close_current(builder);
        return 1;
    }
    return 1;
}
