import { generatePrivateKey } from "viem/accounts";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { relayedTransactions } from "#lib/onchain/tables.ts";
import { forget } from "#lib/process.ts";
import { useDatabase } from "#test/database.ts";
import { authorized, execute, readPayment, useSettlement, type PaymentScene } from "#test/payments.ts";
import { registeredScene, useContracts } from "#test/registered.ts";
import { configureChain, fundSenders } from "#test/relays.ts";
import { deployContracts, MODULE } from "#test/smart-account.ts";

useDatabase();
const chain = useSettlement();
const contracts = useContracts(chain);
beforeAll(() => fundSenders(chain()));

const moduleScene = () => registeredScene(chain(), contracts(), { terms: { enforcementPath: MODULE } });
const onchain = { enforcementPath: "onchain" };
/** Configures another guardian key until the returned function is called, at the latest until the test ends. */
function anotherGuardian(): () => void {
  const before = env().GUARDIAN_PRIVATE_KEY;
  const use = (key: string | undefined) => {
    process.env["GUARDIAN_PRIVATE_KEY"] = key;
    forget("env", "onchain/keys GUARDIAN_PRIVATE_KEY", "onchain/registry/deployments");
  };
  const restore = () => use(before);
  use(generatePrivateKey());
  onTestFinished(restore);
  return restore;
}
const balanceOf = ({ seller }: PaymentScene) => chain().balanceOf(seller.payTo);

describe("a payment under contracts that were not compared with the chain at startup", () => {
  test("by the module of another deployment is not sent, and is made once the right module is configured", async () => {
    const other = await deployContracts(chain(), { guardian: contracts().guardian, policySigner: contracts().policySigner });
    const scene = await moduleScene();
    const { authorizationId } = await authorized(scene, onchain);
    const restore = configureChain({ contracts: { paymentModule: other.paymentModule } });
    const { status, problem } = await execute(scene, { authorizationId });
    expect([status, problem.code]).toEqual([502, "rpc_unavailable"]);
    expect(await database().$count(relayedTransactions)).toBe(0);
    expect((await readPayment(scene, authorizationId)).data.executions).toEqual([]);
    restore();
    expect((await execute(scene, { authorizationId })).status).toBe(200);
    await expect.poll(() => balanceOf(scene), { interval: 100 }).toBe(250_000n);
  });

  test("by a proof is not signed for a registry that this service's guardian could not close", async () => {
    const scene = await registeredScene(chain(), contracts());
    const { authorizationId } = await authorized(scene);
    const restore = anotherGuardian();
    const { status, problem } = await execute(scene, { authorizationId });
    expect([status, problem.code]).toEqual([502, "rpc_unavailable"]);
    expect((await readPayment(scene, authorizationId)).data.executions).toEqual([]);
    restore();
    expect((await execute(scene, { authorizationId })).data).toMatchObject({ settlementStatus: "pending" });
  });
});
