/* The tables of a sheet: data as an even grid, layout as blocks. The twin of `dehusk.render.tables`,
   which says why. */

#include "sheet.h"

#define MAX_CELL_LENGTH 1000 /* `tables._MAX_CELL_LENGTH`. */
#define MAX_FILL 8           /* `tables._MAX_FILL`. */
#define NO_CELL (-1)

/* One table: its rows and cells, and the cells by row and column. */
typedef struct {
    int32_t node;
    const int32_t *rows, *cells;
    const int32_t *first_cells; /* By row, its first place in `cells`; one more than rows. */
    size_t row_count, cell_count;
    Buffer places; /* Numbers, row behind row: a cell or NO_CELL. */
    Buffer ends;   /* By row, the place behind its last one. */
    Buffer reach;  /* By column, the row behind the last one that a cell reaches down to. */
    size_t widest;
    Buffer filled; /* By column, whether a cell of it has ink. */
    size_t columns; /* How many have. */
} Grid;

static int32_t number_at(const Buffer *numbers, size_t place)
{
    int32_t number;
    memcpy(&number, numbers->bytes + place * sizeof(number), sizeof(number));
    return number;
}

static size_t count_in(const Buffer *numbers)
{
    return numbers->size / sizeof(int32_t);
}

static void add_number(Buffer *numbers, int32_t number)
{
    put(numbers, &number, sizeof(number));
}

static void free_grid(Grid *grid)
{
    free(grid->places.bytes);
    free(grid->ends.bytes);
    free(grid->reach.bytes);
    free(grid->filled.bytes);
}

/* --- cells by row and column --- */

/* How many rows or columns a cell takes. */
static size_t span_of(Sheet *sheet, size_t cell, const char *name)
{
    Bytes value;
    size_t number = 0;
    if (!attribute_of(sheet, cell, name, &value) || value.size < 1 || value.size > 4)
        return 1;
    for (size_t i = 0; i < value.size; i++) {
        if (value.bytes[i] < '0' || value.bytes[i] > '9')
            return 1;
        number = 10 * number + (value.bytes[i] - '0');
    }
    return number ? number : 1;
}

/* Let a cell reach down from its columns to a row. */
static void reach_down(Grid *grid, size_t column, size_t wide, int32_t row)
{
    while (count_in(&grid->reach) < column + wide && !grid->reach.is_short)
        add_number(&grid->reach, 0);
    for (size_t i = column; i < column + wide && !grid->reach.is_short; i++)
        memcpy(grid->reach.bytes + i * sizeof(row), &row, sizeof(row));
}

/* Put one row's cells into their columns. */
static void place_row(Sheet *sheet, Grid *grid, size_t row)
{
    size_t first = count_in(&grid->places), column = 0;
    for (int32_t i = grid->first_cells[row]; i < grid->first_cells[row + 1]; i++) {
        size_t cell = (size_t)grid->cells[i], deep = 1, wide = 1;
        while (column < count_in(&grid->reach) && number_at(&grid->reach, column) > (int32_t)row) {
            add_number(&grid->places, NO_CELL);
            column++;
        }
        if (sheet->page.stop[cell] - sheet->page.start[cell] > (int32_t)strlen("<td>")) {
            size_t left = grid->widest > column ? grid->widest - column : 1;
            deep = span_of(sheet, cell, "rowspan");
            wide = span_of(sheet, cell, "colspan");
            wide = wide < left ? wide : left;
        }
        if (deep > 1)
            reach_down(grid, column, wide, (int32_t)(row + deep));
        add_number(&grid->places, (int32_t)cell);
        for (column++; wide > 1; wide--, column++)
            add_number(&grid->places, NO_CELL);
    }
    add_number(&grid->ends, (int32_t)count_in(&grid->places));
    size_t width = count_in(&grid->places) - first;
    grid->widest = width > grid->widest ? width : grid->widest;
}

/* Put all cells into their columns; 0 if the even grid would have too many places. */
static int place_cells(Sheet *sheet, Grid *grid)
{
    for (size_t row = 0; row < grid->row_count; row++) {
        size_t width = (size_t)(grid->first_cells[row + 1] - grid->first_cells[row]);
        grid->widest = width > grid->widest ? width : grid->widest;
    }
    for (size_t row = 0; row < grid->row_count; row++) {
        place_row(sheet, grid, row);
        if (grid->widest > MAX_FILL * grid->cell_count / grid->row_count)
            return 0;
    }
    return 1;
}

/* Find the columns in which any cell has ink. */
static void find_filled(const Sheet *sheet, Grid *grid)
{
    uint8_t *filled = room_in(&grid->filled, grid->widest);
    if (!filled || grid->places.is_short || grid->ends.is_short)
        return;
    memset(filled, 0, grid->widest);
    for (size_t row = 0, place = 0; row < grid->row_count; row++)
        for (size_t column = 0; place < (size_t)number_at(&grid->ends, row); place++, column++) {
            int32_t cell = number_at(&grid->places, place);
            if (cell >= 0 && sheet->found.inked[cell])
                filled[column] = 1;
        }
    for (size_t column = 0; column < grid->widest; column++)
        grid->columns += filled[column];
}

/* Is the table one of data? -1 with an exception set. */
static int is_data(Sheet *sheet, Grid *grid)
{
    Bytes role;
    if (grid->row_count < 2 || grid->cell_count < 3)
        return 0;
    for (size_t i = 0; i < grid->cell_count; i++)
        if (sheet->page.text_length[grid->cells[i]] > MAX_CELL_LENGTH)
            return 0;
    if (attribute_of(sheet, (size_t)grid->node, "role", &role) &&
        ((role.size == 12 && memcmp(role.bytes, "presentation", 12) == 0) ||
         (role.size == 4 && memcmp(role.bytes, "none", 4) == 0)))
        return 0;
    if (!place_cells(sheet, grid))
        return 0;
    find_filled(sheet, grid);
    if (grid->places.is_short || grid->ends.is_short || grid->reach.is_short || grid->filled.is_short) {
        PyErr_NoMemory();
        return -1;
    }
    return grid->columns >= 2;
}

/* --- the sheet made as even --- */

/* The cell of a row at a place, NO_CELL where there is none. */
static int32_t cell_at(const Grid *grid, size_t row, size_t column)
{
    size_t first = row ? (size_t)number_at(&grid->ends, row - 1) : 0;
    size_t place = first + column;
    return place < (size_t)number_at(&grid->ends, row) ? number_at(&grid->places, place) : NO_CELL;
}

/* Are the cells of a row all that its even row has, in their order? */
static int is_even(const Grid *grid, size_t row)
{
    int32_t next = grid->first_cells[row], end = grid->first_cells[row + 1];
    for (size_t column = 0; column < grid->widest; column++) {
        if (!grid->filled.bytes[column])
            continue;
        int32_t cell = cell_at(grid, row, column);
        if (next == end || cell != grid->cells[next++])
            return 0;
    }
    return next == end;
}

static int even_row(Sheet *sheet, const Grid *grid, size_t row)
{
    for (int32_t i = grid->first_cells[row]; i < grid->first_cells[row + 1]; i++)
        detach(sheet, grid->cells[i]);
    for (size_t column = 0; column < grid->widest; column++) {
        if (!grid->filled.bytes[column])
            continue;
        int32_t cell = cell_at(grid, row, column);
        if (cell == NO_CELL)
            cell = new_element(sheet, NAME_TD);
        if (cell < 0)
            return 0;
        attach(sheet, cell, grid->rows[row], -1);
    }
    return 1;
}

/* Does the first row name the columns? */
static int has_header(const Sheet *sheet, const Grid *grid)
{
    size_t row = (size_t)grid->rows[0];
    if (kind_of(sheet, (size_t)sheet->page.parent[row]) & IS_HEAD)
        return 1;
    for (size_t column = 0; column < grid->widest; column++) {
        int32_t cell = grid->filled.bytes[column] ? cell_at(grid, 0, column) : NO_CELL;
        if (cell >= 0 && sheet->found.inked[cell] && !(kind_of(sheet, (size_t)cell) & IS_HEADER_CELL))
            return 0;
    }
    return 1;
}

static int write_grid(Sheet *sheet, const Grid *grid)
{
    for (size_t row = 0; row < grid->row_count; row++)
        if (!is_even(grid, row) && !even_row(sheet, grid, row))
            return 0;
    if (has_header(sheet, grid))
        return 1;
    int32_t empty = new_element(sheet, NAME_TR);
    if (empty < 0)
        return 0;
    insert_before(sheet, empty, grid->rows[0]);
    for (size_t i = 0; i < grid->columns; i++) {
        int32_t cell = new_element(sheet, NAME_TH);
        if (cell < 0)
            return 0;
        attach(sheet, cell, empty, -1);
    }
    return 1;
}

/* --- tables --- */

/* The table that each kept part belongs to, -1 for none; those without one become blocks. */
static void find_owners(Sheet *sheet, int32_t *owner)
{
    for (size_t i = 0; i < sheet->page.count; i++) {
        uint32_t kind = kept_kind(sheet, i);
        owner[i] = -1;
        if (kind & IS_TABLE)
            owner[i] = (int32_t)i;
        else if (kind & IS_PART && sheet->page.parent[i] >= 0)
            owner[i] = owner[sheet->page.parent[i]];
    }
}

/* Shape one table that holds no structure: 1 if it is data, 0 if not, or -1 with an exception set. */
static int shape_table(Sheet *sheet, size_t table, const int32_t *owner, int32_t *room)
{
    size_t end = (size_t)sheet->page.end[table];
    int32_t *rows = room, *first_cells = room + (end - table), *cells = first_cells + (end - table);
    Grid grid = {.node = (int32_t)table, .rows = rows, .cells = cells, .first_cells = first_cells};
    for (size_t i = table + 1; i < end; i++) {
        uint32_t kind = kept_kind(sheet, i);
        if (owner[i] != (int32_t)table)
            continue;
        if (kind & IS_ROW) {
            first_cells[grid.row_count] = (int32_t)grid.cell_count;
            rows[grid.row_count++] = (int32_t)i;
        } else if (kind & IS_CELL && grid.row_count &&
                   sheet->page.parent[i] == rows[grid.row_count - 1]) {
            cells[grid.cell_count++] = (int32_t)i;
        } else if (kind & IS_CELL) {
            sheet->is_refused = 1; /* No parser puts a cell elsewhere. */
        }
    }
    first_cells[grid.row_count] = (int32_t)grid.cell_count;
    int answer = is_data(sheet, &grid);
    if (answer > 0 && !write_grid(sheet, &grid))
        answer = -1;
    free_grid(&grid);
    return answer;
}

/* Leave nothing but inline elements in the cells of data, and a break where a line began. */
static int flatten_cells(Sheet *sheet)
{
    const DraftPage *page = &sheet->page;
    int32_t reach = 0, begun = 0, begun_before = 0; /* Cells and breaks so far. */
    for (size_t i = 0, text = 0; i < page->count; i++) {
        uint32_t kind = kind_of(sheet, i);
        if (sheet->in_data[i] && sheet->found.kept[i] && kind & IS_BLOCK &&
            !(kind & (IS_TABLE | IS_PART)))
            rename_item(sheet, i, NAME_SPAN);
        begun += (kind & (IS_CELL | IS_BREAK)) != 0;
        if (kind & IS_CELL && page->end[i] > reach)
            reach = page->end[i];
        if (text == sheet->found.texts || (size_t)sheet->found.nodes[text] != i)
            continue;
        int is_missing = sheet->found.is_line[text] && sheet->in_data[i] && (int32_t)i < reach &&
                         begun == begun_before;
        begun_before = begun;
        if (text++ && is_missing) {
            int32_t before = sheet->found.nodes[text - 2], node = (int32_t)i;
            while (page->parent[node] > before &&
                   !(kind_of(sheet, (size_t)page->parent[node]) & IS_BLOCK))
                node = page->parent[node];
            int32_t line = new_element(sheet, NAME_BR);
            if (line < 0)
                return 0;
            insert_before(sheet, line, node);
        }
    }
    return 1;
}

int shape_tables(Sheet *sheet)
{
    const DraftPage *page = &sheet->page;
    int32_t *owner = sheet->numbers, *room = owner + page->count;
    size_t reach = 0, last_structure = page->count;
    memset(sheet->in_data, 0, page->count);
    if (!(sheet->present & (IS_TABLE | IS_PART)))
        return 1;
    find_owners(sheet, owner);
    /* From the last node on, so that the next structure behind each table is known. */
    for (size_t i = page->count; i-- > 0;) {
        uint32_t kind = kept_kind(sheet, i);
        if (kind & IS_TABLE && last_structure >= (size_t)page->end[i]) {
            int answer = shape_table(sheet, i, owner, room);
            if (answer < 0)
                return 0;
            sheet->in_data[i] = (uint8_t)answer;
        }
        if (kind & IS_STRUCTURE)
            last_structure = i;
    }
    for (size_t i = 0; i < page->count; i++) {
        if (kept_kind(sheet, i) & (IS_TABLE | IS_PART) && (owner[i] < 0 || !sheet->in_data[owner[i]]))
            rename_item(sheet, i, NAME_DIV);
        if (sheet->in_data[i])
            reach = (size_t)page->end[i];
        sheet->in_data[i] = i < reach;
    }
    return flatten_cells(sheet);
}
