/** At most so many at a time per host; the rest wait in line, and whoever waits too long or behind too many is turned away. */
export function hostSlots({ perHost, waitMs, waiting }: { perHost: number; waitMs: number; waiting: number }) {
  type Line = { running: number; readonly next: (() => void)[] };
  const lines = new Map<string, Line>();

  const enter = (line: Line): Promise<boolean> => {
    if (line.running < perHost) {
      line.running += 1;
      return Promise.resolve(true);
    }
    if (line.next.length >= waiting) return Promise.resolve(false);
    return new Promise((resolve) => {
      const turn = () => {
        clearTimeout(timer);
        resolve(true);
      };
      const timer = setTimeout(() => {
        line.next.splice(line.next.indexOf(turn), 1);
        resolve(false);
      }, waitMs);
      line.next.push(turn);
    });
  };

  /** Who leaves hands the place to the next in line. */
  const leave = (host: string, line: Line): void => {
    const next = line.next.shift();
    if (next) return next();
    line.running -= 1;
    if (line.running === 0) lines.delete(host);
  };

  /** Null where there was no place in time. */
  return async <T>(host: string, work: () => Promise<T>): Promise<{ readonly value: T } | null> => {
    let line = lines.get(host);
    if (!line) lines.set(host, (line = { running: 0, next: [] }));
    if (!(await enter(line))) return null;
    try {
      return { value: await work() };
    } finally {
      leave(host, line);
    }
  };
}
