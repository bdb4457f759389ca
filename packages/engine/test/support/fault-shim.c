/*
 * Fails the k-th call that changes files, to see what is left. Preloaded into a process it counts the calls of
 * libc that change something below the given directories; at chosen numbers it kills or stops the process, writes
 * half and kills it, or returns an error.
 *
 *   BELAY_FAULT_BELOW   directories, separated by ":"
 *   BELAY_FAULTS        "number how", separated by ","; numbers from 1; how: "kill" or "stop" (before the call),
 *                       "torn" (half a write, then kill), "half" (half a write, told as such), or an error number;
 *                       with a "+" at this call and all later
 *   BELAY_FAULT_LOG     a file that gets a line for each call counted
 *   BELAY_FAULT_CONTROL instead of BELAY_FAULTS: a file of one page that may be rewritten at any time: the count,
 *                       eight bytes, then the faults
 *
 * Names below a descriptor (/proc/self/fd/N/name) count as what they lead to. Child processes are not affected.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *below;
static const char *faults;
static int log_fd = -1;
static atomic_long own_count;
static atomic_long *count = &own_count;

__attribute__((constructor)) static void start(void) {
  const char *log = getenv("BELAY_FAULT_LOG");
  below = getenv("BELAY_FAULT_BELOW");
  faults = getenv("BELAY_FAULTS");
  if (log) log_fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const char *control = getenv("BELAY_FAULT_CONTROL");
  if (control) {
    int fd = (int)syscall(SYS_openat, AT_FDCWD, control, O_RDWR | O_CLOEXEC, 0);
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED) abort();
    count = (atomic_long *)page;
    faults = page + sizeof(atomic_long);
  }
  unsetenv("LD_PRELOAD");
}

static int is_below(const char *path) {
  for (const char *start = below; start && *start;) {
    const char *end = strchrnul(start, ':');
    size_t length = (size_t)(end - start);
    if (strncmp(path, start, length) == 0 && (path[length] == '/' || path[length] == 0)) return 1;
    start = *end ? end + 1 : end;
  }
  return 0;
}

/* Where a descriptor leads to; an empty string for pipes and the like. */
static void path_of(int fd, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  path[length < 0 ? 0 : length] = 0;
}

/* A path as it is without the descriptor it may go through. */
static void resolve(int directory, const char *given, char *path) {
  int fd, used = 0;
  if (sscanf(given, "/proc/self/fd/%d%n", &fd, &used) == 1) {
    path_of(fd, path);
    strncat(path, given + used, PATH_MAX - strlen(path) - 1);
  } else if (given[0] != '/' && directory != AT_FDCWD) {
    path_of(directory, path);
    strncat(path, "/", PATH_MAX - strlen(path) - 1);
    strncat(path, given, PATH_MAX - strlen(path) - 1);
  } else {
    strncpy(path, given, PATH_MAX - 1);
    path[PATH_MAX - 1] = 0;
  }
}

static void die(void) {
  syscall(SYS_kill, getpid(), SIGKILL);
  for (;;) pause();
}

/* Not to be taken for a process that was killed on purpose. */
static void misunderstood(void) {
  char line[200];
  int length = snprintf(line, sizeof line, "shim: what is this fault: %.100s\n", faults);
  syscall(SYS_write, STDERR_FILENO, line, (size_t)length);
  abort();
}

/* What is to happen at a call: "" for nothing. */
static const char *fault_at(long number) {
  for (const char *fault = faults; fault && *fault;) {
    char *how;
    long first = strtol(fault, &how, 10);
    fault = strchrnul(fault, ',');
    if (first == number || (first < number && fault[-1] == '+')) return how + 1;
    if (*fault) fault += 1;
  }
  return "";
}

/* One line, whatever is in the name. */
static void note(const char *name, const char *path) {
  char line[PATH_MAX + 64];
  int length = snprintf(line, sizeof line, "%s %s\n", name, path);
  for (int i = 0; i < length - 1; i += 1) if (line[i] == '\n') line[i] = '?';
  syscall(SYS_write, log_fd, line, (size_t)length);
}

/* Counts one call: 0 = go on, 1 = fail with errno, 2 = write half and die, 3 = write half. */
static int counted(const char *name, const char *path, int writes) {
  if (!below || !is_below(path)) return 0;
  int saved = errno;
  long number = atomic_fetch_add(count, 1) + 1;
  if (log_fd >= 0) note(name, path);
  errno = saved;
  const char *how = fault_at(number);
  if (!*how) return 0;
  if (atoi(how)) {
    errno = atoi(how);
    return 1;
  }
  if (writes && strncmp(how, "torn", 4) == 0) return 2;
  if (strncmp(how, "half", 4) == 0) return writes ? 3 : 0;
  if (strncmp(how, "kill", 4) == 0 || strncmp(how, "torn", 4) == 0) die();
  if (strncmp(how, "stop", 4) != 0) misunderstood();
  syscall(SYS_kill, getpid(), SIGSTOP);
  return 0;
}

static int counted_fd(const char *name, int fd, int writes) {
  char path[PATH_MAX];
  int saved = errno;
  path_of(fd, path);
  errno = saved;
  return counted(name, path, writes);
}

static int counted_at(const char *name, int directory, const char *given) {
  char path[PATH_MAX];
  int saved = errno;
  resolve(directory, given, path);
  errno = saved;
  return counted(name, path, 0);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define MUTATES(flags) (((flags) & (O_CREAT | O_TRUNC)) || ((flags) & O_ACCMODE) != O_RDONLY)

#define OPEN(name)                                                   \
  int name(const char *path, int flags, ...) {                       \
    va_list rest;                                                    \
    va_start(rest, flags);                                           \
    mode_t mode = va_arg(rest, mode_t);                              \
    va_end(rest);                                                    \
    if (MUTATES(flags) && counted_at(#name, AT_FDCWD, path)) return -1; \
    return NEXT(name)(path, flags, mode);                            \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                 \
  int name(int directory, const char *path, int flags, ...) {        \
    va_list rest;                                                    \
    va_start(rest, flags);                                           \
    mode_t mode = va_arg(rest, mode_t);                              \
    va_end(rest);                                                    \
    if (MUTATES(flags) && counted_at(#name, directory, path)) return -1; \
    return NEXT(name)(directory, path, flags, mode);                 \
  }
OPENAT(openat)
OPENAT(openat64)

ssize_t write(int fd, const void *bytes, size_t length) {
  int fault = counted_fd("write", fd, 1);
  if (fault == 1) return -1;
  ssize_t done = NEXT(write)(fd, bytes, fault ? (length + 1) / 2 : length);
  if (fault == 2) die();
  return done;
}

#define PWRITE(name, offset_type)                                                   \
  ssize_t name(int fd, const void *bytes, size_t length, offset_type offset) {      \
    int fault = counted_fd(#name, fd, 1);                                           \
    if (fault == 1) return -1;                                                      \
    ssize_t done = NEXT(name)(fd, bytes, fault ? (length + 1) / 2 : length, offset); \
    if (fault == 2) die();                                                          \
    return done;                                                                    \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t writev(int fd, const struct iovec *parts, int number) {
  return counted_fd("writev", fd, 0) ? -1 : NEXT(writev)(fd, parts, number);
}

#define BY_PATH(name, parameters, arguments, path)                   \
  int name parameters { return counted_at(#name, AT_FDCWD, path) ? -1 : NEXT(name) arguments; }
BY_PATH(rename, (const char *from, const char *to), (from, to), to)
BY_PATH(link, (const char *from, const char *to), (from, to), to)
BY_PATH(symlink, (const char *target, const char *path), (target, path), path)
BY_PATH(unlink, (const char *path), (path), path)
BY_PATH(rmdir, (const char *path), (path), path)
BY_PATH(mkdir, (const char *path, mode_t mode), (path, mode), path)
BY_PATH(chmod, (const char *path, mode_t mode), (path, mode), path)
BY_PATH(truncate, (const char *path, off_t length), (path, length), path)

#define BY_DIRECTORY(name, parameters, arguments, directory, path)   \
  int name parameters { return counted_at(#name, directory, path) ? -1 : NEXT(name) arguments; }
BY_DIRECTORY(unlinkat, (int directory, const char *path, int flags), (directory, path, flags), directory, path)
BY_DIRECTORY(mkdirat, (int directory, const char *path, mode_t mode), (directory, path, mode), directory, path)
BY_DIRECTORY(fchmodat, (int directory, const char *path, mode_t mode, int flags), (directory, path, mode, flags), directory, path)

#define BY_FD(name, parameters, arguments)                           \
  int name parameters { return counted_fd(#name, fd, 0) ? -1 : NEXT(name) arguments; }
BY_FD(fchmod, (int fd, mode_t mode), (fd, mode))
BY_FD(fsync, (int fd), (fd))
BY_FD(fdatasync, (int fd), (fd))
BY_FD(ftruncate, (int fd, off_t length), (fd, length))
BY_FD(ftruncate64, (int fd, off64_t length), (fd, length))
