import { domainToUnicode } from "node:url";

/* Finds domains that a person could confuse with another one. The policy of a mandate does not use the result. */

/** Letters of other alphabets, each followed by the Latin letter that it looks like. */
const SHAPES = "аaвbсcԁdеeһhіiјjкkӏlмmнhоoрpԛqѕsтtцuѵvԝwхxуyαaβbεeηnιiκkνvοoρpτtυuχx";
const shapes = new Map<string, string>();
for (let at = 0; at + 1 < SHAPES.length; at += 2) shapes.set(SHAPES[at] ?? "", SHAPES[at + 1] ?? "");

/** Groups of characters that look like other characters in many typefaces, such as "rn" and "m". Hyphens are removed. */
const READ_AS: readonly (readonly [string, string])[] = [
  ["rn", "m"],
  ["vv", "w"],
  ["cl", "d"],
  ["0", "o"],
  ["1", "l"],
  ["i", "l"],
  ["5", "s"],
  ["-", ""],
];

/** A form that is the same for domains that look alike by these tables, like the skeletons of Unicode UTS #39. */
function skeleton(domain: string): string {
  const plain = domainToUnicode(domain).normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
  const latin = [...plain].map((letter) => shapes.get(letter) ?? letter).join("");
  return READ_AS.reduce((text, [from, to]) => text.replaceAll(from, to), latin);
}

/** Domains with fewer characters are not compared for typing errors, because too many unrelated ones differ by one letter. */
const TYPED_MIN = 8;

/** Whether one text becomes the other if one letter is added, removed, changed or swapped with its neighbor. */
function oneSlip(a: string, b: string): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  if (short.length < TYPED_MIN || long.length - short.length > 1) return false;
  let at = 0;
  while (at < short.length && short[at] === long[at]) at += 1;
  if (short.length < long.length) return short.slice(at) === long.slice(at + 1);
  if (short.slice(at + 1) === long.slice(at + 1)) return true;
  return short[at] === long[at + 1] && short[at + 1] === long[at] && short.slice(at + 2) === long.slice(at + 2);
}

const withoutTop = (domain: string): string => domain.slice(0, domain.lastIndexOf("."));

/** Whether one domain is the other or a subdomain of it. Such domains are taken to have one owner, so they are not compared. */
const sameOwner = (a: string, b: string): boolean => a === b || a.endsWith(`.${b}`) || b.endsWith(`.${a}`);

/** Hosts with a port are not compared, because they exist only in the sandbox. */
export function looksLike(domain: string, other: string): boolean {
  if (sameOwner(domain, other) || domain.includes(":") || other.includes(":")) return false;
  const [a, b] = [skeleton(domain), skeleton(other)];
  return a === b || oneSlip(a, b) || withoutTop(a) === withoutTop(b) || domain.startsWith(`${other}.`);
}
