/**
 * Says of many directories whether each of their entries has the stat it had: what `areAsBefore` in stat-columns.ts
 * says, on threads of its own and without making objects. It only looks. Whatever it cannot tell for certain, it calls
 * changed. It reads the caller's arrays where they lie: they must stay as they are until `end`.
 */
#define NAPI_VERSION 8
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <node_api.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* As in stat-columns.ts and entry.ts. */
enum { KIND_FILE = 0, KIND_SYMLINK = 1, KIND_DIRECTORY = 2, KIND_EXCLUDED = 254 };
enum { MODE_BITS = 0777 };

/* copy.c */
void add_copies(napi_env env, napi_value exports);

enum { VERDICT_PENDING = 0, VERDICT_SAME = 1, VERDICT_OTHER = 2 };
/* A thread takes so many directories at a time, and wakes who waits once for all of them. */
enum { DIRECTORIES_AT_ONCE = 64 };
/* More gain nothing. */
enum { MOST_THREADS = 8 };

#ifdef O_PATH
enum { OPEN_TO_SEARCH = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };
#else
enum { OPEN_TO_SEARCH = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };
#endif

#ifdef __APPLE__
#define MTIME(stat) ((stat).st_mtimespec)
#define CTIME(stat) ((stat).st_ctimespec)
#else
#define MTIME(stat) ((stat).st_mtim)
#define CTIME(stat) ((stat).st_ctim)
#endif

/* The arguments of begin() after the number of entries, in this order. */
enum {
  ROOT, PATHS, NAMES, FIRST_ENTRY, ENTRY_COUNT, KIND, FLAGS, MODE, SIZE, MTIME_NS, CTIME_NS, INO, ARGUMENTS
};

static const napi_typedarray_type TYPES[ARGUMENTS] = {
  napi_uint8_array, napi_uint8_array, napi_uint8_array, napi_uint32_array, napi_uint32_array, napi_uint8_array,
  napi_uint8_array, napi_uint16_array, napi_float64_array, napi_bigint64_array, napi_bigint64_array,
  napi_biguint64_array,
};

/* Texts with a zero byte between two; the last one, behind which there may be anything, is a copy. */
struct texts {
  const char *bytes;
  uint32_t *starts;
  uint32_t count;
  char *last;
};

struct look {
  void *column[ARGUMENTS];
  size_t length[ARGUMENTS];
  /* Keep the columns from being collected. */
  napi_ref kept[ARGUMENTS];
  struct texts paths;
  struct texts names;
  uint32_t directories;
  uint32_t entries;
  /* A file that has another name somewhere counts as changed. */
  bool only_single;
  int root;
  atomic_uchar *verdicts;
  atomic_ullong next;
  atomic_bool is_ended;
  pthread_mutex_t mutex;
  pthread_cond_t progress;
  pthread_t threads[MOST_THREADS];
  int thread_count;
};

static const char *text_at(const struct texts *texts, uint32_t number) {
  return number + 1 == texts->count ? texts->last : texts->bytes + texts->starts[number];
}

static int64_t nanoseconds(struct timespec time) {
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static bool is_kind(mode_t mode, uint8_t kind) {
  switch (kind) {
    case KIND_FILE: return S_ISREG(mode);
    case KIND_SYMLINK: return S_ISLNK(mode);
    case KIND_DIRECTORY: return S_ISDIR(mode);
    default: return false;
  }
}

static bool has_stat(const struct look *look, int directory, uint32_t entry) {
  struct stat stat;
  if (fstatat(directory, text_at(&look->names, entry), &stat, AT_SYMLINK_NOFOLLOW) != 0) return false;
  if (look->only_single && S_ISREG(stat.st_mode) && stat.st_nlink != 1) return false;
  return nanoseconds(MTIME(stat)) == ((int64_t *)look->column[MTIME_NS])[entry] &&
         nanoseconds(CTIME(stat)) == ((int64_t *)look->column[CTIME_NS])[entry] &&
         (uint64_t)stat.st_ino == ((uint64_t *)look->column[INO])[entry] &&
         (double)stat.st_size == ((double *)look->column[SIZE])[entry] &&
         is_kind(stat.st_mode, ((uint8_t *)look->column[KIND])[entry]) &&
         (stat.st_mode & MODE_BITS) == ((uint16_t *)look->column[MODE])[entry];
}

static bool are_as_before(const struct look *look, int directory, uint32_t first, uint32_t count) {
  for (uint32_t entry = first; entry < first + count; entry += 1) {
    if (((uint8_t *)look->column[FLAGS])[entry] != 0) return false;
    if (((uint8_t *)look->column[KIND])[entry] == KIND_EXCLUDED) continue;
    if (!has_stat(look, directory, entry)) return false;
  }
  return true;
}

static bool is_as_before(const struct look *look, uint32_t number) {
  const char *path = text_at(&look->paths, number);
  int directory = openat(look->root, *path == 0 ? "." : path, OPEN_TO_SEARCH);
  if (directory < 0) return false;
  uint32_t first = ((uint32_t *)look->column[FIRST_ENTRY])[number];
  bool same = are_as_before(look, directory, first, ((uint32_t *)look->column[ENTRY_COUNT])[number]);
  close(directory);
  return same;
}

static void *look_at_directories(void *data) {
  struct look *look = data;
  for (;;) {
    uint64_t first = atomic_fetch_add(&look->next, DIRECTORIES_AT_ONCE);
    uint64_t end = first + DIRECTORIES_AT_ONCE;
    if (end > look->directories) end = look->directories;
    for (uint64_t at = first; at < end && !atomic_load(&look->is_ended); at += 1)
      atomic_store(&look->verdicts[at], is_as_before(look, (uint32_t)at) ? VERDICT_SAME : VERDICT_OTHER);
    pthread_mutex_lock(&look->mutex);
    pthread_cond_signal(&look->progress);
    pthread_mutex_unlock(&look->mutex);
    if (end <= first || end == look->directories || atomic_load(&look->is_ended)) return NULL;
  }
}

/* Stops the threads and lets go of the caller's arrays; does nothing the second time. */
static void end_look(napi_env env, struct look *look) {
  if (atomic_exchange(&look->is_ended, true)) return;
  for (int at = 0; at < look->thread_count; at += 1) pthread_join(look->threads[at], NULL);
  for (int at = 0; at < ARGUMENTS; at += 1)
    if (look->kept[at] != NULL) napi_delete_reference(env, look->kept[at]);
  if (look->root >= 0) close(look->root);
  free(look->paths.starts);
  free(look->paths.last);
  free(look->names.starts);
  free(look->names.last);
  free(look->verdicts);
}

static void free_look(napi_env env, void *data, void *hint) {
  (void)hint;
  struct look *look = data;
  end_look(env, look);
  pthread_mutex_destroy(&look->mutex);
  pthread_cond_destroy(&look->progress);
  free(look);
}

static bool take_argument(napi_env env, napi_value value, int at, struct look *look) {
  bool is_array = false;
  napi_typedarray_type type;
  return napi_is_typedarray(env, value, &is_array) == napi_ok && is_array &&
         napi_get_typedarray_info(env, value, &type, &look->length[at], &look->column[at], NULL, NULL) == napi_ok &&
         type == TYPES[at] && napi_create_reference(env, value, 1, &look->kept[at]) == napi_ok;
}

/* False when there are not so many. */
static bool split(struct texts *texts, const char *bytes, size_t length, uint32_t count) {
  *texts = (struct texts){ .bytes = bytes, .count = count };
  texts->starts = malloc(((size_t)count + 1) * sizeof *texts->starts);
  if (texts->starts == NULL || length > UINT32_MAX) return false;
  if (count == 0) return true;
  size_t at = 0;
  for (uint32_t number = 0; number + 1 < count; number += 1) {
    const char *end = length == at ? NULL : memchr(bytes + at, 0, length - at);
    if (end == NULL) return false;
    texts->starts[number] = (uint32_t)at;
    at = (size_t)(end - bytes) + 1;
  }
  size_t rest = length - at;
  texts->last = calloc(rest + 1, 1);
  if (texts->last == NULL) return false;
  if (rest > 0) memcpy(texts->last, bytes + at, rest);
  return strlen(texts->last) == rest;
}

static bool is_consistent(const struct look *look) {
  for (int at = KIND; at < ARGUMENTS; at += 1)
    if (look->length[at] < look->entries) return false;
  if (look->length[FIRST_ENTRY] != look->directories) return false;
  for (uint32_t at = 0; at < look->directories; at += 1) {
    uint64_t first = ((uint32_t *)look->column[FIRST_ENTRY])[at];
    if (first + ((uint32_t *)look->column[ENTRY_COUNT])[at] > look->entries) return false;
  }
  return true;
}

static int open_root(const struct look *look) {
  char *path = calloc(look->length[ROOT] + 1, 1);
  if (path == NULL) return -1;
  if (look->length[ROOT] > 0) memcpy(path, look->column[ROOT], look->length[ROOT]);
  int root = open(path, OPEN_TO_SEARCH);
  free(path);
  return root;
}

static bool prepare(struct look *look, uint32_t entries) {
  if (look->length[ENTRY_COUNT] > UINT32_MAX) return false;
  look->directories = (uint32_t)look->length[ENTRY_COUNT];
  look->entries = entries;
  if (!is_consistent(look)) return false;
  if (!split(&look->paths, look->column[PATHS], look->length[PATHS], look->directories)) return false;
  if (!split(&look->names, look->column[NAMES], look->length[NAMES], entries)) return false;
  look->verdicts = calloc((size_t)look->directories + 1, sizeof *look->verdicts);
  if (look->verdicts == NULL) return false;
  look->root = open_root(look);
  return look->root >= 0;
}

static bool start_threads(struct look *look) {
  long wanted = sysconf(_SC_NPROCESSORS_ONLN);
  if (wanted < 1) wanted = 1;
  if (wanted > MOST_THREADS) wanted = MOST_THREADS;
  while (look->thread_count < wanted) {
    if (pthread_create(&look->threads[look->thread_count], NULL, look_at_directories, look) != 0) break;
    look->thread_count += 1;
  }
  return look->thread_count > 0;
}

/* begin(entries, onlySingle, root, paths, …): a look that is under way; undefined when it cannot be had. */
static napi_value begin(napi_env env, napi_callback_info info) {
  napi_value arguments[ARGUMENTS + 2];
  size_t count = ARGUMENTS + 2;
  uint32_t entries;
  bool only_single;
  if (napi_get_cb_info(env, info, &count, arguments, NULL, NULL) != napi_ok || count != ARGUMENTS + 2) return NULL;
  if (napi_get_value_uint32(env, arguments[0], &entries) != napi_ok) return NULL;
  if (napi_get_value_bool(env, arguments[1], &only_single) != napi_ok) return NULL;
  struct look *look = calloc(1, sizeof *look);
  if (look == NULL) return NULL;
  look->root = -1;
  look->only_single = only_single;
  pthread_mutex_init(&look->mutex, NULL);
  pthread_cond_init(&look->progress, NULL);
  bool is_ready = true;
  for (int at = 0; is_ready && at < ARGUMENTS; at += 1)
    is_ready = take_argument(env, arguments[at + 2], at, look);
  napi_value handle = NULL;
  if (is_ready && prepare(look, entries) && start_threads(look) &&
      napi_create_external(env, look, free_look, NULL, &handle) == napi_ok)
    return handle;
  free_look(env, look, NULL);
  return NULL;
}

/* The look among a function's arguments; NULL when there is none. */
static struct look *look_of(napi_env env, napi_callback_info info, size_t wanted, napi_value *arguments) {
  size_t count = wanted;
  void *data = NULL;
  if (napi_get_cb_info(env, info, &count, arguments, NULL, NULL) != napi_ok || count < wanted) return NULL;
  if (napi_get_value_external(env, arguments[0], &data) != napi_ok) return NULL;
  return data;
}

static bool await_verdict(struct look *look, uint32_t directory) {
  atomic_uchar *verdict = &look->verdicts[directory];
  if (atomic_load(verdict) == VERDICT_PENDING) {
    pthread_mutex_lock(&look->mutex);
    while (atomic_load(verdict) == VERDICT_PENDING) pthread_cond_wait(&look->progress, &look->mutex);
    pthread_mutex_unlock(&look->mutex);
  }
  return atomic_load(verdict) == VERDICT_SAME;
}

/* isAsBefore(look, directory): waits until that is known. */
static napi_value is_directory_as_before(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  napi_value answer = NULL;
  uint32_t directory;
  struct look *look = look_of(env, info, 2, arguments);
  if (look == NULL || napi_get_value_uint32(env, arguments[1], &directory) != napi_ok) return NULL;
  bool is_known = !atomic_load(&look->is_ended) && directory < look->directories;
  napi_get_boolean(env, is_known && await_verdict(look, directory), &answer);
  return answer;
}

/* end(look): the arrays may change again. */
static napi_value end(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  struct look *look = look_of(env, info, 1, arguments);
  if (look != NULL) end_look(env, look);
  return NULL;
}

/*
 * Signals, counted while JavaScript is at work: Node itself tells of them only when the work is done. The third one does
 * what it would have done without us.
 */
static const int SIGNALS[] = {SIGINT, SIGTERM};
#define SIGNAL_COUNT (sizeof SIGNALS / sizeof *SIGNALS)
#define MOST_COUNTED 2
static struct sigaction before[SIGNAL_COUNT];
static volatile sig_atomic_t caught;
static bool is_catching;

static void count_signal(int number) {
  caught += 1;
  if (caught <= MOST_COUNTED) return;
  signal(number, SIG_DFL);
  raise(number);
}

/* catchSignals(): counts from now on. */
static napi_value catch_signals(napi_env env, napi_callback_info info) {
  (void)env, (void)info;
  if (is_catching) return NULL;
  struct sigaction action = {.sa_handler = count_signal, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  caught = 0;
  for (size_t at = 0; at < SIGNAL_COUNT; at += 1) sigaction(SIGNALS[at], &action, &before[at]);
  is_catching = true;
  return NULL;
}

/* signalsCaught(): how many came. */
static napi_value signals_caught(napi_env env, napi_callback_info info) {
  (void)info;
  napi_value answer = NULL;
  napi_create_int32(env, caught, &answer);
  return answer;
}

/* releaseSignals(): they do again what they did before. */
static napi_value release_signals(napi_env env, napi_callback_info info) {
  (void)env, (void)info;
  if (!is_catching) return NULL;
  for (size_t at = 0; at < SIGNAL_COUNT; at += 1) sigaction(SIGNALS[at], &before[at], NULL);
  is_catching = false;
  return NULL;
}

/* Whether any process has the file open for writing: the kernel grants a lease only if none has. -1 = not known. */
static int writers_of(int fd) {
#ifdef F_SETLEASE
  /* a program that opens the file in this very moment breaks the lease, and the holder is sent this */
  struct sigaction ignore = {.sa_handler = SIG_IGN}, old;
  sigemptyset(&ignore.sa_mask);
  sigaction(SIGIO, &ignore, &old);
  int granted = fcntl(fd, F_SETLEASE, F_RDLCK);
  int answer = granted == 0 ? 0 : errno == EAGAIN ? 1 : -1;
  if (granted == 0) fcntl(fd, F_SETLEASE, F_UNLCK);
  sigaction(SIGIO, &old, NULL);
  return answer;
#else
  (void)fd;
  return -1;
#endif
}

/* openForWriting(descriptor): 1, 0, or -1 where that is not known. */
static napi_value open_for_writing(napi_env env, napi_callback_info info) {
  napi_value arguments[1], answer = NULL;
  size_t count = 1;
  int32_t fd;
  if (napi_get_cb_info(env, info, &count, arguments, NULL, NULL) != napi_ok || count < 1) return NULL;
  if (napi_get_value_int32(env, arguments[0], &fd) != napi_ok) return NULL;
  napi_create_int32(env, writers_of(fd), &answer);
  return answer;
}

NAPI_MODULE_INIT() {
  napi_property_descriptor functions[] = {
    {"begin", NULL, begin, NULL, NULL, NULL, napi_enumerable, NULL},
    {"isAsBefore", NULL, is_directory_as_before, NULL, NULL, NULL, napi_enumerable, NULL},
    {"end", NULL, end, NULL, NULL, NULL, napi_enumerable, NULL},
    {"catchSignals", NULL, catch_signals, NULL, NULL, NULL, napi_enumerable, NULL},
    {"signalsCaught", NULL, signals_caught, NULL, NULL, NULL, napi_enumerable, NULL},
    {"openForWriting", NULL, open_for_writing, NULL, NULL, NULL, napi_enumerable, NULL},
    {"releaseSignals", NULL, release_signals, NULL, NULL, NULL, napi_enumerable, NULL},
  };
  napi_define_properties(env, exports, sizeof functions / sizeof *functions, functions);
  add_copies(env, exports);
  return exports;
}
