import { readFileSync } from "node:fs";

/** Linux counts the CPU time of a process in these steps. */
const TICK_MS = 10;

/** The CPU time that a process has used; null where the system does not tell it. */
export function cpuMsOf(pid: number | undefined): number | null {
  try {
    const [, fields = ""] = /^.*\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, "latin1")) ?? [];
    const [user, system] = fields.split(" ").slice(11, 13).map(Number);
    return (user! + system!) * TICK_MS;
  } catch {
    return null;
  }
}

export type Patience = {
  /** The CPU time that a process may use while it sends nothing. */
  readonly cpuMs: number;
  /** How long it may send nothing and use no CPU time. */
  readonly idleMs: number;
};

/**
 * How long a child process has sent nothing. It is measured in the CPU time of the child, because on a busy machine a healthy
 * process can need minutes for what takes a second elsewhere.
 */
export class ChildSilence {
  /** The CPU time at the last message; null until it is read. */
  #since: number | null = 0;
  #usedMs: number | null = 0;
  #idleMs = 0;

  get cpuMs(): number | null {
    return this.#usedMs;
  }

  heard(): void {
    this.#since = null;
    this.#idleMs = 0;
  }

  /** Says why the child should be ended, or null. `passedMs` is the time since the last call. */
  overdue(usedMs: number | null, passedMs: number, { cpuMs, idleMs }: Patience): string | null {
    this.#idleMs = usedMs !== null && usedMs !== this.#usedMs ? 0 : this.#idleMs + passedMs;
    this.#usedMs = usedMs;
    this.#since ??= usedMs;
    const silentCpuMs = (usedMs ?? 0) - (this.#since ?? 0);
    if (silentCpuMs > cpuMs) return `It sent nothing while it used ${silentCpuMs} ms of CPU time; the limit is ${cpuMs} ms.`;
    return this.#idleMs > idleMs ? `It sent nothing and used no CPU time for ${idleMs} ms.` : null;
  }
}
