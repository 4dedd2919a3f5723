/* What hides an element: attributes, and inline styles. */

#include "hidden.h"

#include "attributes.h"
#include "scan.h"

/* One behind the first `text`; `stop` where there is none. */
static size_t find_behind(Bytes source, const char *text, size_t at, size_t stop)
{
    size_t size = strlen(text);
    for (;; at++) {
        at = find_byte(source, (uint8_t)text[0], at, stop);
        if (stop - at < size)
            return stop;
        if (stands_at(source, at, text))
            return at + size;
    }
}

/* One behind the comment, string, bracket or escape that begins at a place; the next place if none does. */
static size_t skip_whole(Bytes source, size_t at, size_t stop)
{
    switch (source.bytes[at]) {
    case '/':
        return stands_at(source, at, "/*") ? find_behind(source, "*/", at + 2, stop) : at + 1;
    case '\'':
        return find_behind(source, "'", at + 1, stop);
    case '(':
        return find_behind(source, ")", at + 1, stop);
    case '&':
        return stands_at(source, at, "&quot;") ? find_behind(source, "&quot;", at + 6, stop)
                                               : find_behind(source, ";", at + 1, stop);
    }
    return at + 1;
}

static size_t skip_gap(Bytes source, size_t at, size_t stop)
{
    while (at < stop && (is_white(source.bytes[at]) || stands_at(source, at, "/*")))
        at = skip_whole(source, at, stop);
    return at;
}

/* Does this word stand there, and no longer one? */
static int is_word(Bytes source, size_t at, size_t stop, const char *word)
{
    size_t end = at + strlen(word);
    if (end > stop || !stands_at(source, at, word))
        return 0;
    uint8_t behind = end < stop ? source.bytes[end] : ' ';
    return is_white(behind) || behind == ':' || behind == '!' || behind == '/';
}

/* Where the value begins of the declaration at a place, if it is one of that property; else `stop`. */
static size_t find_value(Bytes source, size_t at, size_t stop, const char *property)
{
    if (!is_word(source, at, stop, property))
        return stop;
    at = skip_gap(source, at + strlen(property), stop);
    return at < stop && source.bytes[at] == ':' ? skip_gap(source, at + 1, stop) : stop;
}

enum { SHOWS = 1, HIDES = 2, IMPORTANT = 4 };

typedef struct {
    uint8_t display, visibility; /* What was declared; 0 where nothing was. */
} Style;

/* Of two declarations the last counts, unless only the first is important. */
static void declare(uint8_t *declared, int hides, Bytes source, size_t value, size_t end)
{
    uint8_t now = hides ? HIDES : SHOWS;
    if (find_byte(source, '!', value, end) < end)
        now |= IMPORTANT;
    if (now & IMPORTANT || !(*declared & IMPORTANT))
        *declared = now;
}

static Style read_style(Bytes source, size_t at, size_t stop)
{
    Style style = {0, 0};
    for (size_t end, value; at < stop; at = end + 1) {
        at = end = skip_gap(source, at, stop);
        while (end < stop && source.bytes[end] != ';')
            end = skip_whole(source, end, stop);
        if ((value = find_value(source, at, end, "display")) < end)
            declare(&style.display, is_word(source, value, end, "none"), source, value, end);
        else if ((value = find_value(source, at, end, "visibility")) < end &&
                 !is_word(source, value, end, "inherit"))
            declare(&style.visibility,
                    is_word(source, value, end, "hidden") || is_word(source, value, end, "collapse"),
                    source, value, end);
    }
    return style;
}

uint8_t add_hiding(Bytes source, int16_t tag, size_t start, size_t stop, uint8_t flags)
{
    Attribute found;
    int is_closed = tag == TAG_dialog;
    while (next_attribute(source, &start, stop, &found)) {
        if (is_named(source, &found, "style")) {
            Style style = read_style(source, found.value, found.value_stop);
            if (style.display & HIDES)
                flags |= NODE_STYLED_AWAY;
            if (style.visibility)
                flags = style.visibility & HIDES ? flags | NODE_UNSEEN : flags & ~NODE_UNSEEN;
        } else if (is_named(source, &found, "hidden")) {
            if (!is_value(source, &found, "until-found"))
                flags |= tag == TAG_html || tag == TAG_body ? NODE_STYLED_AWAY : NODE_HIDDEN;
        } else if (is_named(source, &found, "popover")) {
            flags |= NODE_HIDDEN;
        } else if (is_closed) {
            is_closed = !is_named(source, &found, "open");
        }
    }
    return is_closed ? flags | NODE_HIDDEN : flags;
}
