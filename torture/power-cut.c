/*
 * Cuts a mounted file system off at once, without writing anything that is still in memory: a power cut.
 * power-cut <mount point> asks the file system; power-cut <loop device> takes the disk away from under it: all but its
 * first sector is beyond its end from then on.
 */
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

static int shut_down(int fd) {
  unsigned without_log = 2;
  return ioctl(fd, _IOR('X', 125, unsigned), &without_log);
}

static int take_away(int fd) {
  struct loop_info64 info;
  if (ioctl(fd, LOOP_GET_STATUS64, &info) != 0) return -1;
  info.lo_sizelimit = 512;
  return ioctl(fd, LOOP_SET_STATUS64, &info);
}

int main(int count, char **words) {
  struct stat stat;
  int fd = count == 2 ? open(words[1], O_RDONLY) : -1;
  if (fd >= 0 && fstat(fd, &stat) == 0 && (S_ISBLK(stat.st_mode) ? take_away(fd) : shut_down(fd)) == 0) return 0;
  perror("power-cut");
  return 1;
}
