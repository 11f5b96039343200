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

export type ExchangeRequest = {
  readonly method: string;
  /** With the query; the request always goes to the origin of the page. */
  readonly path: `/api/${string}`;
  /** JSON text; null for no body. */
  readonly body: string | null;
  /** Sent in place of the reader's session. */
  readonly apiKey?: string;
};

const indented = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
};

/** Error responses are returned, not thrown. @throws TypeError if the service cannot be reached */
export async function exchange({ method, path, body, apiKey }: ExchangeRequest): Promise<Exchange> {
  const began = performance.now();
  const response = await fetch(path, {
    method,
    // The service refuses a request that contains both a key and a session cookie.
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
