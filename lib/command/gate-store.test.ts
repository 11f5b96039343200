import { describe, expect, onTestFinished, test, vi } from "vitest";
import { archiveResource } from "#lib/sellers/resources/archive-resource.ts";
import * as contract from "#lib/sellers/contract.ts";
import { useDatabase } from "#test/database.ts";
import { createAgent, createOrganization, send } from "#test/tenant.ts";

useDatabase();

const archiver = async () => (await createAgent(await createOrganization(), ["resources:manage"])).credential;

describe("the revocation gate", () => {
  test("429 for an organization that revokes too often, while another can still revoke", async () => {
    const [flood, other] = [await archiver(), await archiver()];
    // The limit is by the second, which here does not pass.
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const archive = (as: typeof flood) => send(contract.archiveResource, archiveResource, { as, id: "nothing" });
    const replies = await Promise.all(Array.from({ length: 150 }, () => archive(flood)));
    const refused = replies.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]).toMatchObject({ problem: { code: "rate_limited", retryable: true } });
    expect((await archive(other)).status).toBe(404);
  });
});
