import { plainText, type Sentence, type Summary } from "#lib/mandates/draft/summary.ts";

const sentencesOf = ({ may, ask, terms }: Summary): readonly Sentence[] => [may, ask, ...terms];

export function differences(
  before: Summary,
  after: Summary,
): { readonly gone: readonly Sentence[]; readonly come: readonly Sentence[] } {
  const only = (these: Summary, those: Summary): readonly Sentence[] => {
    const others = new Set(sentencesOf(those).map(plainText));
    return sentencesOf(these).filter((sentence) => !others.has(plainText(sentence)));
  };
  return { gone: only(before, after), come: only(after, before) };
}
