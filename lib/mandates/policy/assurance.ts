import { AssuranceLevel } from "#lib/vocabulary.ts";

const rank = new Map<string, number>(AssuranceLevel.options.map((level, index) => [level, index]));
/** An unknown level ranks above all others, so it cannot be reached. */
const rankOf = (level: AssuranceLevel): number => rank.get(level) ?? rank.size;

export const reaches = (reached: AssuranceLevel, asked: AssuranceLevel): boolean => rankOf(asked) <= (rank.get(reached) ?? -1);

/** The lowest level if none is required. */
export const highestAsked = (asked: readonly (AssuranceLevel | null | undefined)[]): AssuranceLevel =>
  asked.reduce<AssuranceLevel>(
    (highest, level) => (level && rankOf(level) > rankOf(highest) ? level : highest),
    "softwareApproved",
  );
