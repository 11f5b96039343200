import Link from "next/link";
import type { DocsHit } from "#lib/pages/docs/search-docs.ts";
import { Prose } from "./prose.tsx";

export const DocsHits = ({ hits }: { readonly hits: readonly DocsHit[] }) => (
  <ul className="divide-y">
    {hits.map(({ title, href, kind, text }) => (
      <li key={`${href} ${title}`} className="grid gap-1 p-4 text-sm md:px-5">
        <h2 className="text-base wrap-anywhere">
          <Link href={href} prefetch={false}>
            {title}
          </Link>{" "}
          <span className="text-sm font-normal text-muted">{kind}</span>
        </h2>
        <p className="line-clamp-2 text-muted">
          <Prose text={text} />
        </p>
      </li>
    ))}
  </ul>
);
