import { describe, expect, test } from "vitest";
import { llmsText } from "#lib/pages/docs/llms-text.ts";
import { chapters, referenceOf } from "#lib/pages/docs/reference.ts";
import { operations } from "#lib/operations/operations.ts";

const ids = operations.map(({ id }) => id);

describe("the API reference", () => {
  test("has a chapter for every operation, and each operation once", () => {
    const listed = chapters().flatMap((chapter) => chapter.operations.map(({ id }) => id));
    expect(listed.toSorted()).toEqual(ids.toSorted());
  });

  test.each(operations.map((one) => [one.id, one] as const))("describes every part of %s", (id, operation) => {
    const reference = referenceOf(id);
    expect(reference).toMatchObject({ id, method: operation.method, path: operation.path, summary: operation.summary });
    expect(reference?.body === undefined).toBe(operation.body === undefined);
    expect(reference?.body?.example).toEqual(operation.body ? (operation.example.body ?? {}) : undefined);
    expect(reference?.reply.example).toEqual(operation.example.response);
    const named = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(reference?.parameters.filter((one) => one.in === "path").map(({ name }) => name)).toEqual(named);
    expect(reference?.refusals.map(({ code }) => code)).toEqual(operation.problems);
    expect(reference?.credentials.length === 0).toBe(operation.access === "anyone");
  });

  test("shows nested fields, and which of several shapes requires them", () => {
    const body = referenceOf("createMandate")?.body?.fields ?? [];
    const policy = body.find(({ name }) => name === "policy");
    const limits = policy?.fields.find(({ name }) => name === "limits");
    expect(policy).toMatchObject({ required: true, type: "object" });
    expect(limits?.fields.find(({ name }) => name === "perPayment")).toMatchObject({ required: true, type: "string" });
    const budgets = limits?.fields.find(({ name }) => name === "budgets");
    expect(budgets?.type).toBe("list of object");
    expect(budgets?.fields.map(({ name, required }) => [name, required])).toEqual([
      ["period", false],
      ["timezone", false],
      ["amount", true],
      ["rolling", false],
    ]);
    expect(budgets?.fields[0]?.values).toContain("day");
  });

  test("has nothing for an unknown operation", () => {
    expect(referenceOf("nothing")).toBeUndefined();
    expect(referenceOf("__proto__")).toBeUndefined();
  });

  test("llms.txt names every operation with its URL", () => {
    const text = llmsText("https://pay.example");
    for (const { id, method, path } of operations)
      expect(text).toContain(`(https://pay.example/docs/${id}): \`${method} ${path}\``);
    expect(text.startsWith("# Countersign\n\n> ")).toBe(true);
  });
});
