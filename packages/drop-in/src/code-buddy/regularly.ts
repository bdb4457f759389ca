/** One timer a directory and process, however many managers want it. It keeps no process alive. */

/** A wish for regular work, until it ends. */
export interface Regular {
  end(): void;
}

const timers = new Map<string, { timer: NodeJS.Timeout; wishes: number }>();

/** Does work regularly for a directory; the first wish decides how often. */
export function every(milliseconds: number, directory: string, work: () => void): Regular {
  const known = timers.get(directory) ?? { timer: setInterval(work, milliseconds).unref(), wishes: 0 };
  timers.set(directory, known);
  known.wishes += 1;
  let isOver = false;
  return {
    end() {
      if (isOver) return;
      isOver = true;
      known.wishes -= 1;
      if (known.wishes > 0) return;
      clearInterval(known.timer);
      timers.delete(directory);
    },
  };
}
