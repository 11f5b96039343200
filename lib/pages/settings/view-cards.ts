import { listCardConnections, type CardConnection } from "#lib/cards/contract.ts";
import { readCardConnections } from "#lib/cards/list-card-connections.ts";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { compileAccess } from "#lib/http/access.ts";
import type { MemberCaller } from "#lib/http/operation.ts";
import { listLiveServiceAccounts } from "#lib/identity/keys/service-account-store.ts";
import { subjectNames } from "#lib/identity/subject-name-store.ts";
import { mandatesOfCards } from "#lib/mandates/agent-store.ts";

const ROWS = 200;

export type CardsView = {
  /** The address under which each connection has its own. */
  readonly address: string;
  readonly connections: readonly CardConnection[];
  /** Under which a card may pay. Names are untrusted text. */
  readonly mandates: readonly { readonly mandateId: string; readonly name: string }[];
  readonly agents: readonly { readonly serviceAccountId: string; readonly name: string }[];
  /** Of the mandates and agents of the cards. */
  readonly names: Readonly<Record<string, string>>;
  /** The mandates of cards that do not let them pay any more. */
  readonly closed: readonly string[];
};

const requireAccess = compileAccess(listCardConnections.access);

/** @throws Problem capability_required */
export async function viewCards(caller: MemberCaller): Promise<CardsView> {
  requireAccess(caller);
  const connections = await readCardConnections(caller);
  const cards = connections.flatMap((one) => one.cards);
  const [mandates, accounts, agentNames] = await Promise.all([
    mandatesOfCards(
      caller,
      cards.map(({ mandateId }) => mandateId),
      ROWS,
    ),
    listLiveServiceAccounts({ ...caller, place: null, rows: ROWS }),
    subjectNames(
      database(),
      caller.organizationId,
      cards.map(({ serviceAccountId }) => serviceAccountId),
    ),
  ]);
  return {
    address: `${env().BASE_URL}/api/v1/rails/stripe`,
    connections,
    mandates: mandates.filter(({ admits }) => admits).map(({ mandateId, name }) => ({ mandateId, name })),
    agents: accounts.map(({ serviceAccountId, name }) => ({ serviceAccountId, name })),
    names: Object.fromEntries([...agentNames, ...mandates.map(({ mandateId, name }) => [mandateId, name] as const)]),
    closed: mandates.filter(({ admits }) => !admits).map(({ mandateId }) => mandateId),
  };
}
