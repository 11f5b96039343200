/* Computes roots of the Merkle tree of RFC 9162, section 2.1, with WebCrypto. Hashes are hexadecimal text. */

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const bytesOf = (text: string): number[] => (text.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16));

const digest = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> =>
  hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));

export const hashOfLeaf = (event: string): Promise<string> => digest(new Uint8Array([0, ...new TextEncoder().encode(event)]));

const hashOfNode = (left: string, right: string): Promise<string> =>
  digest(new Uint8Array([1, ...bytesOf(left), ...bytesOf(right)]));

const half = (value: number): number => Math.floor(value / 2);
const isOdd = (value: number): boolean => value % 2 === 1;

export type Position = { readonly leafIndex: number; readonly treeSize: number; readonly path: readonly string[] };

/** RFC 9162, section 2.1.3.2. Null if the index, the size and the path do not fit together. */
export async function rootOfInclusion(leafHash: string, { leafIndex, treeSize, path }: Position): Promise<string | null> {
  // Sizes have up to 53 bits. Bit operations in JavaScript keep only 32, so this code divides instead.
  if (![leafIndex, treeSize].every((value) => Number.isSafeInteger(value)) || leafIndex < 0 || leafIndex >= treeSize) return null;
  let [node, last, root] = [leafIndex, treeSize - 1, leafHash];
  for (const sibling of path) {
    if (last === 0) return null;
    if (isOdd(node) || node === last) {
      root = await hashOfNode(sibling, root);
      while (!isOdd(node) && node !== 0) [node, last] = [half(node), half(last)];
    } else root = await hashOfNode(root, sibling);
    [node, last] = [half(node), half(last)];
  }
  return last === 0 ? root : null;
}
