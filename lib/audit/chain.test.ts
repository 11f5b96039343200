import { hash } from "node:crypto";
import canonicalize from "canonicalize";
import fc from "fast-check";
import { expect, test } from "vitest";
import { hashEvent } from "#lib/audit/chain.ts";

const event = {
  auditEventId: "aud_1",
  type: "payment.authorized",
  actorId: "sa_1",
  entityType: "authorization",
  entityId: "aut_1",
};
const createdAt = "2026-11-22T00:00:00.000Z";
const value = fc.oneof(fc.string({ unit: "binary" }), fc.integer(), fc.boolean(), fc.jsonValue({ stringUnit: "binary" }));
const name = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.nat().map(String),
  fc.constantFrom("amount", "asset", "chain", "sellerId"),
);

test("an event's hash is the leaf hash of its RFC 8785 text, with its metadata in any order", () => {
  const who = fc.constantFrom(null, "org_1");
  fc.assert(
    fc.property(fc.dictionary(name, value), who, who, (metadata, organizationId, subjectId) => {
      const told = { ...event, metadata, createdAt, ...(organizationId && { organizationId }), ...(subjectId && { subjectId }) };
      const text = `\0${canonicalize(told)}`;
      const chained = { ...event, metadata, organizationId, subjectId, createdAt: new Date(createdAt) };
      expect(hashEvent(chained)).toBe(hash("sha256", text, "hex"));
    }),
    { numRuns: 2_000 },
  );
});
