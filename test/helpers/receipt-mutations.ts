import fc from "fast-check";

type Place = { readonly parent: Record<string, unknown>; readonly key: string };

const isParent = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** The places of every member and every list item of a JSON value. */
function placesIn(value: unknown): Place[] {
  if (!isParent(value)) return [];
  return Object.keys(value).flatMap((key) => [{ parent: value, key }, ...placesIn(value[key])]);
}

const kinds = ["character", "insert", "number", "remove", "add", "repeat", "swap", "shorten", "replace"] as const;

/** One change of an answer with a receipt. The numbers choose the place in the answer and the position in the value. */
export const mutation = fc.record({
  kind: fc.constantFrom(...kinds),
  place: fc.nat(),
  at: fc.nat(),
  char: fc.oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.integer({ min: 0, max: 0xffff })),
  number: fc.oneof(fc.integer({ min: -2, max: 64 }), fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true })),
  value: fc.jsonValue({ maxDepth: 2 }),
});
type Mutation = typeof mutation extends fc.Arbitrary<infer T> ? T : never;

/** Repeats the first member of a JSON object, if its value is a text or digits and another member follows. */
const repeatMember = (json: string): string => json.replace(/^\{("[^"]*":(?:"[^"]*"|\d+)),/, "{$1,$1,");

function repeatIn(text: string, at: number): string {
  if (text.startsWith("{")) return repeatMember(text);
  const parts = text.split(".");
  const index = at % 2;
  parts[index] = Buffer.from(repeatMember(Buffer.from(parts[index] ?? "", "base64url").toString())).toString("base64url");
  return parts.join(".");
}

const changesOfText: Partial<Record<Mutation["kind"], (text: string, change: Mutation) => string>> = {
  character: (text, { at, char }) =>
    text.slice(0, at % text.length) + String.fromCharCode(char) + text.slice((at % text.length) + 1),
  insert: (text, { at, char }) => text.slice(0, at % text.length) + String.fromCharCode(char) + text.slice(at % text.length),
  shorten: (text, { at }) => text.slice(0, at % text.length),
  repeat: (text, { at }) => repeatIn(text, at),
};

function swapItems(path: unknown[], at: number): void {
  const [one, other] = [at % path.length, (at + 1) % path.length];
  [path[one], path[other]] = [path[other], path[one]];
}

function change({ parent, key }: Place, how: Mutation): void {
  const value = parent[key];
  const changeText = changesOfText[how.kind];
  if (typeof value === "string" && value !== "" && changeText) parent[key] = changeText(value, how);
  if (typeof value === "number" && how.kind === "number") parent[key] = how.number;
  if (Array.isArray(value) && how.kind === "swap") swapItems(value, how.at);
  if (Array.isArray(value) && how.kind === "shorten") value.splice(how.at % (value.length + 1), 1);
  if (Array.isArray(value) && how.kind === "add") value.push(value[0] ?? "0".repeat(64));
  if (isParent(value) && !Array.isArray(value) && how.kind === "add") value[String.fromCharCode(how.char)] = how.value;
  if (how.kind === "replace") parent[key] = how.value;
  if (how.kind === "remove") Reflect.deleteProperty(parent, key);
}

/** The changed answer; undefined if the change has no effect or removes the whole answer. */
export function mutate(answer: unknown, how: Mutation): unknown {
  const whole = { answer: structuredClone(answer) };
  const places = placesIn(whole);
  const place = places[how.place % places.length];
  if (place) change(place, how);
  const text = JSON.stringify(whole.answer) as string | undefined;
  if (text === undefined || text === JSON.stringify(answer)) return undefined;
  return JSON.parse(text);
}
