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
  /** With the purpose it names the transaction: the registration's id, or of a payment its execution's. */
  readonly entityId: string;
  readonly to: `0x${string}`;
  readonly data: `0x${string}`;
  /** Each to the configured implementation alone. */
  readonly authorizationList?: readonly StoredAuthorization[];
};

/** The row of a transaction that is to be sent. Its target is looked at again before it is. */
export const relayRow = (relayId: string, { to, authorizationList, ...request }: RelayRequest): NewRelay => ({
  ...request,
  relayId,
  to: to.toLowerCase(),
  authorizationList: authorizationList ?? null,
  gasCap: gasCaps[request.purpose],
  status: "queued",
});
