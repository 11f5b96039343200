import type { Hex } from "viem";
import type { NewRelay } from "#lib/onchain/relay-store.ts";
import { gasCaps } from "#lib/onchain/relay-target.ts";
import type { RelayKey, RelayPurpose, StoredAuthorization } from "#lib/onchain/tables.ts";

export type RelayRequest = {
  readonly organizationId: string;
  readonly environment: string;
  readonly mandateId: string;
  readonly chain: string;
  readonly key: RelayKey;
  readonly purpose: RelayPurpose;
  /** Identifies the transaction together with `purpose`: the id of the registration, or of the payment's execution. */
  readonly entityId: string;
  readonly to: Hex;
  readonly data: Hex;
  /** EIP-7702 authorizations. Each may delegate only to the configured implementation. */
  readonly authorizationList?: readonly StoredAuthorization[];
};

/** Before the transaction is sent, `prepare` in relay-send.ts checks the contract that it calls. */
export const relayRow = (relayId: string, { to, authorizationList, ...request }: RelayRequest): NewRelay => ({
  ...request,
  relayId,
  to: to.toLowerCase(),
  authorizationList: authorizationList ?? null,
  gasCap: gasCaps[request.purpose],
  status: "queued",
});
