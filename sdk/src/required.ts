import { wholeText } from "./bounded.ts";
import { challengeFrom, decode, type Challenge } from "./challenge.ts";
import type { Context } from "./context.ts";
import { ChallengeRefused } from "./errors.ts";
import { challengeOfMpp, chargesIn, mppChallenges, mppHeaders } from "./mpp.ts";
import type { PaymentExecution } from "./operations.ts";

/* What a seller asks for: x402's PaymentRequired, or the challenges of MPP (Machine Payments Protocol). */

const BODY_LIMITS = { bytes: 1 << 20, milliseconds: 30_000 };

/** What a 402 asks for, by its header for x402, its header for MPP, or its body. Null if none can be read. */
export async function requiredIn(response: Response): Promise<unknown> {
  const header = response.headers.get("payment-required");
  const challenges = header === null ? chargesIn(response.headers.get("www-authenticate") ?? "") : [];
  if (header === null && challenges.length === 0)
    return wholeText(response, BODY_LIMITS)
      .then((text) => JSON.parse(text) as unknown)
      .catch(() => null);
  await response.body?.cancel().catch(() => {});
  return header === null ? { challenges } : decode(header);
}

/** The payment to make in a token of the mandate. @throws ChallengeRefused */
export async function challengeOf(
  { tokens, wallet }: Context,
  required: unknown,
  url: string,
  signal: AbortSignal,
): Promise<Challenge> {
  const mpp = mppChallenges(required);
  if (!mpp) return challengeFrom(required, url, await tokens(signal));
  if (!wallet) throw new ChallengeRefused("A seller that uses MPP can only be paid from a wallet. Give the client a wallet.");
  return challengeOfMpp(mpp, url, await tokens(signal));
}

/** The headers with which a request by HTTP shows the credential. */
export const headersFor = ({ mpp }: Challenge, { credentialHeaders = {} }: PaymentExecution): Readonly<Record<string, string>> =>
  mpp ? mppHeaders(decode(Object.values(credentialHeaders)[0] ?? "")) : credentialHeaders;
