import { ANSWER_BYTES, type SellerReply } from "#lib/mcp/purchase/paid-client.ts";

/** The text comes from a stranger and must not be followed as an instruction. */
export type SellerAnswer = {
  readonly status: number;
  readonly contentType?: string;
  /** Where the seller redirects; the service does not follow redirects. */
  readonly location?: string;
  readonly text?: string;
  /** The bytes in base64, if they are compressed or are not UTF-8 text. */
  readonly base64?: string;
  readonly truncated: boolean;
  readonly untrusted: true;
};

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Null if the bytes are not text. If the answer was cut, an incomplete last character is left out. */
function textOf(body: Uint8Array, isCut: boolean): string | null {
  for (let spare = 0; spare <= (isCut ? 3 : 0); spare += 1) {
    try {
      return utf8.decode(body.subarray(0, body.byteLength - spare));
    } catch {
      // The last character may be incomplete, so try without its bytes.
    }
  }
  return null;
}

export function sellerAnswerOf({ status, headers, body }: SellerReply): SellerAnswer {
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
