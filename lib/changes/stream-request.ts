export const CHANGES_PATH = "/changes";

/** What the pages process is told about a connection that it gets. */
export type StreamRequest = {
  readonly cookie: string | null;
  /** The client's address, for its share of all streams. */
  readonly address: string;
  /** The last event that the browser has seen; null if it wants the next ones only. */
  readonly after: number | null;
};

const SEQUENCE = /^\d{1,15}$/;

const sequenceOf = (text: string | null | undefined): number | null => (text && SEQUENCE.test(text) ? Number(text) : null);

/** The place to resume from. A browser sends the header when it connects again, and another tab that takes over sends the query. */
export function resumeAfter(url: string, header: string | readonly string[] | undefined): number | null {
  const query = new URLSearchParams(url.slice(url.indexOf("?") + 1)).get("after");
  return sequenceOf(typeof header === "string" ? header : null) ?? sequenceOf(query);
}

export const isChangesPath = (url: string): boolean => url === CHANGES_PATH || url.startsWith(`${CHANGES_PATH}?`);
