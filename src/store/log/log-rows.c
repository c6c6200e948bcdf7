#include "log-rows.h"

#include "macro.h"

#include <string.h>

/* --- The table --- */

static size_t place_of(const struct log_rows *r, uint64_t version)
{
        return (size_t)((version * 0x9e3779b97f4a7c15ull) >> 20) & (r->n_places - 1);
}

static size_t find_place(const struct log_rows *r, uint64_t version)
{
        size_t i = place_of(r, version);

        while (r->p[i].version && r->p[i].version != version)
                i = (i + 1) & (r->n_places - 1);
        return i;
}

struct live_row *log_rows_find(const struct log_rows *r, uint64_t version)
{
        struct live_row *row;

        if (r->n_places == 0 || version == 0)
                return NULL;
        row = &r->p[find_place(r, version)];
        return row->version ? row : NULL;
}

static void grow(struct log_rows *r)
{
        struct live_row *old = r->p;
        size_t n_old = r->n_places;

        r->n_places = n_old ? 2 * n_old : 1024;
        r->p = xcalloc(r->n_places, sizeof(*r->p));
        for (size_t i = 0; i < n_old; i++)
                if (old[i].version)
                        r->p[find_place(r, old[i].version)] = old[i];
        free(old);
}

/* Moves later rows of the same run forward, so that no search meets a gap. */
static void clear_place(struct log_rows *r, size_t i)
{
        size_t mask = r->n_places - 1;

        for (size_t j = (i + 1) & mask; r->p[j].version; j = (j + 1) & mask) {
                size_t home = place_of(r, r->p[j].version);

                if (((j - home) & mask) >= ((j - i) & mask)) {
                        r->p[i] = r->p[j];
                        i = j;
                }
        }
        r->p[i] = (struct live_row) { 0 };
}

void log_rows_done(struct log_rows *r)
{
        free(r->p);
        free(r->costs);
        *r = (struct log_rows) { 0 };
}

/* --- History --- */

static void grow_costs(struct log_rows *r, size_t n)
{
        size_t n_costs = r->n_costs ? r->n_costs : 1024;
        uint32_t *costs;

        while (n_costs < n)
                n_costs *= 2;
        if (n_costs == r->n_costs)
                return;
        costs = xcalloc(n_costs, sizeof(*costs));
        for (uint64_t v = r->floor + 1; r->n_costs && v <= r->version; v++)
                costs[v & (n_costs - 1)] = r->costs[v & (r->n_costs - 1)];
        free(r->costs);
        r->costs = costs;
        r->n_costs = n_costs;
}

static uint32_t cost_of(const struct log_rows *r, uint64_t version)
{
        return r->costs[version & (r->n_costs - 1)];
}

#define EVENT_BYTES 64 /* what an event counts besides the row that it keeps */

static void put_cost(struct log_rows *r, uint64_t version, const struct live_row *older)
{
        uint32_t cost = EVENT_BYTES + (older ? older->size_bytes : 0);

        grow_costs(r, version - r->floor);
        r->costs[version & (r->n_costs - 1)] = cost;
        r->history_bytes += cost;
}

uint64_t log_rows_next_floor(const struct log_rows *r, size_t n, size_t max_events, size_t max_bytes)
{
        uint64_t floor = r->floor;
        size_t n_bytes = r->history_bytes;

        while (floor < r->version && (r->version - floor + n > max_events || n_bytes > max_bytes))
                n_bytes -= cost_of(r, ++floor);
        return floor;
}

/* --- Garbage --- */

static bool is_garbage(const struct log_rows *r, const struct live_row *row)
{
        if (row->version > r->floor)
                return false;
        return row->flags & (ROW_REMOVED | ROW_MARK) || (row->newer && row->newer <= r->floor);
}

bool log_rows_is_needed(const struct log_rows *r, const struct live_row *row)
{
        if (row->flags & ROW_REMOVED && !(row->newer && row->newer <= r->floor))
                return row->older != 0;
        return !is_garbage(r, row);
}

static void count_garbage(struct log_rows *r, const struct live_row *row)
{
        if (is_garbage(r, row))
                r->garbage_bytes += row->size_bytes;
}

static void uncount_garbage(struct log_rows *r, const struct live_row *row)
{
        if (is_garbage(r, row))
                r->garbage_bytes -= row->size_bytes;
}

void log_rows_add(struct log_rows *r, const struct live_row *row)
{
        struct live_row *older;

        if (8 * (r->n + 1) > 7 * r->n_places)
                grow(r);
        r->p[find_place(r, row->version)] = *row;
        r->n++;
        r->total_bytes += row->size_bytes;
        older = log_rows_find(r, row->older);
        if (older) {
                uncount_garbage(r, older);
                older->newer = row->version;
                count_garbage(r, older);
        }
        count_garbage(r, row);
        if (row->version > r->floor)
                put_cost(r, row->version, older);
        r->version = MAX(r->version, row->version);
}

/* One version stops being history: it is the state of its key from now on, and the row before it is garbage. */
static void leave_history(struct log_rows *r, uint64_t version)
{
        struct live_row *row = log_rows_find(r, version), *older = row ? log_rows_find(r, row->older) : NULL;

        if (older)
                uncount_garbage(r, older);
        r->history_bytes -= cost_of(r, version);
        r->floor = version;
        if (older)
                count_garbage(r, older);
        if (row)
                count_garbage(r, row);
}

void log_rows_set_floor(struct log_rows *r, uint64_t floor)
{
        assert(floor <= r->version);
        while (r->floor < floor)
                leave_history(r, r->floor + 1);
}

void log_rows_remove(struct log_rows *r, uint64_t version)
{
        size_t i = find_place(r, version);
        struct live_row row = r->p[i], *older, *newer;

        assert(row.version == version);
        uncount_garbage(r, &row);
        r->total_bytes -= row.size_bytes;
        older = log_rows_find(r, row.older);
        newer = log_rows_find(r, row.newer);
        if (older)
                older->newer = row.newer;
        if (newer)
                newer->older = row.older;
        clear_place(r, i);
        r->n--;
}

void log_rows_resize(struct log_rows *r, uint64_t version, uint32_t size_bytes)
{
        struct live_row *row = log_rows_find(r, version);

        uncount_garbage(r, row);
        r->total_bytes = r->total_bytes - row->size_bytes + size_bytes;
        row->size_bytes = size_bytes;
        count_garbage(r, row);
}
