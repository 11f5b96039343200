import { idUnder } from "#lib/ids.ts";

/* The ids of the policy decision and of the hold (the reserved amount) are the authorization's id with other prefixes. */

type Named = { readonly authorizationId: string };

export const policyDecisionIdOf = ({ authorizationId }: Named): string => idUnder("policyDecision", authorizationId);

export const reservationIdOf = ({ authorizationId }: Named): string => idUnder("reservation", authorizationId);

export const reservationIdsOf = (authorizationIds: readonly string[]): string[] =>
  authorizationIds.map((authorizationId) => reservationIdOf({ authorizationId }));
