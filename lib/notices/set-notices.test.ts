import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { sendMails } from "#lib/mail/send-mails.ts";
import * as contract from "#lib/notices/contract.ts";
import { followEvents } from "#lib/notices/follow-events.ts";
import { sendNotices, stillWanted } from "#lib/notices/send-notices.ts";
import { setNotices } from "#lib/notices/set-notices.ts";
import { viewNotices } from "#lib/pages/settings/view-security.ts";
import { eventsAbout } from "#test/audit.ts";
import { callerOf } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { startSmtp } from "#test/mail.ts";
import { askingBuyer, openRequest } from "#test/notices.ts";
import { createAgent, createPerson, send, type Credential } from "#test/tenant.ts";

useDatabase();

let scene: Awaited<ReturnType<typeof askingBuyer>>;
beforeEach(async () => {
  scene = await askingBuyer();
});

const set = (as: Credential, body: unknown, key?: string) =>
  send(contract.setNotices, setNotices, { as, body, ...(key !== undefined && { key }) });

describe("setNotices", () => {
  test("a person who switches off mail gets none, not even one that is already queued; other people still do", async () => {
    const smtp = await startSmtp();
    onTestFinished(() => smtp.stop());
    const { buyer, mandateId } = scene;
    const [later, other] = [await createPerson(buyer.organizationId, "admin"), await createPerson(buyer.organizationId, "admin")];
    expect((await set(buyer.person.credential, { mail: false })).data).toEqual({ mail: false, quietHours: null });
    await openRequest(buyer, mandateId);
    await followEvents();
    await sendNotices();
    await set(later.credential, { mail: false });
    await sendMails(stillWanted);
    expect(smtp.received.map((text) => /^To: (.*)$/m.exec(text)?.[1]?.trim())).toEqual([`${other.userId}@example.com`]);
  });

  test("the page shows the choice; each change is in the audit log once", async () => {
    const { person } = scene.buyer;
    const caller = await callerOf(person.credential);
    expect(await viewNotices(caller)).toMatchObject({ mail: true, quietHours: null });
    await set(person.credential, { mail: false }, "off");
    expect((await set(person.credential, { mail: false }, "off")).headers.get("idempotent-replayed")).toBe("true");
    await set(person.credential, { mail: false });
    expect(await viewNotices(caller)).toMatchObject({ mail: false, quietHours: null });
    await set(person.credential, { mail: true });
    const events = (await eventsAbout(person.userId)).filter(({ type }) => type === "notices.updated");
    expect(events.map(({ metadata }) => metadata)).toEqual([{ mail: false }, { mail: true }]);
  });

  test("quiet hours stay until they are changed, and null ends them", async () => {
    const { person } = scene.buyer;
    const quietHours = { from: "22:00", to: "07:30", timezone: "Europe/Berlin" };
    expect((await set(person.credential, { mail: true, quietHours })).data).toEqual({ mail: true, quietHours });
    expect((await set(person.credential, { mail: false })).data).toEqual({ mail: false, quietHours });
    expect((await set(person.credential, { mail: false, quietHours: null })).data).toEqual({ mail: false, quietHours: null });
    const events = (await eventsAbout(person.userId)).filter(({ type }) => type === "notices.updated");
    expect(events.map(({ metadata }) => metadata)).toEqual([
      { mail: true, quietHours },
      { mail: false, quietHours },
      { mail: false },
    ]);
  });

  test.each([
    ["/quietHours/timezone", { from: "22:00", to: "07:00", timezone: "Mars/Base" }],
    ["/quietHours/from", { from: "22", to: "07:00", timezone: "UTC" }],
    ["/quietHours/to", { from: "22:00", to: "22:00", timezone: "UTC" }],
  ])("400 at %s for quiet hours that are not valid", async (pointer, quietHours) => {
    const { problem } = await set(scene.buyer.person.credential, { mail: true, quietHours });
    expect([problem.status, problem.errors?.[0]?.pointer]).toEqual([400, pointer]);
  });

  test("400 without a choice, 403 for an API key", async () => {
    const { problem } = await set(scene.buyer.person.credential, {});
    expect([problem.status, problem.errors?.[0]?.pointer]).toEqual([400, "/mail"]);
    const agent = await createAgent(scene.buyer.organizationId, ["payments:read"]);
    expect((await set(agent.credential, { mail: false })).status).toBe(403);
  });
});
