/** One request to our own API and what it answered, as a reader sees both. */
export type Exchange = {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly sent: string | null;
  readonly status: number;
  readonly requestId: string | null;
  readonly milliseconds: number;
  readonly received: string;
};

export type Asked = {
  readonly method: string;
  /** With its query; always of this origin. */
  readonly path: `/api/${string}`;
  /** JSON as text; null for none. */
  readonly body: string | null;
  /** An API key in place of the reader's session. It goes nowhere but into this request. */
  readonly apiKey?: string;
};

const indented = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
};

/** Sends a request as it stands. Refusals are answers too. @throws TypeError when the service cannot be reached */
export async function exchange({ method, path, body, apiKey }: Asked): Promise<Exchange> {
  const began = performance.now();
  const response = await fetch(path, {
    method,
    // A key and a session at once are refused.
    credentials: apiKey === undefined ? "same-origin" : "omit",
    headers: {
      accept: "application/json",
      ...(body !== null && { "content-type": "application/json" }),
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    },
    ...(body !== null && { body }),
  });
  const text = await response.text();
  return {
    id: crypto.randomUUID(),
    method,
    path,
    sent: body === null ? null : indented(body),
    status: response.status,
    requestId: response.headers.get("request-id"),
    milliseconds: Math.round(performance.now() - began),
    received: indented(text),
  };
}
