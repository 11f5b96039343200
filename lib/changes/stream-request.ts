export const CHANGES_PATH = "/changes";

/** The data that the API process passes to the process of the pages together with the connection of a browser. */
export type StreamRequest = {
  readonly cookie: string | null;
  /** The client's network address. The number of streams per address is limited. */
  readonly address: string;
  /** The sequence of the last audit event that the browser knows of; null if it sends none, and the stream begins at the end. */
  readonly after: number | null;
};

const SEQUENCE = /^\d{1,15}$/;

const sequenceOf = (text: string | null | undefined): number | null => (text && SEQUENCE.test(text) ? Number(text) : null);

/**
 * Returns the sequence after which the stream continues; null if the browser sends no valid one. A browser that connects again
 * sends the sequence in the Last-Event-ID header; a tab that opens the stream sends it in the query.
 */
export function resumeAfter(url: string, header: string | readonly string[] | undefined): number | null {
  const query = new URLSearchParams(url.slice(url.indexOf("?") + 1)).get("after");
  return sequenceOf(typeof header === "string" ? header : null) ?? sequenceOf(query);
}

export const isChangesPath = (url: string): boolean => url === CHANGES_PATH || url.startsWith(`${CHANGES_PATH}?`);
