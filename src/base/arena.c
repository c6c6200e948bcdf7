#include "arena.h"

#include "budget.h"
#include "buf.h"
#include "err.h"
#include "limits.h"

#include <pthread.h>
#include <stdatomic.h>

#if HAS_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(p, n)   ASAN_POISON_MEMORY_REGION((p), (n))
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION((p), (n))
#define REDZONE_BYTES  16
#else
#define POISON(p, n)   ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#define REDZONE_BYTES  0
#endif

/* Blocks come in three recycled sizes: a small first one, so that a tiny request costs little, a medium one, then large ones. A
 * piece that is large for a block gets its own block, which is never recycled. A thread keeps few large blocks: with many threads
 * they add up.
 *
 * Under AddressSanitizer only the allocated pieces of a block are accessible. Its header, the gaps between pieces and the free
 * rest are poisoned; once the arena has released the block, all of it is. */
#define SMALL_BLOCK_BYTES  (4u << 10)
#define MEDIUM_BLOCK_BYTES (16u << 10)
#define LARGE_BLOCK_BYTES  (64u << 10)
#define NEWEST_PINS        8 /* number of pins that arena_has_pinned checks */

static const struct {
        size_t size_bytes;
        size_t n_kept; /* of one thread */
} block_classes[] = {
        { SMALL_BLOCK_BYTES, LIMIT_ARENA_CACHE_BLOCKS },
        { MEDIUM_BLOCK_BYTES, LIMIT_ARENA_CACHE_BLOCKS / 4 },
        { LARGE_BLOCK_BYTES, LIMIT_ARENA_CACHE_BLOCKS / 16 },
};

struct arena_block {
        struct arena_block *older;
        size_t size_bytes; /* this header included */
};

struct arena_pin {
        struct arena_pin *older;
        void *object;
        void (*unref)(void *object);
};

/* Home: one per thread, freed by the key's destructor when the thread ends. */
struct block_cache {
        struct arena_block *blocks[ARRAY_SIZE(block_classes)];
        size_t n[ARRAY_SIZE(block_classes)];
};

/* Blocks on their way from threads that have too many to threads that have none: a request begins on one thread and ends on
 * another. The mutex guards it. It stays until the end of the process. */
static struct {
        pthread_mutex_t mutex;
        struct block_cache blocks;
} depot = { .mutex = PTHREAD_MUTEX_INITIALIZER };

static _Atomic int debug_mode = -1; /* -1: the environment has not been read yet */
static pthread_key_t cache_key;
static pthread_once_t cache_once = PTHREAD_ONCE_INIT;
static __thread struct block_cache *cache;

static bool is_debug(void)
{
        int mode = atomic_load_explicit(&debug_mode, memory_order_relaxed);

        if (UNLIKELY(mode < 0)) {
                const char *wanted = getenv("WEFT_ARENA_DEBUG");

                mode = wanted && strcmp(wanted, "1") == 0;
                atomic_store_explicit(&debug_mode, mode, memory_order_relaxed);
        }
        return mode;
}

void arena_set_debug(bool on)
{
        atomic_store_explicit(&debug_mode, on, memory_order_relaxed);
}

static void free_block(struct arena_block *b)
{
        UNPOISON(b, b->size_bytes);
        free(b);
}

/* NULL if there is none. */
static struct arena_block *pop_block(struct block_cache *c, int size_class)
{
        struct arena_block *b = c->blocks[size_class];

        if (!b)
                return NULL;
        UNPOISON(b, sizeof(*b));
        c->blocks[size_class] = b->older;
        c->n[size_class]--;
        return b;
}

static void push_block(struct block_cache *c, int size_class, struct arena_block *b)
{
        b->older = c->blocks[size_class];
        c->blocks[size_class] = b;
        c->n[size_class]++;
        POISON(b + 1, b->size_bytes - sizeof(*b)); /* the leak checker must be able to follow the list */
}

static void empty_cache(struct block_cache *c)
{
        struct arena_block *b;

        for (int i = 0; i < (int)ARRAY_SIZE(c->blocks); i++)
                while ((b = pop_block(c, i)))
                        free_block(b);
}

static void end_cache(void *p)
{
        empty_cache(p);
        free(p);
        cache = NULL;
}

static void make_cache_key(void)
{
        int r = pthread_key_create(&cache_key, end_cache);

        assert(r == 0);
}

static struct block_cache *get_cache(void)
{
        if (UNLIKELY(!cache)) {
                pthread_once(&cache_once, make_cache_key);
                cache = xcalloc(1, sizeof(*cache));
                pthread_setspecific(cache_key, cache);
        }
        return cache;
}

void arena_trim_cache(void)
{
        if (!cache)
                return;
        pthread_setspecific(cache_key, NULL);
        end_cache(cache);
}

/* The cache list a block size belongs to, or -1 for sizes that are not recycled. */
static int cache_class(size_t size_bytes)
{
        for (size_t i = 0; i < ARRAY_SIZE(block_classes); i++)
                if (size_bytes == block_classes[i].size_bytes)
                        return (int)i;
        return -1;
}

/* Moves blocks until one side has none or the other has n. */
static void move_blocks(struct block_cache *from, struct block_cache *to, int size_class, size_t n)
{
        while (from->blocks[size_class] && to->n[size_class] < n)
                push_block(to, size_class, pop_block(from, size_class));
}

/* About half of what a thread keeps is moved at once, so that the mutex is taken rarely. While another thread has it, malloc serves:
 * no thread waits, and neither does a process that was forked meanwhile. */
static void fetch_blocks(struct block_cache *c, int size_class)
{
        if (pthread_mutex_trylock(&depot.mutex) != 0)
                return;
        move_blocks(&depot.blocks, c, size_class, (block_classes[size_class].n_kept + 1) / 2);
        pthread_mutex_unlock(&depot.mutex);
}

static void bring_blocks(struct block_cache *c, int size_class)
{
        size_t n_kept = block_classes[size_class].n_kept;

        if (pthread_mutex_trylock(&depot.mutex) != 0)
                return;
        move_blocks(c, &depot.blocks, size_class,
                    MIN(depot.blocks.n[size_class] + (n_kept + 1) / 2, LIMIT_ARENA_DEPOT * n_kept));
        pthread_mutex_unlock(&depot.mutex);
}

static struct arena_block *take_block(size_t size_bytes)
{
        int size_class = cache_class(size_bytes);
        struct arena_block *b = NULL;

        if (size_class >= 0) {
                struct block_cache *c = get_cache();

                if (!c->blocks[size_class])
                        fetch_blocks(c, size_class);
                b = pop_block(c, size_class);
        }
        if (!b) {
                b = xmalloc(size_bytes);
                b->size_bytes = size_bytes;
        }
        return b;
}

static void give_block(struct arena_block *b)
{
        int size_class = cache_class(b->size_bytes);
        struct block_cache *c = size_class >= 0 ? get_cache() : NULL;
        size_t n_kept;

        if (!c) {
                free_block(b);
                return;
        }
        n_kept = block_classes[size_class].n_kept;
        if (c->n[size_class] >= n_kept)
                bring_blocks(c, size_class);
        if (c->n[size_class] < n_kept)
                push_block(c, size_class, b);
        else
                free_block(b);
}

void arena_init(struct arena *a, const char *name, size_t budget_bytes)
{
        *a = (struct arena) { .name = name, .budget_bytes = budget_bytes, .has_own_pieces = is_debug() };
}

void arena_init_pieces(struct arena *a, const char *name, size_t budget_bytes)
{
        arena_init(a, name, budget_bytes);
        a->has_own_pieces = true;
}

void arena_set_account(struct arena *a, struct budget_account *account)
{
        a->account = account;
}

bool arena_reserve(struct arena *a, size_t bytes)
{
        struct budget_account *account = a->account;
        size_t taken = a->used_bytes + a->pinned_bytes;

        if (a->budget_bytes && (taken > a->budget_bytes || bytes > a->budget_bytes - taken))
                a->is_over_budget = true;
        if (account && bytes > account->credit_bytes && !budget_reserve(account, bytes - account->credit_bytes)) {
                account->has_refused = true;
                a->is_over_budget = true;
        }
        return !a->is_over_budget;
}

void arena_done(struct arena *a)
{
        while (a->pins) {
                struct arena_pin *pin = a->pins;

                a->pins = pin->older;
                pin->unref(pin->object);
        }
        while (a->blocks) {
                struct arena_block *b = a->blocks;

                UNPOISON(b, sizeof(*b));
                a->blocks = b->older;
                give_block(b);
        }
        a->next = a->end = NULL;
        a->used_bytes = a->edited_bytes = a->filled_items = a->pinned_bytes = 0;
        a->is_over_budget = false;
}

void arena_reset(struct arena *a)
{
        arena_done(a);
        a->has_own_pieces = is_debug();
}

static void check_budget(struct arena *a)
{
        if (a->budget_bytes && a->used_bytes + a->pinned_bytes > a->budget_bytes)
                a->is_over_budget = true;
}

static void add_block(struct arena *a, struct arena_block *b)
{
        b->older = a->blocks;
        a->blocks = b;
        a->used_bytes += b->size_bytes;
        check_budget(a);
        if (a->account && !budget_force(a->account, b->size_bytes))
                a->is_over_budget = true;
}

static char *align_up(char *p, size_t align)
{
        return p + (-(uintptr_t)p & (align - 1));
}

/* A block for a single piece. It ends where the piece ends, so that memory checkers see an overrun. The arena goes on filling
 * its current block. */
static void *alloc_own_block(struct arena *a, size_t size_bytes, size_t align)
{
        size_t padding = align > sizeof(struct arena_block) ? align : 0, total;
        struct arena_block *b;
        char *p;

        if (!size_add(size_bytes, sizeof(*b) + padding, &total))
                total = SIZE_MAX; /* xmalloc ends the process with a message */
        if (cache_class(total) >= 0)
                total++; /* avoids a size that is recycled */
        b = xmalloc(total);
        b->size_bytes = total;
        add_block(a, b);
        p = align_up((char *)(b + 1), align);
        POISON(b, total);
        UNPOISON(p, size_bytes);
        return p;
}

/* The first block is small, the next one medium, all others are large. Blocks are small again if a larger one would go over a budget
 * that has room left. */
static size_t next_block_bytes(const struct arena *a)
{
        size_t left = a->budget_bytes - MIN(a->used_bytes + a->pinned_bytes, a->budget_bytes);
        size_t wanted = a->used_bytes < MEDIUM_BLOCK_BYTES ? MEDIUM_BLOCK_BYTES : LARGE_BLOCK_BYTES;

        return !a->blocks || (a->budget_bytes && left < wanted) ? SMALL_BLOCK_BYTES : wanted;
}

static void start_block(struct arena *a, size_t size_bytes)
{
        struct arena_block *b = take_block(size_bytes);

        add_block(a, b);
        a->next = (char *)(b + 1);
        a->end = (char *)b + b->size_bytes;
        POISON(b, b->size_bytes);
}

static bool fits(const struct arena *a, size_t size_bytes, size_t align)
{
        char *p;

        if (!a->next)
                return false;
        p = align_up(a->next, align);
        return p + REDZONE_BYTES <= a->end && size_bytes <= (size_t)(a->end - p) - REDZONE_BYTES;
}

/* True if the piece is large for the next block, or if a new block would waste much free room in the current one. */
static bool deserves_own_block(const struct arena *a, size_t size_bytes, size_t align)
{
        size_t most = next_block_bytes(a) / 4;

        if (align > most || size_bytes > most)
                return true;
        return size_bytes > SMALL_BLOCK_BYTES / 4 && a->next && (size_t)(a->end - a->next) > SMALL_BLOCK_BYTES;
}

void *arena_alloc_slow(struct arena *a, size_t size_bytes, size_t align)
{
        char *p;

        assert(align > 0 && (align & (align - 1)) == 0);
        if (a->has_own_pieces)
                return alloc_own_block(a, size_bytes, align);
        if (!fits(a, size_bytes, align)) {
                if (deserves_own_block(a, size_bytes, align))
                        return alloc_own_block(a, size_bytes, align);
                start_block(a, next_block_bytes(a));
        }
        p = align_up(a->next, align);
        a->next = p + size_bytes + REDZONE_BYTES;
        UNPOISON(p, size_bytes);
        return p;
}

void *arena_zalloc(struct arena *a, size_t size_bytes)
{
        return memset(arena_alloc(a, size_bytes), 0, size_bytes);
}

void *arena_alloc_array(struct arena *a, size_t count, size_t size_bytes)
{
        size_t total;

        if (!size_mul(count, size_bytes, &total))
                total = SIZE_MAX / 2; /* ends the process with a message */
        return arena_zalloc(a, total);
}

void arena_shrink(struct arena *a, void *p, size_t old_bytes, size_t new_bytes)
{
        assert(new_bytes <= old_bytes);
        if (a->next != (char *)p + old_bytes + REDZONE_BYTES)
                return;
        POISON((char *)p + new_bytes, old_bytes - new_bytes);
        a->next = (char *)p + new_bytes + REDZONE_BYTES;
}

char *arena_cstring(struct arena *a, struct str s)
{
        char *p = arena_alloc_aligned(a, s.n + 1, 1);

        if (s.n)
                memcpy(p, s.p, s.n);
        p[s.n] = '\0';
        return p;
}

struct str arena_copy(struct arena *a, struct str s)
{
        return str_make(arena_cstring(a, s), s.n);
}

struct str arena_vprintf(struct arena *a, const char *format, va_list arguments)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_appendv(&b, format, arguments);
        return buf_to_arena(&b, a);
}

struct str arena_printf(struct arena *a, const char *format, ...)
{
        va_list arguments;
        struct str text;

        va_start(arguments, format);
        text = arena_vprintf(a, format, arguments);
        va_end(arguments);
        return text;
}

struct str arena_concat(struct arena *a, const struct str *texts, size_t n)
{
        size_t n_bytes = 0;
        char *p, *end;

        for (size_t i = 0; i < n; i++)
                if (__builtin_add_overflow(n_bytes, texts[i].n, &n_bytes))
                        abort();
        p = end = arena_alloc_aligned(a, n_bytes + 1, 1);
        for (size_t i = 0; i < n; i++)
                if (texts[i].n)
                        end = mempcpy(end, texts[i].p, texts[i].n);
        *end = '\0';
        return str_make(p, n_bytes);
}

void arena_pin(struct arena *a, void *object, void (*unref)(void *object))
{
        struct arena_pin *pin = arena_alloc(a, sizeof(*pin));

        *pin = (struct arena_pin) { .older = a->pins, .object = object, .unref = unref };
        a->pins = pin;
}

bool arena_has_pinned(const struct arena *a, const void *object)
{
        const struct arena_pin *pin = a->pins;

        for (int i = 0; pin && i < NEWEST_PINS; i++, pin = pin->older)
                if (pin->object == object)
                        return true;
        return false;
}

void arena_charge(struct arena *a, size_t size_bytes)
{
        a->pinned_bytes += size_bytes;
        check_budget(a);
}

int arena_check(const struct arena *a, struct err *err)
{
        if (LIKELY(!a->is_over_budget))
                return 0;
        if (a->account && a->account->has_refused)
                return err_set(err, ERR_LIMIT,
                               "%s memory limit exceeded: %zu bytes do not fit into the %zu bytes of all", a->name,
                               a->used_bytes, a->account->budget->max_bytes);
        return err_set(err, ERR_LIMIT, "%s memory limit of %zu bytes exceeded", a->name, a->budget_bytes);
}
