import Link from "next/link";
import { EmptyFigure, FigureTable } from "./figure-parts.tsx";
import { Untrusted } from "./untrusted.tsx";

type RankedRow = {
  /** Two rows can have the same name, but never the same key. */
  readonly key: string;
  /** May be untrusted text. */
  readonly name: string;
  readonly href?: string;
  readonly detail?: string;
  /** Decimal text, for the length of the bar. */
  readonly amount: string;
  /** As people read it: "12.50 USDC". */
  readonly text: string;
};

type Props = {
  readonly title: string;
  readonly rowName: string;
  readonly amountName: string;
  readonly rows: readonly RankedRow[];
  readonly empty: string;
};

/** Never compute amounts with this width, because floating-point numbers are inexact. */
const widthOf = (amount: string, most: number): string => `${Math.max(0.5, (Number(amount) / most) * 100 || 0)}%`;

const Name = ({ name, href }: Pick<RankedRow, "name" | "href">) =>
  href === undefined ? (
    <Untrusted>{name}</Untrusted>
  ) : (
    <Link href={href} prefetch={false}>
      <Untrusted>{name}</Untrusted>
    </Link>
  );

export function Ranking({ title, rowName, amountName, rows, empty }: Props) {
  if (rows.length === 0) return <EmptyFigure>{empty}</EmptyFigure>;
  const most = Math.max(...rows.map(({ amount }) => Number(amount)));
  return (
    <figure className="grid grid-cols-1 gap-3">
      <figcaption className="sr">{title}</figcaption>
      <div className="grid gap-2.5" aria-hidden>
        {rows.map(({ key, name, amount, text }) => (
          <div key={key} className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-3 text-sm">
            <span className="col-span-2 line-clamp-2 wrap-anywhere">
              <Untrusted>{name}</Untrusted>
            </span>
            <span className="h-2 rounded-xs bg-bar-track">
              <i className="block h-full rounded-xs bg-bar-used" style={{ width: widthOf(amount, most) }} />
            </span>
            <span className="tabular-nums">{text}</span>
          </div>
        ))}
      </div>
      <FigureTable
        caption={title}
        columns={[
          {
            name: rowName,
            cell: ({ name, href, detail }: RankedRow) => (
              <>
                <Name name={name} {...(href !== undefined && { href })} />
                {detail && <span className="sub">{detail}</span>}
              </>
            ),
          },
          { name: amountName, numeric: true, cell: ({ text }: RankedRow) => text },
        ]}
        rows={rows}
        rowKey={({ key }) => key}
      />
    </figure>
  );
}
