/* Reads answers of servers that this package does not trust with its memory or its time. */

export type Limits = { readonly bytes: number; readonly milliseconds: number };
export type Read = {
  readonly text: string;
  /** Why the rest is missing. Undefined if the text is whole. */ readonly cut?: Error;
};

/**
 * The parts of a body. Only the time counts in which this code waits for bytes.
 * @throws at the limits, and the error of the stream
 */
export async function* partsOf({ body }: Response, { bytes, milliseconds }: Limits): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  if (!reader) return;
  const stop = (): void => void reader.cancel().catch(() => {});
  let [room, left, isLate] = [bytes, milliseconds, false];
  try {
    for (;;) {
      const since = performance.now();
      const timer = setTimeout(() => ((isLate = true), stop()), Math.max(left, 0));
      const { done, value } = await reader.read().finally(() => clearTimeout(timer));
      if (isLate) throw new Error(`It did not arrive within ${milliseconds / 1_000} seconds.`);
      if (done) return;
      left -= performance.now() - since;
      yield value.subarray(0, room);
      if (value.byteLength > room) throw new Error(`It is larger than ${bytes} bytes.`);
      room -= value.byteLength;
    }
  } finally {
    stop();
  }
}

/** The text of a body, or its beginning if it exceeds a limit or breaks off. */
export async function textOf(response: Response, limits: Limits): Promise<Read> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const part of partsOf(response, limits)) text += decoder.decode(part, { stream: true });
    return { text: text + decoder.decode() };
  } catch (cut) {
    return { text, cut: cut as Error };
  }
}

/** @throws if the text exceeds a limit or breaks off */
export async function wholeText(response: Response, limits: Limits): Promise<string> {
  const { text, cut } = await textOf(response, limits);
  if (cut) throw cut;
  return text;
}

/** A timer of more milliseconds would end at once. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** A fetch that gives up if no answer begins in time. The body has limits of its own. A Request keeps its signal. */
export async function fetchWithin(
  milliseconds: number,
  send: typeof fetch,
  asked: string | Request,
  { signal = typeof asked === "string" ? null : asked.signal, ...init }: RequestInit = {},
): Promise<Response> {
  const late = new AbortController();
  const end = (): void => late.abort(new Error(`no answer came within ${milliseconds / 1_000} seconds`));
  const timer = setTimeout(end, Math.min(milliseconds, TIMER_MAX_MS));
  try {
    return await send(asked, { ...init, signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal });
  } finally {
    clearTimeout(timer);
  }
}
