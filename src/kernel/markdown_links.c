/* Addresses as Markdown writes them: without what tracks readers, and, where the user wants it, behind the text. */

#include "markdown.h"

/* --- what tracks readers --- */

/* Does a parameter only say where a reader came from? */
static int is_tracking(Bytes name)
{
    static const char *const names[] = {
        "fbclid", "gclid", "dclid", "gbraid", "wbraid", "msclkid", "yclid", "twclid", "ttclid", "igshid",
        "mc_cid", "mc_eid", "_hsenc", "_hsmi", "mkt_tok", "vero_id", "oly_enc_id", "oly_anon_id", "li_fat_id",
        "s_cid", "_ga", "_gl", NULL,
    };
    if (stands_at(name, 0, "utm_"))
        return 1;
    for (size_t i = 0; names[i]; i++)
        if (strlen(names[i]) == name.size && stands_at(name, 0, names[i]))
            return 1;
    return 0;
}

void strip_tracking(Writer *writer, size_t from)
{
    Buffer *addresses = &writer->addresses;
    Bytes url = {addresses->bytes + from, addresses->size - from};
    size_t query = find_byte(url, '?', 0, url.size), at = query, kept = at, stop, end;
    if (at == url.size || addresses->is_short)
        return;
    uint8_t *to = addresses->bytes + from;
    end = find_byte(url, '#', at, url.size);
    for (at++; at < end; at = stop + 1) {
        stop = find_byte(url, '&', at, end);
        size_t name_stop = find_byte(url, '=', at, stop);
        if (is_tracking((Bytes){url.bytes + at, name_stop - at}))
            continue;
        to[kept] = kept == query ? '?' : '&';
        kept++;
        memmove(to + kept, to + at, stop - at);
        kept += stop - at;
    }
    memmove(to + kept, to + end, url.size - end);
    addresses->size = from + kept + url.size - end;
}

/* --- links whose addresses stand at the end --- */

static Bytes noted_url(const References *notes, size_t number)
{
    const size_t *starts = (const size_t *)(const void *)notes->starts.bytes;
    size_t stop = number + 1 < notes->count ? starts[number + 1] : notes->urls.size;
    return (Bytes){notes->urls.bytes + starts[number], stop - starts[number]};
}

/* Make room for twice as many: the places of all by their hash. */
static int grow_places(References *notes)
{
    size_t room = notes->room ? 2 * notes->room : 64;
    uint32_t *places = calloc(room, sizeof(uint32_t));
    if (!places)
        return 0;
    for (size_t i = 0; i < notes->count; i++) {
        Bytes url = noted_url(notes, i);
        size_t place = hash_run(url, 0, url.size) % room;
        while (places[place])
            place = (place + 1) % room;
        places[place] = (uint32_t)i + 1;
    }
    free(notes->places);
    notes->places = places;
    notes->room = room;
    return 1;
}

size_t number_of_reference(Writer *writer, Bytes url)
{
    References *notes = &writer->references;
    if (2 * notes->count >= notes->room && !grow_places(notes)) {
        writer->out.is_short = 1;
        return 1;
    }
    size_t place = hash_run(url, 0, url.size) % notes->room;
    for (; notes->places[place]; place = (place + 1) % notes->room) {
        Bytes noted = noted_url(notes, notes->places[place] - 1);
        if (noted.size == url.size && memcmp(noted.bytes, url.bytes, url.size) == 0)
            return notes->places[place];
    }
    size_t start = notes->urls.size;
    put(&notes->starts, &start, sizeof(start));
    put(&notes->urls, url.bytes, url.size);
    if (notes->starts.is_short || notes->urls.is_short) {
        writer->out.is_short = 1;
        return 1;
    }
    notes->places[place] = (uint32_t)++notes->count;
    return notes->count;
}

void write_references(Writer *writer)
{
    const References *notes = &writer->references;
    char number[32];
    for (size_t i = 0; i < notes->count; i++) {
        Bytes url = noted_url(notes, i);
        put_text(&writer->out, i ? "\n" : "\n\n");
        put(&writer->out, number, (size_t)PyOS_snprintf(number, sizeof(number), "[%zu]: <", i + 1));
        write_url(writer, url);
        put_text(&writer->out, ">");
    }
}

void free_references(References *notes)
{
    free(notes->urls.bytes);
    free(notes->starts.bytes);
    free(notes->places);
}
