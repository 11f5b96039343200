import { describe, expect, test, vi } from "vitest";
import * as client from "#lib/db/client.ts";
import { useDatabase } from "#test/database.ts";

useDatabase();

describe("pool", () => {
  test("two copies of lib/ in one process (the server's and the one in Next.js's bundle) open one pool", async () => {
    vi.resetModules();
    const other = await import("#lib/db/client.ts");
    expect(other.pool).not.toBe(client.pool);
    expect(other.pool()).toBe(client.pool());
    expect(other.batchPool()).toBe(client.batchPool());
    expect(other.database()).toBe(client.database());
    await other.closePools();
  });
});
