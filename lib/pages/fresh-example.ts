const OF_ONE_REQUEST = new Set(["intentId", "nonce", "idempotencyKey"]);

type Fresh = {
  /** What no request has used yet. */
  readonly name: string;
  /** When what the example asks for is over. */
  readonly expiresAt: Date;
};

/** An example that can be sent today: its expiry lies ahead, and its ids are new. */
export function freshExample(example: unknown, fresh: Fresh): unknown {
  if (Array.isArray(example)) return example.map((item) => freshExample(item, fresh));
  if (typeof example !== "object" || example === null) return example;
  return Object.fromEntries(
    Object.entries(example).map(([name, value]) => {
      if (name === "expiresAt") return [name, fresh.expiresAt.toISOString()];
      if (OF_ONE_REQUEST.has(name) && typeof value === "string") return [name, fresh.name];
      return [name, freshExample(value, fresh)];
    }),
  );
}
