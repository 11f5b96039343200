import { makePgArray } from "drizzle-orm/pg-core";
import { parse as parseArray } from "postgres-array";

const asText = (value: string): string => value;
const isoText = (value: unknown): unknown => (value instanceof Date ? value.toISOString() : value);
const jsonText = (value: unknown): unknown => (typeof value === "string" ? value : JSON.stringify(value));

/** date, timestamp, timestamptz and their arrays, and numeric[]: kept as text, because drizzle parses them itself. */
const texts = [1082, 1114, 1184, 1182, 1115, 1185, 1231];
const json = [114, 3802];
/** text[] and varchar[]; int2[] and int4[]; int8[]; bool[]. */
const textArrays = [1009, 1015];
const numberArrays = [1005, 1007];
const bigArrays = [1016];
const booleanArrays = [1000];

const arrayOf = (from: readonly number[], read: (text: string) => unknown) => ({
  to: from[0]!,
  from: [...from],
  serialize: (value: unknown) => (Array.isArray(value) ? makePgArray(value) : value),
  parse: (text: string) => parseArray(text, read),
});

/** Fixed types, so that the driver need not query the array types on each new connection. */
export const wireTypes = {
  times: { to: 1184, from: texts, serialize: isoText, parse: asText },
  json: { to: 114, from: json, serialize: jsonText, parse: (text: string): unknown => JSON.parse(text) },
  textArray: arrayOf(textArrays, asText),
  numberArray: arrayOf(numberArrays, Number),
  bigArray: arrayOf(bigArrays, asText),
  booleanArray: arrayOf(booleanArrays, (text) => text === "t"),
};
