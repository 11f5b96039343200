/** The text of a form field; empty if the field is missing or holds a file. */
export const formText = (form: FormData, name: string): string => {
  const value = form.get(name);
  return typeof value === "string" ? value : "";
};
