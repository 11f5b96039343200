const ranges = [7, 30, 90] as const;
export type Range = (typeof ranges)[number];

export const rangeOf = (text: string | undefined): Range => ranges.find((days) => String(days) === text) ?? 30;

export const rangeItems = (path: string, current: Range) =>
  ranges.map((days) => ({
    href: days === 30 ? path : `${path}?range=${days}`,
    name: `${days} days`,
    current: days === current,
  }));
