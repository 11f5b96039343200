import { AssuranceLevel } from "#lib/vocabulary.ts";

const rank = new Map<string, number>(AssuranceLevel.options.map((level, index) => [level, index]));
/** A level that is not in the list is above every other: it cannot be reached. */
const rankOf = (level: AssuranceLevel): number => rank.get(level) ?? rank.size;

/** Whether what was reached is enough for what is asked. */
export const reaches = (reached: AssuranceLevel, asked: AssuranceLevel): boolean => rankOf(asked) <= (rank.get(reached) ?? -1);

/** The highest of the levels that are asked for; the least of all where none is. */
export const highestAsked = (asked: readonly (AssuranceLevel | null | undefined)[]): AssuranceLevel =>
  asked.reduce<AssuranceLevel>(
    (highest, level) => (level && rankOf(level) > rankOf(highest) ? level : highest),
    "softwareApproved",
  );
