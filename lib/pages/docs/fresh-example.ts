const OF_ONE_REQUEST = new Set(["intentId", "nonce", "idempotencyKey"]);

type Fresh = {
  /** A text that no earlier request has used, because it becomes the intent id, the nonce and the idempotency key. */
  readonly name: string;
  readonly expiresAt: Date;
};

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
