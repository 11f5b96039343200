import { chapters, introduction, referenceOf, sectionOf } from "#lib/pages/docs/reference.ts";
import type { SchemaField } from "#lib/pages/docs/schema-fields.ts";
import { perProcess } from "#lib/process.ts";

export type DocsHit = {
  readonly title: string;
  readonly href: string;
  /** "Operation", "Section" or "Rule". */
  readonly kind: string;
  /** May contain `code` and **subject** markup. */
  readonly text: string;
};

/** `names` and `words` are in lower case; a match in `names` counts more. */
type Entry = { readonly hit: DocsHit; readonly names: string; readonly words: string };

/** Puts a space between the words of a name, so that "mandate" counts as the start of a word in createMandate. */
const spaced = (name: string): string => name.replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2");

const wordsOf = (field: SchemaField): string =>
  [field.name, spaced(field.name), field.description ?? "", ...field.values, ...field.fields.map(wordsOf)].join(" ");

function operationEntry(id: string): Entry[] {
  const reference = referenceOf(id);
  if (!reference) return [];
  const { method, path, summary, description, parameters, body, reply, refusals } = reference;
  const fields = [...parameters.map(({ field }) => field), ...(body?.fields ?? []), ...reply.fields];
  const codes = refusals.map(({ code, title }) => `${code} ${title}`);
  return [
    {
      hit: { title: id, href: `/docs/${id}`, kind: "Operation", text: summary },
      names: [id, spaced(id), `${method} ${path}`, summary].join(" ").toLowerCase(),
      words: [...description, ...fields.map(wordsOf), ...codes].join(" ").toLowerCase(),
    },
  ];
}

const entries = (): readonly Entry[] =>
  perProcess("pages/docs/search-docs", () => [
    ...chapters().map(({ tag, description }) => ({
      hit: { title: tag, href: sectionOf(tag), kind: "Section", text: description },
      names: tag.toLowerCase(),
      words: description.toLowerCase(),
    })),
    ...introduction().map((text) => {
      const subject = /^\*\*(.+?)\*\*/.exec(text)?.[1] ?? "About";
      return {
        hit: { title: subject.replace(/[.:]$/, ""), href: "/docs#rules", kind: "Rule", text },
        names: subject.toLowerCase(),
        words: text.toLowerCase(),
      };
    }),
    ...chapters().flatMap(({ operations }) => operations.flatMap(({ id }) => operationEntry(id))),
  ]);

const HITS_MAX = 30;
const TEXT_MAX = 100;

function scoreOf({ names, words }: Entry, terms: readonly string[]): number {
  let score = 0;
  for (const term of terms) {
    const begins = names.startsWith(term) || names.includes(` ${term}`);
    const one = begins ? 20 : names.includes(term) ? 10 : words.includes(term) ? 1 : 0;
    if (one === 0) return 0;
    score += one;
  }
  return score;
}

/** At most 30 results, the best first. Only the first 100 characters of the text are searched for. */
export function searchDocs(text: string): readonly DocsHit[] {
  const terms = text.slice(0, TEXT_MAX).toLowerCase().split(/\s+/).filter(Boolean);
  if (terms.length === 0) return [];
  return entries()
    .map((entry) => ({ hit: entry.hit, score: scoreOf(entry, terms) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, HITS_MAX)
    .map(({ hit }) => hit);
}
