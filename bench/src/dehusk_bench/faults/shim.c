/* Stands between a process and its disk: counts what it does to the files of one folder, and at one
   call does something else. Loaded with LD_PRELOAD; does nothing before `faults_begin`.

   With a log it also writes down every change, so that the state of a disk after a power cut can be
   made from it (see power.py). A record is a line `KIND path_bytes a b data_bytes`, the path and the
   data behind it:
       W path offset length   bytes written          T path length      cut or grown
       C path                 made                   S path             synced
       R path                 renamed to the data    U path             taken away */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { NOTHING, KILL, TEAR, FAIL };
enum { FILES = 1024 };

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

static char folder[PATH_MAX];
static char *paths[FILES];
static long calls, at, allocations, refused;
static int action, error, log_file = -1;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

void faults_begin(const char *below, long call, int what, int number, int log)
{
    snprintf(folder, sizeof folder, "%s", below);
    calls = 0, at = call, action = what, error = number, log_file = log;
}

void faults_end(void) { folder[0] = 0, refused = 0; }
long faults_calls(void) { return calls; }
void faults_refuse(long number) { allocations = 0, refused = number; }
long faults_allocations(void) { return allocations; }

static int is_ours(const char *path)
{
    size_t length = strlen(folder);
    const char *end = path ? strrchr(path, '-') : NULL;
    if (!length || !path || strncmp(path, folder, length))
        return 0;
    /* The index of SQLite's log is memory that processes share, and no lock is data. */
    return !(end && (!strcmp(end, "-shm") || !strcmp(end, "-lock")));
}

static void note(char kind, const char *path, long a, long b, const void *data, size_t length)
{
    char line[64];
    if (log_file < 0)
        return;
    __typeof__(&write) put = REAL(write);
    int size = snprintf(line, sizeof line, "%c %zu %ld %ld %zu\n", kind, strlen(path), a, b, length);
    if (put(log_file, line, size) < 0 || put(log_file, path, strlen(path)) < 0 ||
        (length && put(log_file, data, length) < 0))
        abort();
}

/* True where this call is the one to go wrong; does not return where the process ends at it. */
static int is_fault(int is_write)
{
    if (++calls != at || action == NOTHING)
        return 0;
    if (action == KILL || (action == TEAR && !is_write))
        kill(getpid(), SIGKILL);
    errno = error;
    return 1;
}

static void opened(int file, const char *path, int is_new)
{
    if (file < 0 || file >= FILES || !is_ours(path))
        return;
    paths[file] = strdup(path);
    if (is_new)
        note('C', path, 0, 0, NULL, 0);
}

static int open_file(const char *path, int flags, mode_t mode)
{
    struct stat found;
    int is_new = is_ours(path) && (flags & O_CREAT) && stat(path, &found) != 0;
    if (is_ours(path) && (flags & (O_CREAT | O_TRUNC)) && is_fault(0))
        return -1;
    int file = REAL(open)(path, flags, mode);
    opened(file, path, is_new);
    if (file >= 0 && !is_new && is_ours(path) && (flags & O_TRUNC))
        note('T', path, 0, 0, NULL, 0);
    return file;
}

#define OPEN(name)                                     \
    int name(const char *path, int flags, ...)         \
    {                                                  \
        va_list more;                                  \
        va_start(more, flags);                         \
        mode_t mode = (flags & O_CREAT) ? va_arg(more, mode_t) : 0; \
        va_end(more);                                  \
        return open_file(path, flags, mode);           \
    }
OPEN(open)
OPEN(open64)
int __open_2(const char *path, int flags) { return open_file(path, flags, 0); }
int __open64_2(const char *path, int flags) { return open_file(path, flags, 0); }

int close(int file)
{
    if (file >= 0 && file < FILES && paths[file]) {
        free(paths[file]);
        paths[file] = NULL;
    }
    return REAL(close)(file);
}

static const char *path_of(int file)
{
    return folder[0] && file >= 0 && file < FILES ? paths[file] : NULL;
}

/* How much of a write is done before the process ends: half of it, where it is torn. */
static ssize_t written(int file, const void *data, size_t length, off_t offset)
{
    const char *path = path_of(file);
    if (is_fault(1)) {
        if (action != TEAR)
            return -1;
        if (REAL(pwrite)(file, data, length / 2, offset) >= 0)
            kill(getpid(), SIGKILL);
    }
    ssize_t done = REAL(pwrite)(file, data, length, offset);
    if (done > 0)
        note('W', path, offset, done, data, done);
    return done;
}

ssize_t pwrite(int file, const void *data, size_t length, off_t offset)
{
    return path_of(file) ? written(file, data, length, offset)
                         : REAL(pwrite)(file, data, length, offset);
}

ssize_t pwrite64(int file, const void *data, size_t length, off_t offset)
{
    return pwrite(file, data, length, offset);
}

ssize_t write(int file, const void *data, size_t length)
{
    if (!path_of(file))
        return REAL(write)(file, data, length);
    int is_appending = fcntl(file, F_GETFL) & O_APPEND;
    off_t offset = lseek(file, 0, is_appending ? SEEK_END : SEEK_CUR);
    ssize_t done = written(file, data, length, offset);
    if (done > 0)
        lseek(file, offset + done, SEEK_SET);
    return done;
}

#define SYNC(name)                                     \
    int name(int file)                                 \
    {                                                  \
        const char *path = path_of(file);              \
        if (path && is_fault(0))                        \
            return -1;                                 \
        int done = REAL(name)(file);                   \
        if (path && done == 0)                         \
            note('S', path, 0, 0, NULL, 0);            \
        return done;                                   \
    }
SYNC(fsync)
SYNC(fdatasync)

#define CUT(name)                                      \
    int name(int file, off_t length)                   \
    {                                                  \
        const char *path = path_of(file);              \
        if (path && is_fault(0))                        \
            return -1;                                 \
        int done = REAL(ftruncate)(file, length);      \
        if (path && done == 0)                         \
            note('T', path, length, 0, NULL, 0);       \
        return done;                                   \
    }
CUT(ftruncate)
CUT(ftruncate64)

int rename(const char *path, const char *target)
{
    if (is_ours(path) && is_fault(0))
        return -1;
    int done = REAL(rename)(path, target);
    if (done == 0 && is_ours(path))
        note('R', path, 0, 0, target, strlen(target));
    return done;
}

int unlink(const char *path)
{
    if (is_ours(path) && is_fault(0))
        return -1;
    int done = REAL(unlink)(path);
    if (done == 0 && is_ours(path))
        note('U', path, 0, 0, NULL, 0);
    return done;
}

static int is_refused(void) { return refused && ++allocations == refused; }

void *malloc(size_t size) { return is_refused() ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return is_refused() ? NULL : __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return is_refused() ? NULL : __libc_realloc(old, size); }
