export const CHANGES_PATH = "/changes";

/** The API process passes it to the pages process together with the connection of a browser. */
export type StreamRequest = {
  readonly cookie: string | null;
  readonly address: string;
  /** The last sequence that the browser knows; null if it sends none, and the stream begins at the end. */
  readonly after: number | null;
};

const SEQUENCE = /^\d{1,15}$/;

const sequenceOf = (text: string | null | undefined): number | null => (text && SEQUENCE.test(text) ? Number(text) : null);

/** A browser that connects again sends Last-Event-ID; a tab that opens the stream sends the query. Null if neither is valid. */
export function resumeAfter(url: string, header: string | readonly string[] | undefined): number | null {
  const query = new URLSearchParams(url.slice(url.indexOf("?") + 1)).get("after");
  return sequenceOf(typeof header === "string" ? header : null) ?? sequenceOf(query);
}

export const isChangesPath = (url: string): boolean => url === CHANGES_PATH || url.startsWith(`${CHANGES_PATH}?`);
