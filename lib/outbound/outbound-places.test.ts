import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { actFor } from "#lib/db/request.ts";
import { OutboundPlaces } from "#lib/outbound/outbound-places.ts";
import { standardLimits } from "#lib/outbound/guarded-fetch.ts";
import { guarded, json, serve } from "#test/guarded.ts";

const limits = { ...standardLimits.places, waitMs: 2_000 };

/** Work that runs until the test ends it. */
function openWork() {
  const open: (() => void)[] = [];
  const began: string[] = [];
  const work = (name: string) => () =>
    new Promise<string>((resolve) => {
      began.push(name);
      open.push(() => resolve(name));
    });
  const endAll = async (): Promise<void> => {
    for (await pause(0); open.length > 0; await pause(0)) for (const end of open.splice(0)) end();
  };
  return { began, open, work, endAll };
}

describe("requests to hosts that users name", () => {
  test("120 calls of one organization to a slow shop do not block another organization's calls to it", async () => {
    const { port } = await serve((request, response) => {
      setTimeout(() => json(response, {}), request.url === "/slow" ? 250 : 0);
    });
    const { fetch } = guarded({ ports: [port], limits: { headersMs: 1_000 } });
    const url = `http://127.0.0.1:${port}`;
    const slow = Array.from({ length: 120 }, () => actFor("org_slow", () => fetch(`${url}/slow`)).catch(() => null));
    const replies = await Promise.all(Array.from({ length: 8 }, () => actFor("org_other", () => fetch(`${url}/quick`))));
    expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    expect((await Promise.all(slow)).filter((reply) => reply !== null).length).toBeGreaterThan(0);
  });

  test("runs at most 32 of 1,500 requests of one organization at once, and 256 of many organizations", async () => {
    const places = new OutboundPlaces(limits);
    const { began, work, endAll } = openWork();
    const one = Array.from({ length: 1_500 }, (_, at) => places.use(`host${at}`, "org_one", work("one")));
    await pause(0);
    expect(began).toHaveLength(limits.total.each);
    const others = Array.from({ length: 1_500 }, (_, at) => places.use(`other${at}`, `org_${at % 20}`, work("other")));
    await pause(0);
    expect(began.length).toBeLessThanOrEqual(limits.total.most);
    // An organization without open requests is still served, although the other organizations use all that they may.
    void places.use("late", "org_late", work("late"));
    await pause(0);
    expect(began).toContain("late");
    await endAll();
    const answered = (await Promise.all([...one, ...others])).filter((reply) => reply !== null);
    expect(answered.length).toBeLessThanOrEqual(limits.waiting.most + limits.total.most);
  });

  test("organizations take turns at a host, and a request that waits too long is refused", async () => {
    const places = new OutboundPlaces({ ...limits, waitMs: 200 });
    const { began, open, work, endAll } = openWork();
    const held = Array.from({ length: 5 }, (_, at) => places.use("shop", `org_${at}`, work("held")));
    const waiting = [
      ...Array.from({ length: 3 }, () => places.use("shop", "org_loud", work("loud"))),
      places.use("shop", "org_quiet", work("quiet")),
    ];
    await pause(0);
    open.shift()!();
    await pause(0);
    open.shift()!();
    await pause(0);
    expect(began.slice(5).toSorted()).toEqual(["loud", "quiet"]);
    await pause(300);
    await endAll();
    expect((await Promise.all(waiting)).filter((reply) => reply === null)).toHaveLength(2);
    await Promise.all(held);
  });
});
