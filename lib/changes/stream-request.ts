export const CHANGES_PATH = "/changes";

/** The data that the pages process gets with a connection that the API process hands over. */
export type StreamRequest = {
  readonly cookie: string | null;
  /** The client's network address, which may have a limited number of streams. */
  readonly address: string;
  /** The sequence of the last event that the browser was told about; null for a new stream. */
  readonly after: number | null;
};

const SEQUENCE = /^\d{1,15}$/;

const sequenceOf = (text: string | null | undefined): number | null => (text && SEQUENCE.test(text) ? Number(text) : null);

/** The sequence to resume after. A browser that reconnects sends it in a header; a tab that takes over the stream sends it in the query. */
export function resumeAfter(url: string, header: string | readonly string[] | undefined): number | null {
  const query = new URLSearchParams(url.slice(url.indexOf("?") + 1)).get("after");
  return sequenceOf(typeof header === "string" ? header : null) ?? sequenceOf(query);
}

export const isChangesPath = (url: string): boolean => url === CHANGES_PATH || url.startsWith(`${CHANGES_PATH}?`);
