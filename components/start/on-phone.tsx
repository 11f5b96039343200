import { Notice } from "#components/ui/notice.tsx";
import { phoneLink } from "#lib/pages/settings/phone-link.ts";
import { qrCode } from "./qr-code.ts";

/** In cells; scanners need this white border to find the code. */
const QUIET = 4;

/** The QR code contains the address of the request and no session. */
export function OnPhone({ baseUrl, path }: { readonly baseUrl: string; readonly path: string }) {
  const link = phoneLink(baseUrl, path);
  if (!link.ok) return <Notice>{link.detail}</Notice>;
  const code = qrCode(link.url);
  if (!code) return null;
  const size = code.length + 2 * QUIET;
  const cells = code.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x + QUIET} ${y + QUIET}h1v1h-1z`] : [])));
  return (
    <figure className="grid justify-items-start gap-2">
      {/* The QR code is dark on white in both themes, because many scanners cannot read white on dark. */}
      <svg className="size-48 rounded-sm" viewBox={`0 0 ${size} ${size}`} role="img" aria-label="QR code of the request">
        <rect width={size} height={size} fill="#fff" />
        <path d={cells.join("")} fill="#000" shapeRendering="crispEdges" />
      </svg>
      <figcaption className="text-sm text-muted">Scan it with your phone, and sign in there to decide.</figcaption>
    </figure>
  );
}
