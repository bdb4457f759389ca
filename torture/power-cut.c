/* Cuts a mounted file system off at once, without writing anything that is still in memory: a power cut. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>

int main(int count, char **words) {
  unsigned without_log = 2;
  int fd = count == 2 ? open(words[1], O_RDONLY) : -1;
  if (fd >= 0 && ioctl(fd, _IOR('X', 125, unsigned), &without_log) == 0) return 0;
  perror("power-cut");
  return 1;
}
