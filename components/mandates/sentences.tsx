import { createElement, Fragment } from "react";
import { plainText, type Sentence, type Summary } from "#lib/mandates/summary.ts";
import { visible } from "#components/ui/untrusted.tsx";

/** A sentence with the chosen values emphasized. The values are user input, so hidden characters in them are made visible. */
const Said = ({ sentence }: { readonly sentence: Sentence }) =>
  createElement(
    Fragment,
    null,
    ...sentence.map((phrase) => (typeof phrase === "string" ? phrase : createElement("b", null, visible(phrase.value)))),
  );

type Props = { readonly summary: Summary; readonly small?: boolean };

/** A policy in plain words. */
export const PlainWords = ({ summary: { may, ask, terms }, small = false }: Props) => (
  <div className={small ? "plain plain-small" : "plain"}>
    <p>
      <Said sentence={may} />
    </p>
    <p>
      <Said sentence={ask} />
    </p>
    <p className="fine">
      {terms.map((term) => (
        <span key={plainText(term)}>
          <Said sentence={term} />{" "}
        </span>
      ))}
      Everything else is denied.
    </p>
  </div>
);
