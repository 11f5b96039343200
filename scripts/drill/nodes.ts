/** How a machine is lost: its processes are killed, or none of its packets arrives any more. */
export type Way = "killed" | "silent";

/** A primary of an old timeline that would take writes. */
export type OldPrimary = {
  /** As the service reaches it. */
  readonly url: string;
  /** The number of the next transaction that writes. */
  nextTransaction(): Promise<string>;
};

/** PostgreSQL on three machines, of which one is the primary and waits with each commit for another. Times are of `performance.now()`. */
export type Nodes = {
  /** DATABASE_URL of the service. */
  readonly databaseUrl: string;
  /** What a process says of its readiness without standbys. */
  readonly withoutStandbys: RegExp;
  /** The address of the primary, for who looks at it. */
  primaryUrl(): Promise<string>;
  /** Loses the primary. Resolves when another machine has become the primary, with the time at which it had. */
  losePrimary(way: Way): Promise<number>;
  /** The lost primary is there again as it was. Its commits wait for standbys that follow another. */
  returnPrimary(): Promise<void>;
  /** The lost primary is there again, and its commits wait for nobody; null if whoever decides on the primary prevents that. */
  oldPrimary(): Promise<OldPrimary | null>;
  /** The lost machine follows the new primary and is in step with it. */
  rejoin(): Promise<void>;
  loseStandbys(count: 1 | 2, way: Way): Promise<void>;
  /** The lost standbys are there again and in step. */
  regainStandbys(): Promise<void>;
  close(): Promise<void>;
};
