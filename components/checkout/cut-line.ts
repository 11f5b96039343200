export const CUT_WIDTH = 1000;
const TEETH = 32;
const STEP = CUT_WIDTH / TEETH;
const MIDDLE = 8;

type Point = readonly [number, number];

/** Each of the 32 bytes of the hash makes one tooth: its high four bits set the position, its low four bits the depth. */
export function cutLine(hash: string): readonly Point[] {
  const bytes = Array.from({ length: TEETH }, (_, at) => Number.parseInt(hash.slice(2 * at, 2 * at + 2), 16) || 0);
  const teeth = bytes.map((byte, at): Point => {
    const shift = ((byte >> 4) / 15 - 0.5) * STEP * 0.5;
    const depth = 2.5 + ((byte & 15) / 15) * 4;
    return [(at + 0.5) * STEP + shift, at % 2 === 0 ? MIDDLE - depth : MIDDLE + depth];
  });
  return [[0, MIDDLE], ...teeth, [CUT_WIDTH, MIDDLE]];
}

export const pathOf = (points: readonly Point[]): string =>
  points.map(([x, y], at) => `${at === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
