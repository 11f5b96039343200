import { beforeAll, describe, expect, test } from "vitest";
import { env } from "#lib/env.ts";
import { call, ProblemError, type CallOptions } from "#lib/http/client.ts";
import { createMandate, getMandate, listMandates } from "#lib/mandates/contract.ts";
import { getSeller } from "#lib/sellers/contract.ts";
import { dispatch } from "#lib/server/entry.ts";
import { useDatabase } from "#test/database.ts";
import { assets, createBuyer } from "#test/mandates.ts";

useDatabase();

const policy = { assets, limits: { perPayment: "1", total: "5" } };

describe("call", () => {
  let options: CallOptions;
  beforeAll(async () => {
    const { person } = await createBuyer();
    options = { baseUrl: `${env().BASE_URL}/`, headers: person.credential, fetch: (request) => dispatch(request) };
  });

  test("sends path, query and body, and returns the operation's answer", async () => {
    const created = await call(createMandate, { body: { name: "By the client", policy } }, options);
    expect((await call(getMandate, { id: created.mandateId }, options)).name).toBe("By the client");
    await call(createMandate, { body: { name: "Another", policy } }, options);
    const { items, hasMore, nextCursor } = await call(listMandates, { query: { limit: 1, cursor: undefined } }, options);
    expect([items[0]?.name, hasMore]).toEqual(["Another", true]);
    const next = await call(listMandates, { query: { limit: 1, cursor: nextCursor } }, options);
    expect(next.items[0]?.name).toBe("By the client");
  });

  test("a retry with the same key gets the same answer", async () => {
    const create = () => call(createMandate, { body: { name: "Once", policy } }, { ...options, idempotencyKey: "client-once" });
    expect((await create()).mandateId).toBe((await create()).mandateId);
  });

  test("throws a ProblemError with the refusal that the service sent", async () => {
    const refused = call(createMandate, { body: { name: "", policy } }, options);
    await expect(refused).rejects.toBeInstanceOf(ProblemError);
    await expect(refused).rejects.toMatchObject({
      problem: { status: 400, code: "invalid_request", errors: [{ pointer: "/name" }] },
    });
  });

  test("escapes characters that would change the path", async () => {
    await expect(call(getSeller, { id: "../../v1/mandates" }, options)).rejects.toMatchObject({ problem: { code: "not_found" } });
  });

  test("throws an error with the status for an answer that is not from the service", async () => {
    const proxy = () => Promise.resolve(new Response("<html>", { status: 502 }));
    await expect(call(getSeller, { id: "x" }, { ...options, fetch: proxy })).rejects.toThrow("502 without JSON");
  });
});
