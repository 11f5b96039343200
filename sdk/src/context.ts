import type { Token } from "./challenge.ts";
import type { Service, ServiceOptions } from "./service.ts";
import type { Wallet } from "./sign.ts";

export type ApprovalRequest = {
  /** The page where a person approves or declines. */
  readonly url: string;
};

export type CountersignOptions = ServiceOptions & {
  readonly mandateId: string;
  /** Signs the payments. Without it, the service must sign: for a mandate registered on the chain, and never for MPP. */
  readonly wallet?: Wallet;
  /**
   * Called when a person must approve and nobody has decided yet, or the key may not read the decision. "stop" ends the call with
   * ApprovalRequired. Otherwise the call waits until a person decides or the request expires; if the key may not read the
   * decision, it throws ServiceRefused.
   */
  readonly onApproval?: (request: ApprovalRequest) => "stop" | "wait" | void | Promise<"stop" | "wait" | void>;
  /** Seconds until the payment intent expires: at most a day, by default an hour. The authorization may end earlier. */
  readonly expiresInSeconds?: number;
  /** How long to wait for the payment's outcome if the seller does not serve, in seconds. The default is 20. */
  readonly followSeconds?: number;
  /**
   * How long a seller may take until its answer begins, in seconds: before the payment, and again in all tries together after it.
   * The default is 120.
   */
  readonly sellerSeconds?: number;
  /** The secret (`whsec_…`) or public key (`whpk_…`) of a webhook endpoint, or several while you rotate them. For verifyWebhook. */
  readonly webhookKeys?: string | readonly string[];
};

export type Context = Required<Pick<CountersignOptions, "mandateId" | "expiresInSeconds" | "followSeconds" | "sellerSeconds">> &
  Pick<CountersignOptions, "wallet" | "onApproval"> & {
    readonly service: Service;
    /** The tokens that the mandate pays in. */
    readonly tokens: (signal?: AbortSignal) => Promise<readonly Token[]>;
  };

const CLIENT_ID = /^[A-Za-z0-9_.:-]{1,128}$/;

/**
 * The idempotency key of an operation: its name if that is a valid key, else a hash of it. Without a name every call is a new
 * purchase.
 */
export async function keyOf(operation: string | undefined): Promise<string> {
  if (operation === undefined) return crypto.randomUUID();
  if (CLIENT_ID.test(operation)) return operation;
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(operation));
  return `op_${Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
