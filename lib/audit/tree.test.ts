import fc from "fast-check";
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { appendLeaf, EMPTY_ROOT, inclusionPath, leafHash, peaksAt, rootOf, sequencesOf, type Peaks } from "#lib/audit/tree.ts";

const sha256 = (...parts: Buffer[]): Buffer => createHash("sha256").update(Buffer.concat(parts)).digest();

/** The definitions of RFC 9162, written down as they are. */
function rootByDefinition(leaves: readonly string[]): Buffer {
  if (leaves.length === 0) return sha256();
  if (leaves.length === 1) return sha256(Buffer.of(0), Buffer.from(leaves[0]!));
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  return sha256(Buffer.of(1), rootByDefinition(leaves.slice(0, split)), rootByDefinition(leaves.slice(split)));
}

function pathByDefinition(index: number, leaves: readonly string[]): Buffer[] {
  if (leaves.length <= 1) return [];
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  const [left, right] = [leaves.slice(0, split), leaves.slice(split)];
  return index < split
    ? [...pathByDefinition(index, left), rootByDefinition(right)]
    : [...pathByDefinition(index - split, right), rootByDefinition(left)];
}

/** Appends the leaves one by one. Node s belongs to the event with sequence s. */
function grow(leaves: readonly string[]) {
  let peaks: Peaks = [];
  const nodes: string[] = [];
  for (const [size, text] of leaves.entries()) {
    const added = appendLeaf(size, peaks, leafHash(text));
    peaks = added.peaks;
    nodes.push(added.node ?? leafHash(text));
  }
  const stored = (sequence: number, width: number) => (width === 1 ? leafHash(leaves[sequence - 1]!) : nodes[sequence - 1]!);
  return { peaks, stored };
}

const leavesOf = (size: number): string[] => Array.from({ length: size }, (_, at) => `leaf ${at}`);

describe("the tree of an audit chain", () => {
  test("has the root of RFC 9162 at every size up to 130, and of an empty tree", () => {
    expect(rootOf([])).toBe(EMPTY_ROOT);
    for (let size = 1; size <= 130; size += 1) {
      const leaves = leavesOf(size);
      const { peaks, stored } = grow(leaves);
      expect(rootOf(peaks)).toBe(rootByDefinition(leaves).toString("hex"));
      expect(peaksAt(size, stored)).toEqual(peaks);
    }
  });

  test("has the inclusion paths of RFC 9162 at every size up to 40", () => {
    const { stored } = grow(leavesOf(40));
    for (let size = 1; size <= 40; size += 1)
      for (let index = 0; index < size; index += 1)
        expect(inclusionPath(index, size, stored)).toEqual(
          pathByDefinition(index, leavesOf(size)).map((hash) => hash.toString("hex")),
        );
  });

  test("needs few stored nodes for a path, all of them within the tree", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 40 }), fc.double({ min: 0, max: 0.999, noNaN: true }), (size, share) => {
        const needed = sequencesOf((stored) => inclusionPath(Math.floor(size * share), size, stored));
        expect(needed.length).toBeLessThanOrEqual(Math.ceil(Math.log2(size) + 1) ** 2);
        expect(needed.every((sequence) => sequence >= 1 && sequence <= size)).toBe(true);
      }),
    );
  });
});
