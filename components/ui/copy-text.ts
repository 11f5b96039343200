import { announce } from "./announcements.tsx";
import { toast } from "./toast.tsx";

/** False if the browser refuses; it offers a clipboard only to pages from https or from this machine. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    toast("The browser did not let us copy. Open this page over https, or select the text yourself.");
    return false;
  }
  announce("Copied");
  return true;
}
