import fc from "fast-check";
import { expect, test } from "vitest";
import { paceOf } from "#lib/notices/pace.ts";
import { minutes } from "#lib/time.ts";

const now = new Date("2026-11-21T12:00:00.000Z");
const before = (count: number) => new Date(now.getTime() - minutes(count));

test("paceOf: three single mails, then every five minutes a digest of all requests before it is sent", () => {
  for (const singles of [0, 1, 2]) expect(paceOf({ singles, digest: null }, now)).toEqual({ as: "single" });
  expect(paceOf({ singles: 3, digest: null }, now)).toEqual({ as: "digest", sendAt: now });
  const queued = { mailId: "mai_1", isOpen: true, at: now };
  expect(paceOf({ singles: 3, digest: queued }, now)).toEqual({ as: "joined", mailId: "mai_1" });
  const sent = { ...queued, isOpen: false };
  expect(paceOf({ singles: 3, digest: { ...sent, at: before(2) } }, now)).toEqual({ as: "digest", sendAt: before(-3) });
  expect(paceOf({ singles: 3, digest: { ...sent, at: before(7) } }, now)).toEqual({ as: "digest", sendAt: now });
});

test("paceOf: however often requests come, a person gets at most three single mails and two digests in ten minutes", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 1_800 }), { maxLength: 200 }), (seconds) => {
      const sent: { readonly at: number; readonly digest: boolean }[] = [];
      for (const second of seconds.toSorted((a, b) => a - b)) {
        const at = second * 1_000;
        const lately = sent.filter((one) => one.at > at - minutes(10));
        const last = lately.findLast(({ digest }) => digest);
        const pace = paceOf(
          {
            singles: lately.filter(({ digest }) => !digest).length,
            digest: last ? { mailId: "mai", isOpen: last.at > at, at: new Date(last.at) } : null,
          },
          new Date(at),
        );
        if (pace.as === "single") sent.push({ at, digest: false });
        if (pace.as === "digest") sent.push({ at: pace.sendAt.getTime(), digest: true });
      }
      for (const { at } of sent) {
        const window = sent.filter((one) => one.at >= at && one.at < at + minutes(10));
        expect(window.filter(({ digest }) => !digest).length).toBeLessThanOrEqual(3);
        expect(window.filter(({ digest }) => digest).length).toBeLessThanOrEqual(2);
      }
    }),
  );
});
