import { createElement, Fragment } from "react";
import { plainText, type Sentence, type Summary } from "#lib/mandates/draft/summary.ts";
import { visible } from "#lib/visible-text.ts";

/** The values in a sentence may be user input, so hidden characters in them are made visible. */
export const Said = ({ sentence, bold = "font-620 text-accent" }: { readonly sentence: Sentence; readonly bold?: string }) =>
  createElement(
    Fragment,
    null,
    ...sentence.map((phrase) =>
      typeof phrase === "string"
        ? phrase
        : createElement("b", { className: `${bold} tabular-nums` }, createElement("bdi", null, visible(phrase.value))),
    ),
  );

type Props = { readonly summary: Summary; readonly small?: boolean };

export const PlainWords = ({ summary: { may, ask, terms }, small = false }: Props) => (
  <div
    className={`grid tracking-[-0.006em] wrap-anywhere text-pretty ${small ? "gap-1 pt-2 text-sm/[1.6] text-text" : "gap-3 p-4 text-lg/[1.6] md:p-5"}`}
  >
    <p>
      <Said sentence={may} />
    </p>
    <p>
      <Said sentence={ask} />
    </p>
    <p className="text-sm/[1.55] tracking-normal text-muted">
      {terms.map((term) => (
        <span key={plainText(term)}>
          <Said sentence={term} bold="font-560 text-text" />{" "}
        </span>
      ))}
      Everything else is denied.
    </p>
  </div>
);
