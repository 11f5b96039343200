import { ShieldCheck } from "lucide-react";

/** What no key can do, regardless of its creator. */
export const KeyRules = () => (
  <div className="notice">
    <ShieldCheck className="icon" aria-hidden />
    <div>
      <strong>A key that can pay can never create or raise a mandate.</strong> People do that, signed in, on this site. No key can
      approve a payment either.
    </div>
  </div>
);
