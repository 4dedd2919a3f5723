/* A paragraph as it is written. Emphasis is written where CommonMark's rules of flanking let it be read, and a
   character is escaped where it would be read as more than itself. */

#include "markdown.h"

#include "white.h"

enum {
    MAX_ROUNDS = 4,       /* In which marks that are not read are taken away, before all are. */
    MAX_LABEL = 4 * 1000, /* Bytes: CommonMark reads 999 characters between brackets. */
};

typedef struct {
    Writer *writer;
    Buffer *out;
    Bytes text;
    Shape shape;
    size_t next;     /* The next mark. */
    size_t start_escape; /* What the line would be taken for something else without. */
    size_t last_dollar; /* The last sign that a formula could end with; 0 without one. */
    int in_link, has_emphasis, has_struck, is_low_escaped;
} Pen;

static int is_emphasis(const Mark *mark)
{
    return mark->style == STYLE_STRONG || mark->style == STYLE_EMPHASIS || mark->style == STYLE_STRUCK;
}

static const char *sign_of(const Mark *mark)
{
    switch (mark->style) {
    case STYLE_STRONG:
        return "**";
    case STYLE_EMPHASIS:
        return mark->is_low ? "_" : "*";
    case STYLE_STRUCK:
        return "~~";
    default:
        return "";
    }
}

/* --- flanking --- */

static int kind_before(Writer *writer, Bytes text, size_t at)
{
    if (!at)
        return CHARACTER_WHITE;
    size_t last = before_character(text.bytes, at);
    return kind_of_character(writer, text.bytes + last, at - last);
}

static int kind_behind(Writer *writer, Bytes text, size_t at)
{
    return at >= text.size ? CHARACTER_WHITE : kind_of_character(writer, text.bytes + at, text.size - at);
}

/* What stands beside a mark, past those that it makes one run of signs with. */
static int kind_beside(Writer *writer, Bytes text, size_t number, int is_before)
{
    const Paragraph *paragraph = &writer->paragraph;
    const Mark *mark = &paragraph->marks[number];
    char sign = *sign_of(mark);
    for (size_t i = number; is_before ? i > 0 : i + 1 < paragraph->mark_count;) {
        const Mark *other = &paragraph->marks[is_before ? --i : ++i];
        if (other->at != mark->at)
            break;
        if (!other->is_dead && *sign_of(other) != sign)
            return CHARACTER_PUNCTUATION;
    }
    return is_before ? kind_before(writer, text, mark->at) : kind_behind(writer, text, mark->at);
}

/* Would CommonMark read a sign between these as an end of emphasis on the inner? Older readers take no symbol
   beyond ASCII for punctuation. */
static int flanks(int inner, int outer)
{
    if (inner & CHARACTER_WHITE)
        return 0;
    return !(inner & (CHARACTER_PUNCTUATION | CHARACTER_SYMBOL)) ||
           outer & (CHARACTER_WHITE | CHARACTER_PUNCTUATION);
}

/* Is a mark read? `_` is read at the ends of words only. */
static int is_mark_read(Writer *writer, Bytes text, size_t number)
{
    const Mark *mark = &writer->paragraph.marks[number];
    int before = kind_beside(writer, text, number, 1), behind = kind_beside(writer, text, number, 0);
    int inner = mark->is_end ? before : behind, outer = mark->is_end ? behind : before;
    return flanks(inner, outer) && (!mark->is_low || outer & (CHARACTER_WHITE | CHARACTER_PUNCTUATION));
}

static int is_pair_read(Writer *writer, Bytes text, size_t number)
{
    size_t partner = (size_t)writer->paragraph.marks[number].partner;
    return is_mark_read(writer, text, number) && is_mark_read(writer, text, partner);
}

static void drop_pair(Paragraph *paragraph, size_t number)
{
    Mark *mark = &paragraph->marks[number];
    mark->is_dead = paragraph->marks[mark->partner].is_dead = 1;
}

static void set_low(Paragraph *paragraph, size_t number, uint8_t is_low)
{
    Mark *mark = &paragraph->marks[number];
    mark->is_low = paragraph->marks[mark->partner].is_low = is_low;
}

/* Take away emphasis that is not read; how many marks there were. */
static size_t drop_unread(Writer *writer, Bytes text)
{
    Paragraph *paragraph = &writer->paragraph;
    size_t dropped = 0;
    for (size_t i = 0; i < paragraph->mark_count; i++) {
        const Mark *mark = &paragraph->marks[i];
        if (mark->is_dead || !is_emphasis(mark) || is_mark_read(writer, text, i))
            continue;
        drop_pair(paragraph, i);
        dropped++;
    }
    return dropped;
}

/* The mark that makes one run of signs with one before it; SIZE_MAX without one. */
static size_t touching(const Paragraph *paragraph, size_t number)
{
    const Mark *mark = &paragraph->marks[number];
    for (size_t i = number + 1; i < paragraph->mark_count && paragraph->marks[i].at == mark->at; i++) {
        const Mark *other = &paragraph->marks[i];
        if (!other->is_dead)
            return is_emphasis(other) && *sign_of(other) == *sign_of(mark) ? i : SIZE_MAX;
    }
    return SIZE_MAX;
}

/* Part two marks whose signs would be read as one run: write emphasis as `_`, or take the inner or second away. */
static void part(Writer *writer, Bytes text, size_t first, size_t second, int may_be_low)
{
    Paragraph *paragraph = &writer->paragraph;
    const Mark *marks = paragraph->marks;
    size_t slanted = marks[first].style == STYLE_EMPHASIS ? first : second;
    if (marks[slanted].style == STYLE_EMPHASIS && may_be_low) {
        set_low(paragraph, slanted, 1);
        if (is_pair_read(writer, text, first) && is_pair_read(writer, text, second))
            return;
        set_low(paragraph, slanted, 0);
    }
    drop_pair(paragraph, marks[second].is_end ? first : second);
}

/* Part all signs that are read otherwise where they touch; how many did. Those of `***both***` are read. */
static size_t part_signs(Writer *writer, Bytes text, int may_be_low)
{
    const Paragraph *paragraph = &writer->paragraph;
    size_t parted = 0;
    for (size_t i = 0; i < paragraph->mark_count; i++) {
        const Mark *mark = &paragraph->marks[i];
        size_t next;
        while (!mark->is_dead && is_emphasis(mark) && (next = touching(paragraph, i)) != SIZE_MAX &&
               touching(paragraph, (size_t)paragraph->marks[next].partner) != (size_t)mark->partner) {
            part(writer, text, i, next, may_be_low);
            parted++;
        }
    }
    return parted;
}

static void settle_marks(Writer *writer, Bytes text)
{
    Paragraph *paragraph = &writer->paragraph;
    int may_be_low = find_byte(text, '_', 0, text.size) == text.size;
    for (int round = 0; round < MAX_ROUNDS; round++)
        if (!(part_signs(writer, text, may_be_low) + drop_unread(writer, text)))
            return;
    for (size_t i = 0; i < paragraph->mark_count; i++)
        paragraph->marks[i].is_dead |= (uint8_t)is_emphasis(&paragraph->marks[i]);
}

/* --- escapes --- */

static int is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

static int is_sign(uint8_t byte)
{
    return byte > ' ' && byte < 0x7F && !is_letter(byte) && !is_digit(byte);
}

static uint8_t byte_at(Bytes text, size_t at)
{
    return at < text.size ? text.bytes[at] : '\n';
}

static int ends_word(Bytes text, size_t at)
{
    return byte_at(text, at) == ' ' || byte_at(text, at) == '\n';
}

/* Does a line from `at` to `stop` have no other characters than these? */
static int is_only(Bytes text, size_t at, size_t stop, const char *characters)
{
    while (at < stop && strchr(characters, text.bytes[at]))
        at++;
    return at == stop;
}

/* The place of the character that makes more of a line than text; SIZE_MAX without one. */
static size_t find_start_escape(Bytes text, size_t at)
{
    uint8_t first = byte_at(text, at);
    size_t run = at, stop;
    switch (first) {
    case '#':
        while (byte_at(text, run) == '#')
            run++;
        return run - at <= 6 && ends_word(text, run) ? at : SIZE_MAX;
    case '>':
        return at;
    case '[':
        run = text.size - at < MAX_LABEL ? text.size : at + MAX_LABEL;
        stop = find_byte(text, ']', at, run);
        if (stop == at + 2 && (strchr(" xX", text.bytes[at + 1])) && ends_word(text, stop + 1))
            return at;
        for (; stop < run; stop = find_byte(text, ']', stop + 1, run))
            if (byte_at(text, stop + 1) == ':')
                return at;
        return SIZE_MAX;
    case '+':
    case '-':
    case '*':
        if (ends_word(text, at + 1))
            return at;
        break;
    case '_':
    case '=':
    case ':':
    case '|':
        break;
    default:
        while (is_digit(byte_at(text, run)) && run - at < 10)
            run++;
        if (run > at && run - at < 10 && (byte_at(text, run) == '.' || byte_at(text, run) == ')') &&
            ends_word(text, run + 1))
            return run;
        return SIZE_MAX;
    }
    /* A rule, the line below a heading, or below the heads of a table. */
    char same[] = {(char)first, ' ', 0};
    stop = find_byte(text, '\n', at, text.size);
    return is_only(text, at, stop, same) || is_only(text, at, stop, "-:| ") ? at : SIZE_MAX;
}

/* Is it what HTML writes a character by? */
static int is_entity(Bytes text, size_t at)
{
    size_t from = at + 1, most = 32;
    if (byte_at(text, from) == '#') {
        from++;
        most = 8;
    }
    size_t run = from;
    while (run - from <= most && (is_letter(byte_at(text, run)) || is_digit(byte_at(text, run))))
        run++;
    return run > from && byte_at(text, run) == ';';
}

/* Does a mark stand at a place, of a link or of any kind? */
static int is_marked(const Pen *pen, size_t at, int is_link)
{
    const Paragraph *paragraph = &pen->writer->paragraph;
    if (pen->next >= paragraph->mark_count || paragraph->marks[pen->next].at != at)
        return 0;
    for (size_t i = pen->next; is_link && i < paragraph->mark_count && paragraph->marks[i].at == at; i++)
        if (!paragraph->marks[i].is_dead)
            return paragraph->marks[i].style == STYLE_LINK && !paragraph->marks[i].is_end;
    return !is_link;
}

/* Was a mark written right before a place? */
static int is_behind_mark(const Pen *pen, size_t at)
{
    return pen->next && pen->next <= pen->writer->paragraph.mark_count &&
           pen->writer->paragraph.marks[pen->next - 1].at == at;
}

/* Is it a break in a cell? That is written `<br>`: signs to the rules of emphasis, and no white space. */
static int is_break_in_cell(const Pen *pen, size_t at)
{
    return pen->shape == IN_CELL && at < pen->text.size && pen->text.bytes[at] == '\n';
}

/* A run of `_` opens emphasis at the front of a word, and nowhere else. */
static int opens_low(Pen *pen, size_t at)
{
    size_t behind = at;
    int is_behind = is_behind_mark(pen, at);
    if (at && pen->text.bytes[at - 1] == '_' && !is_behind)
        return pen->is_low_escaped;
    while (byte_at(pen->text, behind) == '_')
        behind++;
    int before = is_behind ? CHARACTER_PUNCTUATION : kind_before(pen->writer, pen->text, at);
    pen->is_low_escaped =
        before & (CHARACTER_WHITE | CHARACTER_PUNCTUATION | CHARACTER_SYMBOL) &&
        (is_marked(pen, behind, 0) || is_break_in_cell(pen, behind) ||
         !(kind_behind(pen->writer, pen->text, behind) & CHARACTER_WHITE));
    return pen->is_low_escaped;
}

/* A star opens or ends emphasis beside a word, or beside a mark. */
static int is_star_read(const Pen *pen, size_t at)
{
    int is_after_word = at && (!is_white(pen->text.bytes[at - 1]) || is_break_in_cell(pen, at - 1));
    if (ends_word(pen->text, at + 1) && !is_break_in_cell(pen, at + 1))
        return pen->has_emphasis && (is_after_word || is_behind_mark(pen, at) || is_marked(pen, at + 1, 0));
    return 1;
}

/* Would a character be read as more than itself? */
static int is_read(Pen *pen, size_t at)
{
    Bytes text = pen->text;
    uint8_t next = byte_at(text, at + 1);
    if (at == pen->start_escape)
        return 1;
    switch (text.bytes[at]) {
    case '\\':
        return is_sign(next) || next == '\n' || is_marked(pen, at + 1, 0);
    case '`':
        return 1;
    case '*':
        return is_star_read(pen, at);
    case '_':
        return opens_low(pen, at);
    case '[':
        return pen->in_link || next == '^';
    case ']':
        return pen->in_link || next == '(' || pen->writer->wanted.links == LINKS_FOOTNOTES;
    case '<':
        return is_letter(next) || next == '/' || next == '!' || next == '?';
    case '&':
        return is_entity(text, at);
    case '~':
        return pen->has_struck || (!ends_word(text, at + 1) && memchr(text.bytes + at + 1, '~', text.size - at - 1));
    case '!':
        return is_marked(pen, at + 1, 1);
    case '|':
        return pen->shape == IN_CELL;
    case '#':
        return pen->shape == IN_HEADING && at + 1 == text.size;
    case '$': /* Money stays money. */
        return at < pen->last_dollar && (next > ' ' || is_marked(pen, at + 1, 0));
    default:
        return 0;
    }
}

static int is_special(uint8_t byte)
{
    static const uint8_t special[256] = {
        ['\\'] = 1, ['`'] = 1, ['*'] = 1, ['_'] = 1, ['['] = 1, [']'] = 1, ['<'] = 1,
        ['&'] = 1,  ['~'] = 1, ['!'] = 1, ['|'] = 1, ['#'] = 1, ['$'] = 1, ['\n'] = 1,
    };
    return special[byte];
}

/* What a line from `at` on would be taken for something else without; nothing where a mark comes first. */
static size_t escape_at_start(const Pen *pen, size_t at)
{
    const Paragraph *paragraph = &pen->writer->paragraph;
    for (size_t i = pen->next; i < paragraph->mark_count && paragraph->marks[i].at <= at; i++)
        if (paragraph->marks[i].at == at && !paragraph->marks[i].is_dead && !paragraph->marks[i].is_end)
            return SIZE_MAX;
    return find_start_escape(pen->text, at);
}

static void write_break(Pen *pen, size_t at)
{
    if (pen->shape == IN_CELL) {
        put_text(pen->out, "<br>");
        return;
    }
    put_text(pen->out, "  \n");
    put_prefix(pen->writer);
    pen->start_escape = escape_at_start(pen, at + 1);
}

/* Text without marks in it. */
static void write_run(Pen *pen, size_t at, size_t stop)
{
    size_t done = at;
    for (; at < stop; at++) {
        uint8_t byte = pen->text.bytes[at];
        if (!is_special(byte) && at != pen->start_escape)
            continue;
        put(pen->out, pen->text.bytes + done, at - done);
        done = at;
        if (byte == '\n') {
            write_break(pen, at);
            done = at + 1;
        } else if (is_read(pen, at)) {
            put(pen->out, "\\", 1);
        }
    }
    put(pen->out, pen->text.bytes + done, stop - done);
}

/* Bytes with a backslash before those that stand in `escaped`, and before what would be an escape, of what follows
 * the bytes too. */
static void write_escaped(Pen *pen, Bytes bytes, const char *escaped)
{
    size_t done = 0;
    for (size_t i = 0; i < bytes.size; i++) {
        uint8_t byte = bytes.bytes[i];
        int is_needed = (byte == '\\' && (i + 1 == bytes.size || is_sign(bytes.bytes[i + 1]))) ||
                        (byte == '&' && is_entity(bytes, i)) || (byte == '|' && pen->shape == IN_CELL) ||
                        byte == '$' || strchr(escaped, byte); /* Not every reader of formulas knows links. */
        if (!byte || !is_needed)
            continue;
        put(pen->out, bytes.bytes + done, i - done);
        put(pen->out, "\\", 1);
        done = i;
    }
    put(pen->out, bytes.bytes + done, bytes.size - done);
}

void write_url(Writer *writer, Bytes url)
{
    Pen pen = {.writer = writer, .out = &writer->out, .shape = ON_LINES};
    write_escaped(&pen, url, "<>");
}

/* --- marks --- */

static Bytes in_addresses(const Writer *writer, size_t from, size_t size)
{
    return (Bytes){writer->addresses.bytes + from, size};
}

static int is_balanced(Bytes url)
{
    int level = 0;
    for (size_t i = 0; i < url.size && level >= 0 && level < 30; i++)
        level += url.bytes[i] == '(' ? 1 : url.bytes[i] == ')' ? -1 : 0;
    return level == 0;
}

/* What stands behind the text of a link or an image. */
static void write_target(Pen *pen, const Link *link, int is_image)
{
    Bytes url = in_addresses(pen->writer, link->url, link->url_size);
    if (pen->writer->wanted.links == LINKS_FOOTNOTES && !is_image) {
        char number[32];
        size_t size = (size_t)PyOS_snprintf(number, sizeof(number), "][%zu]",
                                            number_of_reference(pen->writer, url));
        put(pen->out, number, size);
        return;
    }
    put_text(pen->out, "](");
    write_escaped(pen, url, is_balanced(url) ? "" : "()");
    put(pen->out, ")", 1);
}

static void write_image(Pen *pen, const Link *link)
{
    Pen alt = *pen;
    alt.text = in_addresses(pen->writer, link->alt, link->alt_size);
    alt.in_link = 1;
    alt.start_escape = SIZE_MAX;
    alt.next = SIZE_MAX;
    put_text(pen->out, "![");
    write_run(&alt, 0, alt.text.size);
    write_target(pen, link, 1);
}

static void write_code(Pen *pen, size_t from, size_t to)
{
    Bytes code = {pen->text.bytes + from, to - from};
    size_t longest = 0, run = 0;
    for (size_t i = 0; i < code.size; i++) {
        run = code.bytes[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    int is_padded = code.size && (code.bytes[0] == '`' || code.bytes[code.size - 1] == '`');
    for (size_t i = 0; i <= longest; i++)
        put(pen->out, "`", 1);
    put(pen->out, " ", (size_t)is_padded);
    for (size_t at = 0; at < code.size;) {
        size_t stop = pen->shape == IN_CELL ? find_byte(code, '|', at, code.size) : code.size;
        put(pen->out, code.bytes + at, stop - at);
        put(pen->out, "\\|", stop < code.size ? 2 : 0);
        at = stop + 1;
    }
    put(pen->out, " ", (size_t)is_padded);
    for (size_t i = 0; i <= longest; i++)
        put(pen->out, "`", 1);
}

static void write_formula(Pen *pen, const Mark *mark, size_t to)
{
    const char *sign = mark->is_bare ? "" : mark->is_block ? "$$" : "$";
    put_text(pen->out, sign);
    put(pen->out, pen->text.bytes + mark->at, to - mark->at);
    put_text(pen->out, sign);
}

/* Is the text of a link its address? */
static int is_bare(const Pen *pen, size_t number)
{
    const Paragraph *paragraph = &pen->writer->paragraph;
    const Mark *mark = &paragraph->marks[number];
    const Link *link = &pen->writer->links[mark->link];
    Bytes url = in_addresses(pen->writer, link->url, link->url_size);
    size_t size = paragraph->marks[mark->partner].at - mark->at;
    return mark->partner == (int32_t)number + 1 && size == url.size &&
           memcmp(pen->text.bytes + mark->at, url.bytes, size) == 0 &&
           (stands_at(url, 0, "http://") || stands_at(url, 0, "https://")) &&
           find_byte(url, '|', 0, url.size) == url.size && find_byte(url, '\\', 0, url.size) == url.size &&
           find_byte(url, '$', 0, url.size) == url.size;
}

static void write_link(Pen *pen, size_t number)
{
    const Mark *mark = &pen->writer->paragraph.marks[number];
    pen->in_link = !mark->is_end;
    if (mark->is_end)
        write_target(pen, &pen->writer->links[mark->link], 0);
    else
        put(pen->out, "[", 1);
}

/* Write a mark; where the text goes on behind it. */
static size_t write_mark(Pen *pen, size_t number)
{
    const Paragraph *paragraph = &pen->writer->paragraph;
    const Mark *mark = &paragraph->marks[number];
    pen->next = number + 1;
    if (mark->style == MARK_IMAGE) {
        write_image(pen, &pen->writer->links[mark->link]);
    } else if (mark->style == STYLE_CODE || mark->style == MARK_FORMULA) {
        size_t stop = paragraph->marks[mark->partner].at;
        if (mark->style == STYLE_CODE)
            write_code(pen, mark->at, stop);
        else
            write_formula(pen, mark, stop);
        pen->next = (size_t)mark->partner + 1;
        return stop;
    } else if (mark->style == STYLE_LINK && !mark->is_end && is_bare(pen, number)) {
        size_t stop = paragraph->marks[mark->partner].at;
        put(pen->out, "<", 1);
        put(pen->out, pen->text.bytes + mark->at, stop - mark->at);
        put(pen->out, ">", 1);
        pen->next = (size_t)mark->partner + 1;
        return stop;
    } else if (mark->style == STYLE_LINK) {
        write_link(pen, number);
    } else if (!mark->is_dead) {
        put_text(pen->out, sign_of(mark));
    }
    return mark->at;
}

/* The place of the last dollar sign that a reader of formulas would end one with; 0 without one. The sign of a
   mark may stand between it and white space. */
static size_t find_last_dollar(Bytes text, int has_marks)
{
    for (size_t at = text.size; at-- > 1;)
        if (text.bytes[at] == '$' && !is_digit(byte_at(text, at + 1)) &&
            (has_marks || !is_white(text.bytes[at - 1])))
            return at;
    return 0;
}

void write_inline(Writer *writer, Shape shape)
{
    Paragraph *paragraph = &writer->paragraph;
    if (paragraph->text.is_short)
        return;
    Pen pen = {.writer = writer, .out = &writer->out, .shape = shape, .start_escape = SIZE_MAX};
    pen.text = (Bytes){paragraph->text.bytes, paragraph->text.size};
    if (paragraph->mark_count)
        settle_marks(writer, pen.text);
    for (size_t i = 0; i < paragraph->mark_count; i++) {
        const Mark *mark = &paragraph->marks[i];
        pen.has_emphasis |= !mark->is_dead && is_emphasis(mark) && mark->style != STYLE_STRUCK;
        pen.has_struck |= !mark->is_dead && mark->style == STYLE_STRUCK;
        if (mark->style == MARK_FORMULA && !mark->is_bare)
            pen.last_dollar = mark->at;
    }
    if (find_byte(pen.text, '$', 0, pen.text.size) < pen.text.size) {
        size_t last = find_last_dollar(pen.text, paragraph->mark_count > 0);
        pen.last_dollar = last > pen.last_dollar ? last : pen.last_dollar;
    }
    if (shape == ON_LINES)
        pen.start_escape = escape_at_start(&pen, 0);
    for (size_t at = 0; at < pen.text.size || pen.next < paragraph->mark_count;) {
        if (pen.next < paragraph->mark_count && paragraph->marks[pen.next].at <= at) {
            at = write_mark(&pen, pen.next);
            continue;
        }
        size_t stop = pen.next < paragraph->mark_count ? paragraph->marks[pen.next].at : pen.text.size;
        write_run(&pen, at, stop);
        at = stop;
    }
}
