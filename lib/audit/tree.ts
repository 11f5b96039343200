import { hash as digest } from "node:crypto";

/*
 * The Merkle tree of an audit log (RFC 9162, section 2.1), with hexadecimal hashes. The event with sequence n is the leaf with
 * index n - 1. The root of the largest complete subtree that ends with the leaf is stored; other hashes are calculated.
 */

export const EMPTY_ROOT = digest("sha256", "", "hex");

export const leafHash = (text: string): string => digest("sha256", `\0${text}`, "hex");

export function nodeHash(left: string, right: string): string {
  const bytes = Buffer.allocUnsafe(65);
  bytes[0] = 1;
  bytes.write(left, 1, "hex");
  bytes.write(right, 33, "hex");
  return digest("sha256", bytes, "hex");
}

/** The roots of the complete subtrees that make up a tree, the largest first: one for each 1 in the binary form of the size. */
export type Peaks = readonly string[];

const HASH_BYTES = 32;

export const writePeaks = (peaks: Peaks): string => Buffer.from(peaks.join(""), "hex").toString("base64");

export function readPeaks(text: string): Peaks {
  const bytes = Buffer.from(text, "base64");
  return Array.from({ length: bytes.length / HASH_BYTES }, (_, at) =>
    bytes.toString("hex", at * HASH_BYTES, (at + 1) * HASH_BYTES),
  );
}

/** `node` is the root of the largest complete subtree whose last leaf is the new one; null if that subtree is only the leaf. */
export function appendLeaf(size: number, peaks: Peaks, leaf: string): { readonly peaks: Peaks; readonly node: string | null } {
  const left = [...peaks];
  let root = leaf;
  for (let rest = size; rest % 2 === 1; rest = (rest - 1) / 2) root = nodeHash(left.pop() ?? "", root);
  return { peaks: [...left, root], node: root === leaf ? null : root };
}

export const rootOf = (peaks: Peaks): string =>
  peaks.length === 0 ? EMPTY_ROOT : peaks.reduceRight((root, peak) => nodeHash(peak, root));

/** An event's leaf hash if `width` is 1, otherwise the root of the largest complete subtree whose last leaf is the event. */
export type StoredHash = (sequence: number, width: number) => string;

/** The largest power of two that divides `value`. */
const lowestBit = (value: number): number => {
  let bit = 1;
  while (value % (bit * 2) === 0) bit *= 2;
  return bit;
};

/** The peaks of the tree that has only the first `size` leaves. */
export function peaksAt(size: number, stored: StoredHash): Peaks {
  const peaks: string[] = [];
  for (let rest = size; rest > 0; rest -= lowestBit(rest)) peaks.unshift(stored(rest, lowestBit(rest)));
  return peaks;
}

/** The largest power of two that is less than `size`, which must be above one. */
const splitOf = (size: number): number => {
  let split = 1;
  while (split * 2 < size) split *= 2;
  return split;
};

/** The leaf `end` is not included. `start` must be a multiple of the smallest power of two that is at least `end` - `start`. */
function subtreeRoot(start: number, end: number, stored: StoredHash): string {
  const width = end - start;
  if (width === 1 || width === lowestBit(end)) return stored(end, width);
  const middle = start + splitOf(width);
  return nodeHash(subtreeRoot(start, middle, stored), subtreeRoot(middle, end, stored));
}

/** RFC 9162, 2.1.3.1. */
export function inclusionPath(index: number, size: number, stored: StoredHash, start = 0): string[] {
  if (size - start <= 1) return [];
  const middle = start + splitOf(size - start);
  return index < middle
    ? [...inclusionPath(index, middle, stored, start), subtreeRoot(middle, size, stored)]
    : [...inclusionPath(index, size, stored, middle), subtreeRoot(start, middle, stored)];
}

/** RFC 9162, 2.1.3.2. Returns null if the path does not fit the index and the size. */
export function rootFromPath(leaf: string, index: number, size: number, path: readonly string[]): string | null {
  let [at, last, root] = [index, size - 1, leaf];
  if (at > last) return null;
  for (const hash of path) {
    if (last === 0) return null;
    if (at % 2 === 1 || at === last) {
      root = nodeHash(hash, root);
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)];
    } else root = nodeHash(root, hash);
    [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  }
  return last === 0 ? root : null;
}

/** Runs `calculate` once with invented hashes, to find the sequences whose hashes it reads. */
export function sequencesOf(calculate: (stored: StoredHash) => unknown): number[] {
  const needed = new Set<number>();
  calculate((sequence) => {
    needed.add(sequence);
    return EMPTY_ROOT;
  });
  return [...needed];
}
