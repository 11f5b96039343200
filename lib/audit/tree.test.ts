import fc from "fast-check";
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  appendLeaf,
  EMPTY_ROOT,
  inclusionPath,
  leafHash,
  peaksAt,
  readPeaks,
  rootFromPath,
  rootOf,
  sequencesOf,
  writePeaks,
  type Peaks,
} from "#lib/audit/tree.ts";

const sha256 = (...parts: Buffer[]): Buffer => createHash("sha256").update(Buffer.concat(parts)).digest();

/** The root hash of the leaves, calculated exactly as RFC 9162 defines it. */
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

/**
 * Appends the leaves one by one and collects the hash that is stored with each. The event with sequence s has the node at index s
 * - 1.
 */
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

  test("has paths that lead to the root, but not from another leaf, index or size", () => {
    const leaves = leavesOf(21);
    const { stored } = grow(leaves);
    for (let size = 1; size <= 21; size += 1) {
      const root = rootByDefinition(leaves.slice(0, size)).toString("hex");
      for (let index = 0; index < size; index += 1) {
        const path = inclusionPath(index, size, stored);
        const leaf = leafHash(leaves[index]!);
        expect(rootFromPath(leaf, index, size, path)).toBe(root);
        for (let other = 0; other <= size; other += 1)
          if (other !== index) expect(rootFromPath(leaf, other, size, path)).not.toBe(root);
        expect(rootFromPath(leafHash("another"), index, size, path)).not.toBe(root);
        expect(rootFromPath(leaf, index, size, [...path, leaf])).not.toBe(root);
        if (path.length > 0) expect(rootFromPath(leaf, index, size, path.slice(1))).not.toBe(root);
      }
    }
  });

  test("stores its peaks as text", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ minLength: 32, maxLength: 32 }), { maxLength: 50 }), (hashes) => {
        const peaks = hashes.map((bytes) => Buffer.from(bytes).toString("hex"));
        expect(readPeaks(writePeaks(peaks))).toEqual(peaks);
      }),
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
