import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isStillNews, planNotices, type Request } from "#lib/notices/plan-notices.ts";
import { minutes } from "#lib/time.ts";

const start = new Date("2026-11-21T12:00:00.000Z");
const after = (count: number) => new Date(start.getTime() + minutes(count));
const event = { auditEventId: "aud_1", type: "payment.approvalRequired", entityId: "aut_1", checkoutIntentId: "cki_1" };
const request: Request = {
  checkoutIntentId: "cki_1",
  organizationId: "org_1",
  status: "awaiting_approval",
  authorizationId: "aut_1",
  createdAt: start,
  expiresAt: after(30),
};

describe("planNotices", () => {
  test("people are told of a request at once, at half of its time, and five minutes before its end", () => {
    expect(planNotices(event, request, start).map(({ kind, dueAt }) => [kind, dueAt])).toEqual([
      ["opened", start],
      ["halfTime", after(15)],
      ["lastMinutes", after(25)],
    ]);
  });

  test("a short request has no reminder before half of its time", () => {
    for (const life of [4, 8, 10])
      expect(planNotices(event, { ...request, expiresAt: after(life) }, start).map(({ kind }) => kind)).toEqual([
        "opened",
        "halfTime",
      ]);
  });

  test("nobody is told about a request that another event opened, that was decided, or that has expired", () => {
    expect(planNotices(event, { ...request, authorizationId: "aut_0" }, start)).toEqual([]);
    expect(planNotices(event, undefined, start)).toEqual([]);
    for (const status of ["approved", "rejected", "canceled", "superseded", "expired"])
      expect(planNotices(event, { ...request, status }, start)).toEqual([]);
    expect(planNotices(event, request, after(30))).toEqual([]);
    expect(planNotices({ ...event, type: "checkout.previewed" }, { ...request, status: "previewed" }, start)).toHaveLength(3);
  });
});

test("isDelivered: of the notices about a request that are due together, exactly the newest is delivered", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_440 }), fc.integer({ min: 0, max: 1_440 }), (life, late) => {
      const lived = { ...request, expiresAt: after(life) };
      const now = after(late);
      const due = planNotices(event, lived, start).filter(({ dueAt }) => dueAt <= now);
      const delivered = due.filter((notice) => isStillNews(notice, due, lived, now));
      expect(delivered).toEqual(late < life ? due.slice(-1) : []);
    }),
  );
});
