import { audit, clock } from "#lib/audit/transact.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { capabilitiesOfRole } from "#lib/identity/capabilities.ts";
import { lockMembers } from "#lib/identity/lock-members.ts";
import * as contract from "#lib/identity/members/contract.ts";
import { readLogo } from "#lib/identity/members/logo.ts";
import { saveSettings, settingsOf, type OrganizationSettings } from "#lib/identity/members/organization-store.ts";
import { invalidField, notFound, Problem } from "#lib/problem.ts";
import { ProductRole } from "#lib/vocabulary.ts";

type Change = { readonly from: unknown; readonly to: unknown };

/** For the audit log, which says only whether there is a logo, because pictures are large. */
function changesOf(from: OrganizationSettings, to: OrganizationSettings): Readonly<Record<string, Change>> {
  const shown = ({ name, productRoles, timezone }: OrganizationSettings) => ({ name, productRoles, timezone });
  const [before, after] = [shown(from), shown(to)];
  const changed = (Object.keys(after) as (keyof typeof after)[]).filter(
    (field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]),
  );
  const logo = from.logo === to.logo ? {} : { logo: { from: from.logo !== null, to: to.logo !== null } };
  return { ...Object.fromEntries(changed.map((field) => [field, { from: before[field], to: after[field] }])), ...logo };
}

export const updateOrganization: Handler<typeof contract.updateOrganization> = async (
  { organizationId, body },
  { caller, idempotency },
) => {
  if (typeof body.logo === "string" && readLogo(body.logo) === null)
    throw invalidField("/logo", "This is not a PNG, JPEG or WebP picture.");
  return once(contract.updateOrganization, idempotency, async (tx) => {
    const { role } = await lockMembers(tx, organizationId, caller);
    if (!capabilitiesOfRole(role).has("members:manage"))
      throw new Problem("forbidden", { detail: "Your role was changed meanwhile. An owner or admin can change the settings." });
    const current = await settingsOf(tx, organizationId);
    if (!current) throw notFound("active organization");
    const { name, productRoles, timezone, logo } = body;
    const next: OrganizationSettings = {
      ...current,
      ...(name !== undefined && { name }),
      ...(productRoles && { productRoles: ProductRole.options.filter((one) => productRoles.includes(one)) }),
      ...(timezone !== undefined && { timezone }),
      ...(logo !== undefined && { logo }),
    };
    const changes = changesOf(current, next);
    if (Object.keys(changes).length > 0) {
      await saveSettings(tx, organizationId, next);
      const event = { type: "organization.updated", actorId: caller.userId, organizationId };
      audit(tx, { ...event, entityType: "organization", entityId: organizationId, metadata: changes }, await clock(tx));
    }
    return {
      organizationId,
      name: next.name,
      slug: next.slug,
      productRoles: [...next.productRoles],
      ...(next.timezone !== null && { timezone: next.timezone }),
      hasLogo: next.logo !== null,
    };
  });
};
