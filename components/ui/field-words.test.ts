import { describe, expect, test } from "vitest";
import { z } from "zod";
import { fieldOf, fieldWords, withoutBlanks } from "#components/ui/field-words.ts";

const said = (schema: z.ZodType, value: unknown): string | undefined =>
  schema.safeParse(value, { error: fieldWords }).error?.issues[0]?.message;

describe("the messages at a field", () => {
  test.each([
    [z.string().min(1), "", "Fill this in."],
    [z.string().min(1), undefined, "Fill this in."],
    [z.string().min(3), "ab", "Use at least 3 characters."],
    [z.string().max(2), "abc", "Use at most 2 characters."],
    [z.array(z.string()).min(1), [], "Choose at least one."],
    [z.enum(["day", "week"]), "year", "Choose one of the values."],
    [z.email(), "nobody", "Write an e-mail address."],
    [z.number(), "many", "Write a number."],
    [z.string().regex(/^a$/, "Write an a."), "b", "Write an a."],
  ])("%# %j", (schema, value, words) => expect(said(schema, value)).toBe(words));

  test("a pointer becomes the path of the field", () => expect(fieldOf("/pricing/amount")).toBe("pricing.amount"));

  test("an escaped slash in a pointer belongs to the name of a field", () =>
    expect(["/a~1b/c", "/a~0b", "/a~01"].map(fieldOf)).toEqual(["a/b.c", "a~b", "a~1"]));

  test("a field with empty text counts as absent", () =>
    expect(withoutBlanks({ name: "a", description: "", pricing: { amount: "" }, agents: ["", { id: "" }] })).toEqual({
      name: "a",
      pricing: {},
      agents: ["", {}],
    }));
});
