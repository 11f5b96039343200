import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Finding, Reason } from "#lib/mandates/policy/facts.ts";
import { decide } from "#lib/mandates/policy/policy.ts";
import { renderReasons, sentences } from "#lib/mandates/policy/render-reasons.ts";
import { intentOf, mandateOf, NOW, usageOf } from "#test/mandate-facts.ts";

/**
 * Stored findings with the reasons that they are rendered as. Only add rows, and never change one: a retry of a payment must
 * receive exactly the reason of the first reply.
 */
const golden = JSON.parse(await readFile(join(import.meta.dirname, "reasons.golden.json"), "utf8")) as (readonly [
  Finding,
  Reason,
])[];

describe("the reasons of a stored decision", () => {
  test.each(golden)("the finding %j is always rendered as the same bytes", (finding, reason) => {
    expect(JSON.stringify(renderReasons([1, 3, "USDC", "0.5", finding])[0])).toBe(JSON.stringify(reason));
  });

  test("each sentence has a row in reasons.golden.json, and the ids have no gap", () => {
    const ids = [...sentences.keys()].toSorted((a, b) => a - b);
    expect(ids).toEqual(Array.from({ length: ids.length }, (_, at) => at + 1));
    expect([...new Set(golden.map(([[id]]) => id))].toSorted((a, b) => a - b)).toEqual(ids);
  });

  test("a rule that asks a person only informs if another rule denies", () => {
    const effects = (...all: Finding[]) => renderReasons([1, 3, "USDC", "0.5", ...all]).map(({ effect }) => effect);
    expect(effects([76], [4])).toEqual(["approval", "allow"]);
    expect(effects([3], [76])).toEqual(["deny", "info"]);
  });

  test("a decision has the same words before and after it is stored", () => {
    const { findings, reasons } = decide(mandateOf({ approval: { mode: "always" } }), usageOf(), intentOf(), NOW);
    expect(renderReasons(JSON.parse(JSON.stringify(findings)) as typeof findings)).toEqual(reasons);
    expect(JSON.stringify(findings).length).toBeLessThan(JSON.stringify(reasons).length / 5);
  });

  test("a finding with a sentence of a newer release is refused, not shown as an empty reason", () => {
    expect(() => renderReasons([1, 3, "USDC", "0.5", [9999]])).toThrow(/^A newer release of the service wrote this decision/);
  });
});
