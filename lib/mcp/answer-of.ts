import { ANSWER_BYTES, type SellerReply } from "#lib/mcp/paid-client.ts";

/** A seller's answer for an agent. It is data of a stranger, whatever it says. */
export type SellerAnswer = {
  readonly status: number;
  readonly contentType?: string;
  /** Where a redirect leads; it is not followed. */
  readonly location?: string;
  readonly text?: string;
  /** Bytes that are not UTF-8 text. */
  readonly base64?: string;
  readonly truncated: boolean;
  readonly untrusted: true;
};

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The text of the bytes; null if they are not text. The end of a cut text may be half of a character. */
function textOf(body: Uint8Array, isCut: boolean): string | null {
  for (let spare = 0; spare <= (isCut ? 3 : 0); spare += 1) {
    try {
      return utf8.decode(body.subarray(0, body.byteLength - spare));
    } catch {
      // Try without the last byte.
    }
  }
  return null;
}

export function answerOf({ status, headers, body }: SellerReply): SellerAnswer {
  const { "content-type": contentType, location } = headers;
  const truncated = body === null || body.byteLength >= ANSWER_BYTES;
  const encoding = headers["content-encoding"] ?? "identity";
  const text = body === null || encoding !== "identity" ? null : textOf(body, truncated);
  return {
    status,
    ...(contentType !== undefined && { contentType: contentType.slice(0, 200) }),
    ...(location !== undefined && { location: location.slice(0, 2_048) }),
    ...(text !== null && { text }),
    ...(text === null && body !== null && { base64: Buffer.from(body).toString("base64") }),
    truncated,
    untrusted: true,
  };
}
