import { eq } from "drizzle-orm";
import { compactVerify, importJWK } from "jose";
import { describe, expect, test } from "vitest";
import { signCheckpoints } from "#lib/audit/sign-checkpoints.ts";
import { database } from "#lib/db/client.ts";
import { session, user } from "#lib/identity/tables.ts";
import { exportPlatformAudit } from "#lib/platform/export-audit.ts";
import { addEvents } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { createBuyer, draftMandate } from "#test/mandates.ts";
import { createOfficial, endSessionsOf } from "#test/platform.ts";
import { createOrganization } from "#test/tenant.ts";

useDatabase();

const auditor = () => createOfficial("auditor");

/** The lines of the file that an auditor downloads. */
async function file(chain: string | undefined, format: "ndjson" | "csv", pagesMax?: number): Promise<string[]> {
  const { credential } = await auditor();
  const parts = await Array.fromAsync(exportPlatformAudit(credential["cookie"]!, chain, format, pagesMax));
  return parts.join("").trimEnd().split("\n");
}

describe("the export of the audit log", () => {
  test("NDJSON contains everything that a third party needs to check the signature", async () => {
    const { organizationId, person } = await createBuyer();
    await draftMandate(person.credential);
    await signCheckpoints({ afterSeconds: 0, afterEvents: 1 });
    const lines = (await file(organizationId, "ndjson")).map((line) => JSON.parse(line) as Record<string, unknown>);
    const { keys } = lines[0] as { keys: Record<string, unknown>[] };
    expect(lines[1]).toMatchObject({ chain: organizationId, sequence: 1, event: { type: "mandate.created" } });
    const signed = lines.at(-1)!["checkpoint"] as Record<string, string>;
    const { chain, sequence, hash, keyId, signature } = signed;
    const key = await importJWK(keys.find(({ kid }) => kid === keyId)!);
    const { payload, protectedHeader } = await compactVerify(signature ?? "", key);
    expect(protectedHeader).toEqual({ alg: "ES256", kid: keyId, typ: "log-head+jwt" });
    expect(JSON.parse(new TextDecoder().decode(payload))).toMatchObject({ log: chain, size: sequence, root: hash });
  });

  test("CSV has a line per event of every chain", async () => {
    const { organizationId, person } = await createBuyer();
    await draftMandate(person.credential, { name: "=1+1" });
    await endSessionsOf(await createOfficial("support"), person.userId);
    const lines = await file(undefined, "csv");
    expect(lines[0]).toBe(
      "chain,sequence,createdAt,type,actorId,organizationId,subjectId,entityType,entityId,auditEventId,hash,metadata\r",
    );
    expect(lines.filter((line) => line.startsWith(`${organizationId},1,`))).toHaveLength(1);
    expect(lines.some((line) => line.startsWith("platform,"))).toBe(true);
  });

  test.each([
    ["ndjson", 3],
    ["csv", 2],
  ] as const)(
    "%s is complete at its limit of pages, and above it says in its last line that lines are missing",
    async (format, pages) => {
      const chain = await createOrganization();
      await addEvents(chain, 600);
      const all = await file(chain, format, pages);
      expect(all).toHaveLength(601);
      expect(all.at(-1)).not.toContain("not complete");
      const cut = await file(chain, format, 1);
      expect(cut).toHaveLength(502);
      expect(cut.at(-1)).toContain("This file is not complete");
      expect(cut.slice(0, -1)).toEqual(all.slice(0, 501));
    },
  );

  const losses = [
    ["the session ends", "unauthenticated", (id: string) => database().delete(session).where(eq(session.userId, id))],
    [
      "the platform role is removed",
      "capability_required",
      (id: string) =>
        database()
          .update(user)
          .set({ platformRoles: ["user"] })
          .where(eq(user.id, id)),
    ],
  ] as const;

  test.each(losses)("fails before the next page if %s", async (_, code, loseRights) => {
    const chain = await createOrganization();
    await addEvents(chain, 600);
    const { userId, credential } = await auditor();
    const parts = exportPlatformAudit(credential["cookie"]!, chain, "csv");
    await parts.next();
    expect((await parts.next()).value).toContain(`${chain},1,`);
    await loseRights(userId);
    await expect(parts.next()).rejects.toMatchObject({ code });
    expect(await parts.next()).toEqual({ done: true, value: undefined });
  });
});
