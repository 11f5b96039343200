import type { Asker } from "#lib/identity/asker.ts";
import { Untrusted } from "./untrusted.tsx";

export const AskerName = ({ asker: { name, note } }: { readonly asker: Asker }) => (
  <>
    <Untrusted>{name}</Untrusted>
    {note !== undefined && ` (${note})`}
  </>
);

type SubjectProps = { readonly asker: Asker; readonly inside?: boolean };

/** Who continues after a decision, as the subject of a sentence. A person who asked has a page open that continues by itself. */
export function AskerSubject({ asker: { name, isServiceAccount, isReader }, inside = false }: SubjectProps) {
  if (!isServiceAccount && !isReader) return <Untrusted>{name}</Untrusted>;
  return `${inside ? "the" : "The"} ${isReader ? "page where you asked" : "agent"}`;
}
