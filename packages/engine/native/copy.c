/**
 * Copies many files from one tree to another, with threads of its own; blocks are shared where the file system can. A
 * file that is not, before and after, the one the caller expects is not copied. It reads and writes the caller's arrays
 * where they lie: they must stay as they are until `endCopies`.
 */
#define NAPI_VERSION 8
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <node_api.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

void add_copies(napi_env env, napi_value exports);

#ifndef __linux__
/* Elsewhere files are copied one by one: `cp` and `copyFile` know how to share blocks there. */
void add_copies(napi_env env, napi_value exports) {
  (void)env, (void)exports;
}
#else
#include <linux/fs.h>

enum { MODE_BITS = 0777, ALL_MODE_BITS = 07777 };
/* More gain nothing: they wait for each other in the kernel. */
enum { MOST_THREADS = 2 };
enum { SMALL_BYTES = 128 * 1024, PIECE_BYTES = 16 * 1024 * 1024 };
enum { VERDICT_COPIED = 1, VERDICT_NOT = 2 };
/* Options. */
enum { CLONE = 1, AS_IT_IS = 2 };

enum { FROM, TO, PATHS, NAMES, FIRST_ENTRY, ENTRY_COUNT, MODE, SIZE, MTIME_NS, CTIME_NS, INO, VERDICT, ARGUMENTS };

static const napi_typedarray_type TYPES[ARGUMENTS] = {
  napi_uint8_array, napi_uint8_array, napi_uint8_array, napi_uint8_array, napi_uint32_array, napi_uint32_array,
  napi_uint16_array, napi_float64_array, napi_bigint64_array, napi_bigint64_array, napi_biguint64_array,
  napi_uint8_array,
};

struct copies {
  void *column[ARGUMENTS];
  size_t length[ARGUMENTS];
  /* Keep the columns from being collected. */
  napi_ref kept[ARGUMENTS];
  char *paths;
  char *names;
  uint32_t *path_starts;
  uint32_t *name_starts;
  uint32_t runs;
  uint32_t entries;
  uint32_t options;
  int from;
  int to;
  atomic_uint next;
  atomic_int at_work;
  atomic_bool is_ended;
  pthread_t threads[MOST_THREADS];
  int thread_count;
};

static int64_t nanoseconds(struct timespec time) {
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* The directory at a path of real directories below another; -1 where a link or anything else is on the way. */
static int enter(int root, const char *path) {
  char *name = strdup(path), *rest = name, *step;
  if (name == NULL) return -1;
  int directory = openat(root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  while (directory >= 0 && (step = strsep(&rest, "/")) != NULL) {
    if (*step == 0) continue;
    int inner = openat(directory, step, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    close(directory);
    directory = inner;
  }
  free(name);
  return directory;
}

static bool is_as_expected(const struct copies *copies, uint32_t entry, const struct stat *stat) {
  if (!S_ISREG(stat->st_mode)) return false;
  if (copies->options & AS_IT_IS) return true;
  return nanoseconds(stat->st_mtim) == ((int64_t *)copies->column[MTIME_NS])[entry] &&
         nanoseconds(stat->st_ctim) == ((int64_t *)copies->column[CTIME_NS])[entry] &&
         (uint64_t)stat->st_ino == ((uint64_t *)copies->column[INO])[entry] &&
         (double)stat->st_size == ((double *)copies->column[SIZE])[entry];
}

static bool is_same(const struct stat *one, const struct stat *other) {
  return nanoseconds(one->st_mtim) == nanoseconds(other->st_mtim) &&
         nanoseconds(one->st_ctim) == nanoseconds(other->st_ctim) && one->st_size == other->st_size;
}

static bool write_all(int to, const char *bytes, ssize_t length) {
  while (length > 0) {
    ssize_t written = write(to, bytes, (size_t)length);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    length -= written;
  }
  return true;
}

static bool pass_through(const struct copies *copies, int from, int to, char *buffer) {
  for (;;) {
    if (atomic_load(&copies->is_ended)) return false;
    ssize_t length = read(from, buffer, SMALL_BYTES);
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) return length == 0;
    if (!write_all(to, buffer, length)) return false;
  }
}

static bool copy_content(const struct copies *copies, int from, int to, off_t size, char *buffer) {
  if (size == 0) return true;
  if ((copies->options & CLONE) && ioctl(to, FICLONE, from) == 0) return true;
  off_t left = size > SMALL_BYTES ? size : 0;
  while (left > 0 && !atomic_load(&copies->is_ended)) {
    ssize_t length = copy_file_range(from, NULL, to, NULL, PIECE_BYTES, 0);
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) break;
    left -= length;
  }
  /* what is left, or everything where the kernel cannot do it alone */
  return pass_through(copies, from, to, buffer);
}

/* Says what the copy is in the caller's arrays. */
static bool finish(struct copies *copies, uint32_t entry, const struct stat *original, int to) {
  bool is_as_it_is = copies->options & AS_IT_IS;
  mode_t wanted = is_as_it_is ? original->st_mode & ALL_MODE_BITS : ((uint16_t *)copies->column[MODE])[entry];
  struct timespec times[2] = {original->st_atim, original->st_mtim};
  struct stat stat;
  if (fstat(to, &stat) != 0) return false;
  if ((stat.st_mode & (is_as_it_is ? ALL_MODE_BITS : MODE_BITS)) != wanted &&
      (fchmod(to, wanted) != 0 || fstat(to, &stat) != 0))
    return false;
  if (is_as_it_is) return futimens(to, times) == 0;
  ((int64_t *)copies->column[MTIME_NS])[entry] = nanoseconds(stat.st_mtim);
  ((int64_t *)copies->column[CTIME_NS])[entry] = nanoseconds(stat.st_ctim);
  ((uint64_t *)copies->column[INO])[entry] = stat.st_ino;
  return (double)stat.st_size == ((double *)copies->column[SIZE])[entry];
}

/* Copies what is open; where the original changed meanwhile, what was copied may never have been in it. */
static bool copy_open(struct copies *copies, uint32_t entry, int from, int to_directory, const char *name, char *buffer) {
  struct stat before, after;
  if (fstat(from, &before) != 0 || !is_as_expected(copies, entry, &before)) return false;
  mode_t mode = copies->options & AS_IT_IS ? before.st_mode & MODE_BITS : ((uint16_t *)copies->column[MODE])[entry];
  int to = openat(to_directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  if (to < 0) return false;
  bool is_copied = copy_content(copies, from, to, before.st_size, buffer) && fstat(from, &after) == 0 &&
                   is_same(&before, &after) && finish(copies, entry, &before, to);
  if (close(to) != 0) is_copied = false;
  if (!is_copied) unlinkat(to_directory, name, 0);
  return is_copied;
}

static bool copy_one(struct copies *copies, uint32_t entry, int from_directory, int to_directory, char *buffer) {
  const char *name = copies->names + copies->name_starts[entry];
  int from = openat(from_directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (from < 0) return false;
  bool is_copied = copy_open(copies, entry, from, to_directory, name, buffer);
  close(from);
  return is_copied;
}

static void copy_run(struct copies *copies, uint32_t run, char *buffer) {
  const char *path = copies->paths + copies->path_starts[run];
  uint32_t first = ((uint32_t *)copies->column[FIRST_ENTRY])[run];
  uint32_t count = ((uint32_t *)copies->column[ENTRY_COUNT])[run];
  int from = enter(copies->from, path), to = enter(copies->to, path);
  for (uint32_t entry = first; entry < first + count && !atomic_load(&copies->is_ended); entry += 1) {
    bool is_copied = from >= 0 && to >= 0 && copy_one(copies, entry, from, to, buffer);
    ((uint8_t *)copies->column[VERDICT])[entry] = is_copied ? VERDICT_COPIED : VERDICT_NOT;
  }
  if (from >= 0) close(from);
  if (to >= 0) close(to);
}

static void *copy_runs(void *data) {
  struct copies *copies = data;
  char *buffer = malloc(SMALL_BYTES);
  for (;;) {
    uint32_t run = atomic_fetch_add(&copies->next, 1);
    if (buffer == NULL || run >= copies->runs || atomic_load(&copies->is_ended)) break;
    copy_run(copies, run, buffer);
  }
  free(buffer);
  atomic_fetch_sub(&copies->at_work, 1);
  return NULL;
}

/* Ends the threads and lets go of the caller's arrays; does nothing the second time. */
static void end_threads(napi_env env, struct copies *copies) {
  if (atomic_exchange(&copies->is_ended, true)) return;
  for (int at = 0; at < copies->thread_count; at += 1) pthread_join(copies->threads[at], NULL);
  for (int at = 0; at < ARGUMENTS; at += 1)
    if (copies->kept[at] != NULL) napi_delete_reference(env, copies->kept[at]);
  if (copies->from >= 0) close(copies->from);
  if (copies->to >= 0) close(copies->to);
  free(copies->paths);
  free(copies->names);
  free(copies->path_starts);
  free(copies->name_starts);
}

static void free_copies(napi_env env, void *data, void *hint) {
  (void)hint;
  end_threads(env, data);
  free(data);
}

static bool take_argument(napi_env env, napi_value value, int at, struct copies *copies) {
  bool is_array = false;
  napi_typedarray_type type;
  return napi_is_typedarray(env, value, &is_array) == napi_ok && is_array &&
         napi_get_typedarray_info(env, value, &type, &copies->length[at], &copies->column[at], NULL, NULL) == napi_ok &&
         type == TYPES[at] && napi_create_reference(env, value, 1, &copies->kept[at]) == napi_ok;
}

static char *text_of(const struct copies *copies, int at) {
  char *text = calloc(copies->length[at] + 1, 1);
  if (text != NULL && copies->length[at] > 0) memcpy(text, copies->column[at], copies->length[at]);
  return text;
}

/* Where each text begins, with a zero byte between two; NULL where there are not so many. */
static uint32_t *starts_of(const char *texts, size_t length, uint32_t count) {
  uint32_t *starts = malloc(((size_t)count + 1) * sizeof *starts);
  if (starts == NULL || length > UINT32_MAX) return free(starts), NULL;
  uint32_t number = 0;
  if (count > 0) starts[number++] = 0;
  for (size_t at = 0; at < length; at += 1)
    if (texts[at] == 0) {
      if (number == count) return free(starts), NULL;
      starts[number++] = (uint32_t)at + 1;
    }
  if (number != count) return free(starts), NULL;
  return starts;
}

static bool is_consistent(const struct copies *copies) {
  if (copies->length[FIRST_ENTRY] != copies->runs) return false;
  for (int at = MODE; at <= VERDICT; at += 1)
    if (copies->length[at] != copies->entries) return false;
  for (uint32_t run = 0; run < copies->runs; run += 1) {
    uint64_t first = ((uint32_t *)copies->column[FIRST_ENTRY])[run];
    if (first + ((uint32_t *)copies->column[ENTRY_COUNT])[run] > copies->entries) return false;
  }
  return true;
}

static int open_root(const struct copies *copies, int at, int flags) {
  char *path = text_of(copies, at);
  int root = path == NULL ? -1 : open(path, O_PATH | O_DIRECTORY | O_CLOEXEC | flags);
  free(path);
  return root;
}

static bool prepare(struct copies *copies) {
  if (copies->length[ENTRY_COUNT] > UINT32_MAX) return false;
  copies->runs = (uint32_t)copies->length[ENTRY_COUNT];
  if (!is_consistent(copies)) return false;
  copies->paths = text_of(copies, PATHS);
  copies->names = text_of(copies, NAMES);
  if (copies->paths == NULL || copies->names == NULL) return false;
  copies->path_starts = starts_of(copies->paths, copies->length[PATHS], copies->runs);
  copies->name_starts = starts_of(copies->names, copies->length[NAMES], copies->entries);
  copies->from = open_root(copies, FROM, 0);
  copies->to = open_root(copies, TO, O_NOFOLLOW);
  return copies->path_starts != NULL && copies->name_starts != NULL && copies->from >= 0 && copies->to >= 0;
}

static bool start_threads(struct copies *copies) {
  while (copies->thread_count < MOST_THREADS) {
    atomic_fetch_add(&copies->at_work, 1);
    if (pthread_create(&copies->threads[copies->thread_count], NULL, copy_runs, copies) != 0) {
      atomic_fetch_sub(&copies->at_work, 1);
      break;
    }
    copies->thread_count += 1;
  }
  return copies->thread_count > 0;
}

/* beginCopies(entries, options, from, to, …): copies under way; undefined when they cannot be had. */
static napi_value begin_copies(napi_env env, napi_callback_info info) {
  napi_value arguments[ARGUMENTS + 2];
  size_t count = ARGUMENTS + 2;
  if (napi_get_cb_info(env, info, &count, arguments, NULL, NULL) != napi_ok || count != ARGUMENTS + 2) return NULL;
  struct copies *copies = calloc(1, sizeof *copies);
  if (copies == NULL) return NULL;
  copies->from = copies->to = -1;
  bool is_ready = napi_get_value_uint32(env, arguments[0], &copies->entries) == napi_ok &&
                  napi_get_value_uint32(env, arguments[1], &copies->options) == napi_ok;
  for (int at = 0; is_ready && at < ARGUMENTS; at += 1)
    is_ready = take_argument(env, arguments[at + 2], at, copies);
  napi_value handle = NULL;
  if (is_ready && prepare(copies) && start_threads(copies) &&
      napi_create_external(env, copies, free_copies, NULL, &handle) == napi_ok)
    return handle;
  free_copies(env, copies, NULL);
  return NULL;
}

static struct copies *copies_of(napi_env env, napi_callback_info info) {
  napi_value argument;
  size_t count = 1;
  void *data = NULL;
  if (napi_get_cb_info(env, info, &count, &argument, NULL, NULL) != napi_ok || count < 1) return NULL;
  if (napi_get_value_external(env, argument, &data) != napi_ok) return NULL;
  return data;
}

/* areCopied(copies): whether all that can be copied is. */
static napi_value are_copied(napi_env env, napi_callback_info info) {
  napi_value answer = NULL;
  struct copies *copies = copies_of(env, info);
  if (copies != NULL) napi_get_boolean(env, atomic_load(&copies->at_work) == 0, &answer);
  return answer;
}

/* endCopies(copies): what is not copied yet stays so, and the arrays may change again. */
static napi_value end_copies(napi_env env, napi_callback_info info) {
  struct copies *copies = copies_of(env, info);
  if (copies != NULL) end_threads(env, copies);
  return NULL;
}

void add_copies(napi_env env, napi_value exports) {
  napi_property_descriptor functions[] = {
    {"beginCopies", NULL, begin_copies, NULL, NULL, NULL, napi_enumerable, NULL},
    {"areCopied", NULL, are_copied, NULL, NULL, NULL, napi_enumerable, NULL},
    {"endCopies", NULL, end_copies, NULL, NULL, NULL, napi_enumerable, NULL},
  };
  napi_define_properties(env, exports, sizeof functions / sizeof *functions, functions);
}
#endif
