/** Who asks for a payment: an agent (a service account), or a person with their own session. */
export type Asker = {
  readonly subjectId: string;
  /** Untrusted text; the id if the name is unknown. */
  readonly name: string;
  readonly isServiceAccount: boolean;
  /** Whether the person who reads has asked. */
  readonly isReader: boolean;
  /** What stands in brackets after a person's name, such as "you, test payment". */
  readonly note?: string;
};

/** `userId` is the person who reads, and who is called "you". */
export type AskerReader = { readonly organizationId: string; readonly environment: string; readonly userId?: string };

/** The only function that names an asker. A person's own payment in a sandbox is a test: no agent asks for it. */
export function nameAsker(
  subjectId: string,
  names: ReadonlyMap<string, string>,
  { userId, environment }: Omit<AskerReader, "organizationId">,
): Asker {
  const isServiceAccount = !subjectId.startsWith("usr_");
  const isReader = subjectId === userId;
  const notes = [...(isReader ? ["you"] : []), ...(environment === "sandbox" ? ["test payment"] : [])];
  return {
    subjectId,
    name: names.get(subjectId) ?? (isServiceAccount ? subjectId : "A former member"),
    isServiceAccount,
    isReader,
    ...(!isServiceAccount && notes.length > 0 && { note: notes.join(", ") }),
  };
}

/** The asker in a sentence that has named them before. */
export const askerWord = ({ isServiceAccount }: Pick<Asker, "isServiceAccount">): string =>
  isServiceAccount ? "the agent" : "the person who asked";

/** For plain text; `write` makes the name safe for it. */
export const askerText = ({ name, note }: Asker, write: (name: string) => string = String): string =>
  note === undefined ? write(name) : `${write(name)} (${note})`;
