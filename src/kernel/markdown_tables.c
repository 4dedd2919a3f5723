/* Tables of data, as an even grid of cells that hold one paragraph each. All other tables lay out a page: their
   parts are blocks. */

#include "markdown.h"

enum {
    HAS_IMAGE = 1, /* Of a column: what its cells hold. */
    HAS_TEXT = 2,
    MAX_FILL = 8, /* Cells of the grid per cell of the page; a ragged table of a hostile page has no end. */
};

static int32_t *numbers_in(const Buffer *numbers)
{
    return (int32_t *)(void *)numbers->bytes;
}

static size_t count_in(const Buffer *numbers)
{
    return numbers->size / sizeof(int32_t);
}

static void add_number(Buffer *numbers, int32_t number)
{
    put(numbers, &number, sizeof(number));
}

int is_table_cell(const Writer *writer, size_t node)
{
    const Tree *tree = writer->tree;
    return tag_sets[tree->tag[node]] & SET_CELL && tree->shown[node] &&
           writer->wording.said[node] != LEFT_OUT && tree->parent[node] >= 0 &&
           tree->tag[tree->parent[node]] == TAG_tr && has_ink(writer, (size_t)tree->parent[node]);
}

/* How many rows or columns a cell takes. */
int32_t span_of(Writer *writer, size_t cell, const char *name)
{
    Bytes value;
    int32_t number = 0;
    if (!attribute_value(writer, cell, name, &value) || value.size < 1 || value.size > 4)
        return 1;
    for (size_t i = 0; i < value.size; i++) {
        if (value.bytes[i] < '0' || value.bytes[i] > '9')
            return 1;
        number = 10 * number + (value.bytes[i] - '0');
    }
    return number ? number : 1;
}

/* The size of a table, and whether any of its parts says that it is none of data. */
typedef struct {
    int32_t rows, cells, widest;
    int32_t fullest; /* The most cells with text in a row. */
} Extent;

static int measure(const Writer *writer, size_t node, Extent *extent)
{
    const Tree *tree = writer->tree;
    int32_t width = 0, full = 0, reach = 0; /* Where the last cell or caption ends. */
    for (size_t i = node + 1; i < (size_t)tree->end[node]; i++) {
        if (tree->tag[i] == TAG_caption || is_table_cell(writer, i))
            reach = tree->end[i] > reach ? tree->end[i] : reach;
        if ((tree->tag[i] == TAG_caption && extent->rows && has_ink(writer, i)) ||
            (writer->ink[i + 1] > writer->ink[i] && (int32_t)i >= reach))
            return 0; /* It would part the rows, or be lost between them. */
        if (tree->tag[i] == TAG_tr && has_ink(writer, i)) {
            extent->rows++;
            width = full = 0;
        } else if (is_table_cell(writer, i)) {
            if (tree->text_length[i] > MAX_CELL_LENGTH)
                return 0;
            extent->cells++;
            width++;
            full += tree->text_length[i] > 0;
            extent->fullest = full > extent->fullest ? full : extent->fullest;
            extent->widest = width > extent->widest ? width : extent->widest;
        }
    }
    return extent->rows >= 2 && extent->cells >= 3 && extent->fullest >= 2;
}

/* Let a cell reach down from its columns to a row. */
static void reach_down(Table *table, int32_t column, int32_t wide, int32_t row)
{
    while (count_in(&table->reach) < (size_t)(column + wide) && !table->reach.is_short)
        add_number(&table->reach, 0);
    for (int32_t i = column; i < column + wide && !table->reach.is_short; i++)
        numbers_in(&table->reach)[i] = row;
}

/* What a value says of alignment: 'l', 'c', 'r', or 0. */
static uint8_t alignment_in(Bytes value, size_t at)
{
    while (at < value.size && is_white(value.bytes[at]))
        at++;
    return stands_at(value, at, "left") ? 'l' : stands_at(value, at, "center") ? 'c'
                                            : stands_at(value, at, "right") ? 'r' : 0;
}

/* How a cell is aligned, as it says itself. */
static uint8_t alignment_of(Writer *writer, size_t cell)
{
    static const char name[] = "text-align:";
    Bytes value;
    if (attribute_value(writer, cell, "align", &value))
        return alignment_in(value, 0);
    if (!attribute_value(writer, cell, "style", &value))
        return 0;
    for (size_t at = 0; at < value.size; at++)
        if (stands_at(value, at, name))
            return alignment_in(value, at + strlen(name));
    return 0;
}

/* A column is aligned as the first of its cells that says so. */
static void align_column(Writer *writer, size_t cell, int32_t column)
{
    Buffer *aligned = &writer->table.aligned;
    while (aligned->size < writer->table.filled.size && !aligned->is_short)
        put(aligned, "", 1);
    if (!aligned->is_short && !aligned->bytes[column] &&
        writer->tree->stop[cell] - writer->tree->start[cell] > (int32_t)strlen("<td>"))
        aligned->bytes[column] = alignment_of(writer, cell);
}

/* Put a cell into its column; the column behind it. */
static int32_t place_cell(Writer *writer, size_t cell, int32_t column, int32_t row, int32_t widest)
{
    const Tree *tree = writer->tree;
    Table *table = &writer->table;
    int32_t deep = 1, wide = 1;
    while ((size_t)column < count_in(&table->reach) && numbers_in(&table->reach)[column] > row)
        column++;
    if (tree->stop[cell] - tree->start[cell] > (int32_t)strlen("<td>")) {
        int32_t left = widest > column ? widest - column : 1;
        deep = span_of(writer, cell, "rowspan");
        wide = span_of(writer, cell, "colspan");
        wide = wide < left ? wide : left;
    }
    if (deep > 1)
        reach_down(table, column, wide, row + deep);
    add_number(&table->columns, column);
    while (table->filled.size < (size_t)(column + wide) && !table->filled.is_short)
        put(&table->filled, "", 1);
    if (!table->filled.is_short && has_ink(writer, cell))
        table->filled.bytes[column] |= tree->text_length[cell] ? HAS_TEXT : HAS_IMAGE;
    align_column(writer, cell, column);
    return column + wide;
}

/* Put all cells into their columns; 0 if the even grid would have too many places. */
static int place_cells(Writer *writer, size_t node, Extent extent)
{
    const Tree *tree = writer->tree;
    int32_t row = -1, column = 0;
    for (size_t i = node + 1; i < (size_t)tree->end[node]; i++) {
        if (tree->tag[i] == TAG_tr && has_ink(writer, i)) {
            row++;
            column = 0;
        } else if (is_table_cell(writer, i)) {
            column = place_cell(writer, i, column, row < 0 ? 0 : row, extent.widest);
            extent.widest = column > extent.widest ? column : extent.widest;
            if (extent.widest > MAX_FILL * extent.cells / extent.rows)
                return 0;
        }
    }
    return !writer->table.columns.is_short && !writer->table.filled.is_short && !writer->table.reach.is_short;
}

/* Leave out columns without ink; how many have text. Pictures beside one column of text only lay it out. */
static int32_t number_columns(Table *table)
{
    int32_t text_columns = 0;
    int32_t *columns = numbers_in(&table->columns);
    int32_t *places = NULL;
    size_t width = table->filled.size;
    table->reach.size = 0;
    table->column_count = 0;
    for (size_t i = 0; i < width; i++) {
        int is_filled = table->filled.bytes[i];
        text_columns += is_filled >= HAS_TEXT;
        if (is_filled && i < table->aligned.size)
            table->aligned.bytes[table->column_count] = table->aligned.bytes[i];
        add_number(&table->reach, is_filled ? table->column_count++ : -1);
    }
    if (table->reach.is_short)
        return 0;
    places = numbers_in(&table->reach);
    for (size_t i = 0; i < count_in(&table->columns); i++)
        columns[i] = places[columns[i]];
    return text_columns;
}

/* Does the first row name the columns? */
static int has_header(const Writer *writer, size_t node)
{
    const Tree *tree = writer->tree;
    size_t row = node + 1;
    while (tree->tag[row] != TAG_tr || !has_ink(writer, row))
        row++;
    if (tree->tag[tree->parent[row]] == TAG_thead)
        return 1;
    for (size_t i = row + 1; i < (size_t)tree->end[row]; i++)
        if (tree->tag[i] == TAG_td && tree->parent[i] == (int32_t)row && has_ink(writer, i))
            return 0;
    return 1;
}

int is_layout(Writer *writer, size_t node)
{
    Bytes role;
    return attribute_value(writer, node, "role", &role) &&
           ((role.size == 12 && memcmp(role.bytes, "presentation", 12) == 0) ||
            (role.size == 4 && memcmp(role.bytes, "none", 4) == 0));
}

int begin_table(Writer *writer, size_t node)
{
    Table *table = &writer->table;
    Extent extent = {0, 0, 0, 0};
    table->columns.size = table->reach.size = table->filled.size = table->aligned.size = 0;
    if (writer->facts[node] & HOLDS_STRUCTURE || !measure(writer, node, &extent))
        return 0;
    if (is_layout(writer, node) || !place_cells(writer, node, extent))
        return 0;
    if (number_columns(table) < 2)
        return 0;
    table->end = writer->tree->end[node];
    table->has_header = (uint8_t)has_header(writer, node);
    table->next_cell = 0;
    table->rows_written = 0;
    return 1;
}

static void put_cells(Writer *writer, int32_t count, const char *cell)
{
    while (count-- > 0)
        put_text(&writer->out, cell);
}

static void write_head_line(Writer *writer)
{
    put_text(&writer->out, "\n");
    put_prefix(writer);
    put_text(&writer->out, "|");
    for (int32_t i = 0; i < writer->table.column_count; i++) {
        uint8_t side = (size_t)i < writer->table.aligned.size ? writer->table.aligned.bytes[i] : 0;
        put_text(&writer->out, side == 'l' ? " :-- |" : side == 'c' ? " :-: |" : side == 'r' ? " --: |" : " --- |");
    }
}

void enter_row(Writer *writer)
{
    Table *table = &writer->table;
    if (!table->rows_written) {
        flush(writer);
        start_block(writer, 't');
        if (!table->has_header) {
            put_text(&writer->out, "|");
            put_cells(writer, table->column_count, "  |");
            write_head_line(writer);
        }
    }
    if (table->rows_written || !table->has_header) {
        put_text(&writer->out, "\n");
        if (table->rows_written)
            note_part(writer, writer->node, PART_ROW);
        put_prefix(writer);
    }
    put_text(&writer->out, "|");
    clear_paragraph(writer);
    table->column = 0;
    table->is_in_row = 1;
}

/* Write the cell that was gathered. */
static void end_cell(Writer *writer)
{
    if (is_blank(&writer->paragraph)) {
        clear_paragraph(writer);
        return;
    }
    end_paragraph(writer);
    put_text(&writer->out, " ");
    write_inline(writer, IN_CELL);
    put_text(&writer->out, " |");
    writer->table.column++;
    clear_paragraph(writer);
}

void enter_cell(Writer *writer)
{
    Table *table = &writer->table;
    if ((size_t)table->next_cell >= count_in(&table->columns))
        return;
    int32_t column = numbers_in(&table->columns)[table->next_cell++];
    end_cell(writer);
    if (column > table->column) {
        put_cells(writer, column - table->column, "  |");
        table->column = column;
    }
}

void end_row(Writer *writer)
{
    Table *table = &writer->table;
    end_cell(writer);
    put_cells(writer, table->column_count - table->column, "  |");
    table->is_in_row = 0;
    if (!table->rows_written++ && table->has_header)
        write_head_line(writer);
}
