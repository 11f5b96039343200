import { Untrusted } from "#components/ui/untrusted.tsx";

const short = (id: string): string => (id.length > 16 ? `${id.slice(0, 7)}…${id.slice(-4)}` : id);

export function Subject({ id, name }: { readonly id: string; readonly name: string | undefined }) {
  if (id === "service") return "The service";
  return name === undefined ? <code title={id}>{short(id)}</code> : <Untrusted>{name}</Untrusted>;
}

export const ShortId = ({ id }: { readonly id: string }) => <code title={id}>{short(id)}</code>;
