/**
 * `$BELAY_HOME/bin/belay-hook`: what agents run, the first half of an event's journey (`src/events/event-journey.ts`). It
 * asks the resident process itself, over its private socket, and has the answer before Node would have started. Anything
 * unusual goes to the script beside it, and so to `belay hook`. It always ends with 0: a code of 2 would block the agent.
 *
 * What it has to know is in `belay-hook.facts` beside it (`src/hooks/write-hook.ts` writes it).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <regex.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define NEUTRAL_ANSWER "{}"
#define LONG_WAY "belay-hook-long"
#define FACTS "belay-hook.facts"

enum { LONGEST_PATH = 4096, LONGEST_ANSWER = 1000000, LONGEST_STAT = 1024 };

struct text {
  char *bytes; /* with a NUL behind them */
  size_t length;
};

/* In the order of the file's lines. */
enum fact { HOME, BUILD, ENVIRONMENT, SHELLS, MOST_SHELLS, MOST_BYTES, HEAD_BYTES, ASK_MS, HOOK_MS, FORM, FACT_COUNT };
static const char *const NAMES[FACT_COUNT] = {
  "home", "build", "environment", "shells", "most-shells", "most-bytes", "head-bytes", "ask-ms", "hook-ms", "form",
};
static char *facts[FACT_COUNT];

/* The directory of this program. */
static char place[LONGEST_PATH];
static struct text event;
/* When asking began, in the clock's milliseconds; 0 before that. */
static long long began;

static long number(enum fact name) {
  return strtol(facts[name], NULL, 10);
}

static bool starts_with(const char *text, const char *start) {
  return strncmp(text, start, strlen(start)) == 0;
}

static const char *path_in(const char *directory, const char *name) {
  static char path[2 * LONGEST_PATH];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  return path;
}

/* The agent may have made its end of a stream one that does not wait. */
static bool may_go_on(int file, short what) {
  struct pollfd waiting = {.fd = file, .events = what};
  return errno == EAGAIN && poll(&waiting, 1, -1) > 0;
}

/* False when it cannot be read. */
static bool read_all(int file, struct text *text) {
  size_t size = 0;
  text->bytes = NULL;
  text->length = 0;
  for (;;) {
    if (size - text->length < 2) {
      size = size == 0 ? 1 << 16 : 2 * size;
      char *larger = realloc(text->bytes, size);
      if (larger == NULL) return false;
      text->bytes = larger;
      text->bytes[text->length] = '\0';
    }
    ssize_t count = read(file, text->bytes + text->length, size - text->length - 1);
    if (count < 0 && (errno == EINTR || may_go_on(file, POLLIN))) continue;
    if (count < 0) return false;
    text->length += (size_t)count;
    text->bytes[text->length] = '\0';
    if (count == 0) return true;
  }
}

static bool write_all(int file, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t count = write(file, bytes, length);
    if (count < 0 && (errno == EINTR || may_go_on(file, POLLOUT))) continue;
    if (count <= 0) return false;
    bytes += count;
    length -= (size_t)count;
  }
  return true;
}

/* A regular file of this user's. */
static bool read_own_file(const char *path, struct text *text) {
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return false;
  struct stat stat;
  bool done = fstat(file, &stat) == 0 && S_ISREG(stat.st_mode) && stat.st_uid == geteuid() && read_all(file, text);
  close(file);
  return done;
}

static void find_place(const char *called_as) {
  ssize_t length = readlink("/proc/self/exe", place, sizeof place - 1);
  if (length > 0) place[length] = '\0';
  else if (realpath(called_as, place) == NULL) snprintf(place, sizeof place, "%s", called_as);
  char *end = strrchr(place, '/');
  if (end != NULL) *end = '\0';
}

/* False when one is missing: they are of another build. */
static bool read_facts(void) {
  struct text text;
  if (!read_own_file(path_in(place, FACTS), &text)) return false;
  for (char *rest = text.bytes, *line; (line = strsep(&rest, "\n")) != NULL;) {
    char *value = strchr(line, '=');
    if (value == NULL) continue;
    *value++ = '\0';
    for (int name = 0; name < FACT_COUNT; name++)
      if (strcmp(line, NAMES[name]) == 0) facts[name] = value;
  }
  for (int name = 0; name < FACT_COUNT; name++)
    if (facts[name] == NULL) return false;
  return true;
}

/* The process that the agent is, as `findClient` in client-process.ts finds it. */
static void find_client(char *client, size_t size) {
  int pid = getppid();
  for (long count = number(MOST_SHELLS); count > 0 && pid > 1; count--) {
    char path[64], stat[LONGEST_STAT], padded[LONGEST_STAT], started[32];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    ssize_t length = read(file, stat, sizeof stat - 1);
    close(file);
    stat[length < 0 ? 0 : length] = '\0';
    char *name = strchr(stat, '('), *behind = strrchr(stat, ')');
    int parent;
    if (name == NULL || behind == NULL || behind < name) return;
    *behind = '\0';
    if (sscanf(behind + 1, " %*c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %31s", &parent,
               started) != 2)
      return;
    snprintf(padded, sizeof padded, " %s ", name + 1);
    if (strchr(name + 1, ' ') != NULL || strstr(facts[SHELLS], padded) == NULL) {
      snprintf(client, size, "%d %s", pid, started);
      return;
    }
    pid = parent;
  }
}

/* [R170] True when the directory has nothing to do with any of the roots, each `<inode> <path>`. */
static bool is_outside(const char *directory, const struct text *roots) {
  char at[LONGEST_PATH];
  struct stat stat_of;
  if (realpath(directory, at) == NULL || stat(at, &stat_of) != 0 || !S_ISDIR(stat_of.st_mode)) return false;
  if (access(at, X_OK) != 0) return false;
  bool is_any_moved = false;
  const char *end = roots->bytes + roots->length;
  for (const char *root = roots->bytes; root < end; root += strlen(root) + 1) {
    const char *path = strchr(root, ' ');
    if (path == NULL) return false;
    path++;
    size_t length = strlen(path);
    if (strncmp(at, path, length) == 0 && (at[length] == '/' || at[length] == '\0')) return false;
    is_any_moved |= stat(path, &stat_of) != 0 || !S_ISDIR(stat_of.st_mode);
  }
  for (;;) {
    if (stat(path_in(at, ".git"), &stat_of) == 0 && S_ISREG(stat_of.st_mode)) return false;
    if (is_any_moved) {
      if (stat(at, &stat_of) != 0) return false;
      for (const char *root = roots->bytes; root < end; root += strlen(root) + 1)
        if (strtoull(root, NULL, 10) == stat_of.st_ino) return false;
    }
    char *last = strrchr(at, '/');
    if (last == NULL || last[1] == '\0') return true;
    *(last == at ? last + 1 : last) = '\0';
  }
}

/* The directory that the event is about. Agents name it before anything long. */
static char *find_named(const char *head) {
  regex_t pattern;
  regmatch_t found[4];
  if (regcomp(&pattern, "\"(cwd|directory)\"( *: *\"([^\"\\]+)\")?", REG_EXTENDED) != 0) return NULL;
  if (regexec(&pattern, head, 4, found, 0) != 0 || found[3].rm_so < 0) return NULL;
  return strndup(head + found[3].rm_so, (size_t)(found[3].rm_eo - found[3].rm_so));
}

/*
 * [R170] The state `looking`: true when it is certain that no protected directory is concerned. Neither the hook's own
 * directory nor the one the event names is below a root, in a linked worktree, or in a root that was moved.
 */
static bool is_unprotected(const char *agent, const char *here) {
  struct text roots;
  if (strcmp(agent, "cursor") == 0 || !read_own_file(path_in(facts[HOME], "roots"), &roots)) return false;
  if (!is_outside(here, &roots)) return false;
  char *head = strndup(event.bytes, (size_t)number(HEAD_BYTES));
  if (head == NULL || strstr(head, "conversation_id") != NULL || strstr(head, "UserPromptExpansion") != NULL)
    return false;
  const char *named = find_named(head);
  if (named != NULL) return is_outside(named, &roots);
  return strlen(head) == event.length && strstr(head, "\"cwd\"") == NULL && strstr(head, "\"directory\"") == NULL;
}

/* Can be the value of a header as it is. */
static bool is_plain(const char *value) {
  size_t length = strlen(value);
  for (size_t at = 0; at < length; at++)
    if (value[at] < ' ' || value[at] > '~') return false;
  return length == 0 || (value[0] != ' ' && value[length - 1] != ' ');
}

static bool is_agent_name(const char *name) {
  return name[strspn(name, "abcdefghijklmnopqrstuvwxyz-")] == '\0';
}

/* The variables that the adapters look at, each with a tab behind it; NULL when one does not fit into a line. */
static char *list_variables(void) {
  char *list = NULL;
  size_t length;
  FILE *stream = open_memstream(&list, &length);
  char *prefixes = strdup(facts[ENVIRONMENT]);
  if (stream == NULL || prefixes == NULL) return NULL;
  bool all_plain = true;
  for (char *prefix; (prefix = strsep(&prefixes, " ")) != NULL;)
    for (char **variable = environ; prefix[0] != '\0' && *variable != NULL; variable++) {
      if (!starts_with(*variable, prefix)) continue;
      const char *value = strchr(*variable, '=');
      all_plain &= value != NULL && is_plain(*variable) && is_plain(value + 1);
      fprintf(stream, "%s\t", *variable);
    }
  return fclose(stream) == 0 && all_plain ? list : NULL;
}

static bool is_newer(struct timespec a, struct timespec b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

/* The resident process runs the code of this build, and nothing waits to be carried out first. */
static bool is_resident_ready(void) {
  struct stat build, run, overdue;
  if (stat(facts[BUILD], &build) != 0 || stat(path_in(facts[HOME], "run/resident.json"), &run) != 0) return false;
  return !is_newer(build.st_mtim, run.st_mtim) && stat(path_in(facts[HOME], "agents/overdue"), &overdue) != 0;
}

/*
 * [R142] [R143] A connection to this user's own process: its socket is in a directory that no other user can enter, and the
 * kernel says who listens.
 */
static int connect_resident(void) {
  struct stat run, made;
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  struct ucred peer;
  socklen_t size = sizeof peer;
  if (lstat(path_in(facts[HOME], "run"), &run) != 0 || !S_ISDIR(run.st_mode) || run.st_uid != geteuid()) return -1;
  const char *path = path_in(facts[HOME], "run/resident.sock");
  if ((run.st_mode & 077) != 0 || strlen(path) >= sizeof address.sun_path) return -1;
  if (lstat(path, &made) != 0 || !S_ISSOCK(made.st_mode) || made.st_uid != geteuid()) return -1;
  strcpy(address.sun_path, path);
  int resident = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (resident < 0 || connect(resident, (struct sockaddr *)&address, sizeof address) != 0) return -1;
  if (getsockopt(resident, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != geteuid()) return -1;
  return resident;
}

static long long now_ms(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static long spent_ms(void) {
  return (long)(now_ms(CLOCK_MONOTONIC) - began);
}

static bool wait_for(int resident, short what) {
  struct pollfd waiting = {.fd = resident, .events = what};
  long left = number(ASK_MS) - spent_ms();
  return left > 0 && left <= number(ASK_MS) && poll(&waiting, 1, (int)left) > 0;
}

static bool send_all(int resident, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t count = send(resident, bytes, length, MSG_NOSIGNAL);
    if (count > 0) {
      bytes += count;
      length -= (size_t)count;
    } else if (errno != EAGAIN && errno != EINTR) return false;
    else if (!wait_for(resident, POLLOUT)) return false;
  }
  return true;
}

/* The body of a whole answer with the status 200; NULL while it is not there. */
static char *find_body(struct text *answer) {
  char *body = memmem(answer->bytes, answer->length, "\r\n\r\n", 4);
  if (body == NULL || !starts_with(answer->bytes, "HTTP/1.1 200 ")) return NULL;
  *body = '\0';
  const char *length = strcasestr(answer->bytes, "\r\ncontent-length: ");
  *body = '\r';
  size_t there = answer->length - (size_t)(body + 4 - answer->bytes);
  bool is_whole = length != NULL && strtoull(strchr(length, ' '), NULL, 10) == there;
  return is_whole ? body + 4 : NULL;
}

static char *receive_answer(int resident) {
  static char bytes[LONGEST_ANSWER + 1];
  struct text answer = {bytes, 0};
  while (answer.length < LONGEST_ANSWER) {
    ssize_t count = recv(resident, bytes + answer.length, LONGEST_ANSWER - answer.length, 0);
    if (count == 0) return NULL;
    if (count > 0) {
      answer.length += (size_t)count;
      bytes[answer.length] = '\0';
      char *body = find_body(&answer);
      if (body != NULL) return body;
    } else if (errno != EAGAIN && errno != EINTR) return NULL;
    else if (!wait_for(resident, POLLIN)) return NULL;
  }
  return NULL;
}

/* The state `asking`: the answer, or NULL. */
static char *ask_resident(const char *agent, const char *here) {
  const char *allowed = getenv("BELAY_WAIT_MS");
  if (!is_agent_name(agent) || !is_plain(here) || (allowed != NULL && allowed[0] != '\0')) return NULL;
  if (event.length == 0 || event.length > (size_t)number(MOST_BYTES) || !is_resident_ready()) return NULL;
  char *variables = list_variables();
  int resident = variables == NULL ? -1 : connect_resident();
  if (resident < 0) return NULL;
  char *head, id[64];
  began = now_ms(CLOCK_MONOTONIC);
  snprintf(id, sizeof id, "%lld-%d", now_ms(CLOCK_REALTIME), getpid());
  int length = asprintf(&head,
    "POST /api/hooks/%s/event HTTP/1.1\r\nhost: belay\r\nconnection: close\r\nx-belay-cwd: %s\r\n"
    "x-belay-environment: %s\r\nx-belay-wait: %s\r\ncontent-type: application/json\r\ncontent-length: %zu\r\n\r\n",
    agent, here, variables, id, event.length);
  if (length < 0) return NULL;
  setenv("BELAY_EVENT", id, 1);
  if (!send_all(resident, head, (size_t)length) || !send_all(resident, event.bytes, event.length)) return NULL;
  return receive_answer(resident);
}

/* [R143] One of the forms that never allow anything (`src/hooks/answer-form.ts`). */
static bool is_answer(const char *answer) {
  regex_t form;
  if (strcmp(answer, NEUTRAL_ANSWER) == 0) return true;
  return regcomp(&form, facts[FORM], REG_EXTENDED | REG_NOSUB) == 0 && regexec(&form, answer, 0, NULL, 0) == 0;
}

static void print(const char *answer) {
  write_all(STDOUT_FILENO, answer, strlen(answer));
}

static int drop_answer(const char *agent) {
  print(NEUTRAL_ANSWER);
  execl(path_in(place, LONG_WAY), LONG_WAY, "--trouble", agent, "answer",
    "the resident process gave an answer of a form that agents never get; it was dropped", NULL);
  return 0;
}

static bool put_back_in_memory(void) {
  int again = memfd_create("event", MFD_CLOEXEC);
  return again >= 0 && write_all(again, event.bytes, event.length) && lseek(again, 0, SEEK_SET) == 0 &&
         dup2(again, STDIN_FILENO) == 0;
}

/* Where there are no such files, or none so large. */
static bool put_back_as_pipe(void) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0 || dup2(ends[0], STDIN_FILENO) != 0) return false;
  pid_t writer = fork();
  if (writer != 0) return writer > 0;
  for (int file = 0; file <= STDERR_FILENO; file++) close(file);
  close(ends[0]);
  write_all(ends[1], event.bytes, event.length);
  _exit(0);
}

/* Hands the event on to the script, under the name that the resident process may know it by. */
static int go_the_long_way(char **arguments) {
  char left[32];
  if (put_back_in_memory() || put_back_as_pipe()) {
    if (began != 0) {
      long rest = number(HOOK_MS) - spent_ms();
      snprintf(left, sizeof left, "%ld", rest > 0 ? rest : 1);
      setenv("BELAY_WAIT_MS", left, 1);
    }
    execv(path_in(place, LONG_WAY), arguments);
  }
  print(NEUTRAL_ANSWER);
  return 0;
}

int main(int count, char **arguments) {
  char here[LONGEST_PATH], client[64] = "";
  int spare;
  const char *agent = count > 1 ? arguments[1] : "";
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  while ((spare = open("/dev/null", O_RDWR)) >= 0 && spare <= STDERR_FILENO) continue;
  if (spare >= 0) close(spare);
  find_place(arguments[0]);
  bool is_ordinary = read_all(STDIN_FILENO, &event) && read_facts() && count == 2 && getcwd(here, sizeof here) != NULL;
  if (!is_ordinary) {
    unsetenv("BELAY_CLIENT");
    return go_the_long_way(arguments);
  }
  setenv("BELAY_HOME", facts[HOME], 1);
  if (is_unprotected(agent, here)) {
    print(NEUTRAL_ANSWER);
    return 0;
  }
  find_client(client, sizeof client);
  setenv("BELAY_CLIENT", client, 1);
  const char *answer = ask_resident(agent, here);
  if (answer == NULL) return go_the_long_way(arguments);
  if (!is_answer(answer)) return drop_answer(agent);
  print(answer);
  return 0;
}
