/** Makes QR codes (ISO/IEC 18004) in byte mode at level M, up to 213 bytes; always mask 0, because scanners read every mask. */

type Version = {
  /** The number of error correction codewords in one block. */
  readonly correction: number;
  /** The number of data codewords in each block. */
  readonly blocks: readonly number[];
  readonly alignment: readonly number[];
};

const times = (count: number, data: number): number[] => Array.from({ length: count }, () => data);

const versions: readonly Version[] = [
  { correction: 10, blocks: [16], alignment: [] },
  { correction: 16, blocks: [28], alignment: [6, 18] },
  { correction: 26, blocks: [44], alignment: [6, 22] },
  { correction: 18, blocks: times(2, 32), alignment: [6, 26] },
  { correction: 24, blocks: times(2, 43), alignment: [6, 30] },
  { correction: 16, blocks: times(4, 27), alignment: [6, 34] },
  { correction: 18, blocks: times(4, 31), alignment: [6, 22, 38] },
  { correction: 22, blocks: [...times(2, 38), ...times(2, 39)], alignment: [6, 24, 42] },
  { correction: 22, blocks: [...times(3, 36), ...times(2, 37)], alignment: [6, 26, 46] },
  { correction: 26, blocks: [...times(4, 43), 44], alignment: [6, 28, 50] },
];

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
const bitOf = (value: number, at: number): number => (value >>> at) & 1;

/** Multiplies two numbers in GF(256) with the polynomial of QR codes. */
function times256(a: number, b: number): number {
  let product = 0;
  for (let at = 7; at >= 0; at -= 1) {
    product = (product << 1) ^ ((product >>> 7) * 0x11d);
    product ^= bitOf(b, at) * a;
  }
  return product;
}

/** The error correction codewords of a block: the Reed-Solomon remainder. */
function correctionOf(data: readonly number[], count: number): number[] {
  const divisor = [...times(count - 1, 0), 1];
  let root = 1;
  for (let turn = 0; turn < count; turn += 1) {
    for (let at = 0; at < count; at += 1) divisor[at] = times256(divisor[at] ?? 0, root) ^ (divisor[at + 1] ?? 0);
    root = times256(root, 2);
  }
  const rest = times(count, 0);
  for (const byte of data) {
    const factor = byte ^ (rest.shift() ?? 0);
    rest.push(0);
    divisor.forEach((value, at) => (rest[at] = (rest[at] ?? 0) ^ times256(value, factor)));
  }
  return rest;
}

/** The data codewords: mode, length, the bytes, and padding up to the capacity. */
function dataOf(bytes: readonly number[], number: number, capacity: number): number[] {
  const bits: number[] = [];
  const put = (value: number, length: number): void => {
    for (let at = length - 1; at >= 0; at -= 1) bits.push(bitOf(value, at));
  };
  put(4, 4);
  put(bytes.length, number < 10 ? 8 : 16);
  for (const byte of bytes) put(byte, 8);
  put(0, Math.min(4, capacity * 8 - bits.length));
  put(0, (8 - (bits.length % 8)) % 8);
  for (let pad = 0xec; bits.length < capacity * 8; pad ^= 0xfd) put(pad, 8);
  return Array.from({ length: capacity }, (_, at) => bits.slice(at * 8, at * 8 + 8).reduce((value, bit) => value * 2 + bit, 0));
}

function codewords(bytes: readonly number[], number: number, { blocks, correction }: Version): number[] {
  const data = dataOf(bytes, number, sum(blocks));
  let from = 0;
  const parts = blocks.map((length) => data.slice(from, (from += length)));
  const checks = parts.map((part) => correctionOf(part, correction));
  const interleave = (lists: readonly (readonly number[])[]): number[] =>
    Array.from({ length: Math.max(...lists.map(({ length }) => length)) }, (_, at) =>
      lists.flatMap((list) => list[at] ?? []),
    ).flat();
  return [...interleave(parts), ...interleave(checks)];
}

type Grid = (boolean | undefined)[][];

function bch(value: number, polynomial: number, length: number): number {
  let rest = value;
  for (let turn = 0; turn < length; turn += 1) rest = (rest << 1) ^ ((rest >>> (length - 1)) * polynomial);
  return (value << length) | rest;
}

function drawPatterns(grid: Grid, number: number, { alignment }: Version): void {
  const size = grid.length;
  const set = (x: number, y: number, dark: boolean): void => {
    const row = grid[y];
    if (row && x >= 0 && x < size) row[x] = dark;
  };
  for (let at = 0; at < size; at += 1) {
    set(6, at, at % 2 === 0);
    set(at, 6, at % 2 === 0);
  }
  for (const [x, y] of [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ] as const)
    for (let dy = -4; dy <= 4; dy += 1)
      for (let dx = -4; dx <= 4; dx += 1) {
        const ring = Math.max(Math.abs(dx), Math.abs(dy));
        set(x + dx, y + dy, ring !== 2 && ring !== 4);
      }
  const last = alignment.at(-1);
  for (const x of alignment)
    for (const y of alignment) {
      if ((x === 6 && (y === 6 || y === last)) || (x === last && y === 6)) continue;
      for (let dy = -2; dy <= 2; dy += 1)
        for (let dx = -2; dx <= 2; dx += 1) set(x + dx, y + dy, Math.max(Math.abs(dx), Math.abs(dy)) !== 1);
    }
  // The format bits begin with the level and the mask. Both are zero for level M and mask 0.
  const format = bch(0, 0x537, 10) ^ 0x5412;
  for (let at = 0; at < 15; at += 1) {
    const dark = bitOf(format, at) === 1;
    if (at < 8) {
      set(8, at < 6 ? at : at + 1, dark);
      set(size - 1 - at, 8, dark);
    } else {
      set(at === 8 ? 7 : 14 - at, 8, dark);
      set(8, size - 15 + at, dark);
    }
  }
  set(8, size - 8, true);
  if (number < 7) return;
  const version = bch(number, 0x1f25, 12);
  for (let at = 0; at < 18; at += 1) {
    const [a, b] = [size - 11 + (at % 3), Math.floor(at / 3)];
    set(a, b, bitOf(version, at) === 1);
    set(b, a, bitOf(version, at) === 1);
  }
}

/** Writes the data, with mask 0, into the free cells: two columns at a time from the right, up and down alternately. */
function drawData(grid: Grid, words: readonly number[]): void {
  const size = grid.length;
  const free = grid.map((row) => row.map((cell) => cell === undefined));
  let bit = 0;
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5;
    for (let step = 0; step < size; step += 1)
      for (const x of [right, right - 1]) {
        const y = ((right + 1) & 2) === 0 ? size - 1 - step : step;
        const row = grid[y];
        if (!row || !free[y]?.[x]) continue;
        row[x] = (bitOf(words[bit >>> 3] ?? 0, 7 - (bit & 7)) === 1) !== ((x + y) % 2 === 0);
        bit += 1;
      }
  }
}

/** The rows of the QR code, true for dark; null if the text is too long. */
export function qrCode(text: string): readonly (readonly boolean[])[] | null {
  const bytes = [...new TextEncoder().encode(text)];
  const at = versions.findIndex(({ blocks }, index) => bytes.length + (index < 9 ? 2 : 3) <= sum(blocks));
  const version = versions[at];
  if (!version) return null;
  const size = 21 + at * 4;
  const grid: Grid = Array.from({ length: size }, () => Array.from({ length: size }, () => undefined));
  drawPatterns(grid, at + 1, version);
  drawData(grid, codewords(bytes, at + 1, version));
  return grid.map((row) => row.map((cell) => cell === true));
}
