import { expect, test } from "vitest";
import { asEvent, changeMessageOf, type ChangeKind } from "#lib/changes/change.ts";

const all: ReadonlySet<ChangeKind> = new Set(["payment", "request", "mandate"]);
const events = [
  { sequence: 4, type: "payment.approvalRequired", id: "auth_1" },
  { sequence: 5, type: "checkout.approved", id: "chk_1" },
  { sequence: 6, type: "payment.processing", id: "auth_1" },
  { sequence: 7, type: "member.invited", id: "inv_1" },
];

test("names each changed record once, and none that the reader has seen or may not read", () => {
  expect(changeMessageOf(events, 3, all)).toEqual({
    changes: [
      { kind: "payment", id: "auth_1" },
      { kind: "request", id: "auth_1" },
      { kind: "request", id: "chk_1" },
    ],
    more: false,
  });
  expect(changeMessageOf(events, 4, new Set<ChangeKind>(["request"]))?.changes).toEqual([{ kind: "request", id: "chk_1" }]);
  expect(changeMessageOf(events, 6, all)).toBeNull();
  expect(changeMessageOf(events, 3, new Set())).toBeNull();
});

test.each(["payment.exceeded", "payment.overdue", "payment.recorded"])("%s changes what waits for a person", (type) => {
  const message = changeMessageOf([{ sequence: 1, type, id: "aut_1" }], 0, new Set<ChangeKind>(["request"]));
  expect(message?.changes).toEqual([{ kind: "request", id: "aut_1" }]);
});

test("says that there is more if events were left out, and names at most thirty records", () => {
  expect(changeMessageOf(events, 1, all)?.more).toBe(true);
  expect(changeMessageOf(events.slice(3), 2, all)).toEqual({ changes: [], more: true });
  const many = Array.from({ length: 40 }, (_, at) => ({ sequence: at + 1, type: "mandate.created", id: `mdt_${at}` }));
  const message = changeMessageOf(many, 0, all);
  expect(message?.more).toBe(true);
  expect(message?.changes).toHaveLength(30);
  expect(message?.changes.at(-1)?.id).toBe("mdt_39");
});

test("an event contains the sequence from which to resume", () => {
  expect(asEvent(7, { changes: [], more: true })).toBe('id: 7\ndata: {"changes":[],"more":true}\n\n');
});
