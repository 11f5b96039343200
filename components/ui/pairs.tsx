import { Fragment, type ReactNode } from "react";

/** Facts in two columns: what it is, and what it is here. */
export function Pairs({ items }: { readonly items: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="pairs">
      {items.map(([name, value]) => (
        <Fragment key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}
