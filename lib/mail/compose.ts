import { isolated } from "#lib/isolated.ts";

export type Message = {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** The button of the mail; it has a path of this service, so that no mail links to another site. */
  readonly action?: { readonly label: string; readonly path: `/${string}` };
  /** The last paragraph, in small type: why the mail was sent, or what readers can do. */
  readonly note: string;
};

export type MailText = { readonly subject: string; readonly plain: string; readonly html: string };

/** Characters that could hide or reorder text or break a header. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;
/** The same without U+2068 and U+2069, in which `quoted` puts a name. */
const UNSEEN_IN_SUBJECT = /(?![\u2068\u2069])[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;
/** Beginnings of text that mail programs turn into a link. */
const LINKED = /(?:\bhttps?:\/\/|\bwww\.)/gi;

/** Repeated, because the parts around a removed beginning can form another one, as in "http:www.//". */
function withoutLinks(text: string): string {
  const rest = text.replaceAll(LINKED, "");
  return rest === text ? text : withoutLinks(rest);
}

/**
 * Makes a user-chosen name safe for a mail: one line, quoted, short, without a web address that becomes a link, and isolated, so
 * that a name from right to left leaves the order of its sentence alone.
 */
export function quoted(name: string, max = 80): string {
  const text = withoutLinks(name.replaceAll(UNSEEN, " ")).replaceAll(/\s+/g, " ").trim();
  const short = text.length > max ? `${text.slice(0, max - 1).trimEnd()}…` : text;
  // Insert a word joiner after a full stop inside the text, or mail programs turn a domain into a link.
  return `“${isolated(short.replaceAll(/\.(?=\S)/g, ".\u2060"))}”`;
}

const utc = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });

/** Writes a time for a mail, such as "25 Nov 2026, 14:00 UTC". */
export const timeInMail = (at: Date): string => `${utc.format(at)} UTC`;

const escape = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

const FONT = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const INK = "#111d2b";
const MUTED = "#55636b";
const BLUE = "#144a9e";

const paragraph = (text: string, style = `margin:0 0 16px;color:${INK}`): string => `<p style="${style}">${escape(text)}</p>`;

function htmlOf({ paragraphs, action, note }: Message, origin: string): string {
  const href = action === undefined ? "" : escape(origin + action.path);
  const button =
    action === undefined
      ? ""
      : `<p style="margin:24px 0"><a href="${href}" style="display:inline-block;padding:12px 20px;border-radius:4px;background:${BLUE};color:#ffffff;text-decoration:none;font-weight:600">${escape(action.label)}</a></p>` +
        `<p style="margin:0 0 16px;font-size:13px;color:${MUTED};word-break:break-all">${href}</p>`;
  return (
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light"></head>` +
    `<body style="margin:0;padding:32px 16px;background:#eef3f0;${FONT};font-size:16px;line-height:24px">` +
    `<div style="max-width:480px;margin:0 auto;padding:32px;background:#fdfefd;border:1px solid #d5dcd8">` +
    `<p style="margin:0 0 24px;font-weight:700;color:${INK}">Countersign</p>` +
    paragraphs.map((text) => paragraph(text)).join("") +
    button +
    paragraph(
      note,
      `margin:24px 0 0;padding-top:16px;border-top:1px solid #d5dcd8;font-size:13px;line-height:20px;color:${MUTED}`,
    ) +
    `</div></body></html>`
  );
}

function plainOf({ paragraphs, action, note }: Message, origin: string): string {
  const link = action === undefined ? [] : [`${action.label}:\n${origin}${action.path}`];
  return `${[...paragraphs, ...link, `--\n${note}`].join("\n\n")}\n`;
}

export const compose = (message: Message, origin: string): MailText => ({
  subject: message.subject.replaceAll(UNSEEN_IN_SUBJECT, " "),
  plain: plainOf(message, origin),
  html: htmlOf(message, origin),
});
