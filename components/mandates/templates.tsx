import Link from "next/link";
import type { Template } from "#lib/mandates/draft/templates.ts";

type Props = { readonly templates: readonly Template[]; readonly chosen: string | undefined };

const CARD =
  "grid h-full content-start gap-1 rounded-sm border border-border-strong p-4 text-sm text-text no-underline hover:border-accent aria-[current]:border-accent aria-[current]:bg-accent-wash";

export const Templates = ({ templates, chosen }: Props) => (
  <nav className="panel mb-8" aria-labelledby="templates">
    <div className="panel-head">
      <h2 id="templates">Start from a template</h2>
      <p>It fills in the form. Change what you like. Nothing is saved until you press Save draft.</p>
    </div>
    <ul className="panel-body grid grid-cols-1 gap-3 sm:grid-cols-2">
      {templates.map(({ id, title, text }) => (
        <li key={id}>
          <Link
            className={CARD}
            href={`/mandates/new?template=${id}`}
            aria-current={id === chosen ? "true" : undefined}
            scroll={false}
          >
            <strong className="font-560">{title}</strong>
            <span className="text-muted">{text}</span>
          </Link>
        </li>
      ))}
    </ul>
  </nav>
);
