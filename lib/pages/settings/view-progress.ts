import { capabilitiesOfRole } from "#lib/identity/capabilities.ts";
import { stepsFor, type Progress, type StepId } from "#lib/pages/settings/progress.ts";
import { readProgress } from "#lib/pages/settings/progress-store.ts";
import { sampleAsset } from "#lib/sandbox/sample-asset.ts";
import { ProductRole, type Capability } from "#lib/vocabulary.ts";

type Reader = {
  readonly organizationId: string;
  readonly environment: string;
  readonly capabilities: ReadonlySet<Capability>;
  readonly productRoles: readonly ProductRole[];
};

/** The steps of an owner before the organization exists, of both product roles. */
export function stepsToCome() {
  const capabilities = capabilitiesOfRole("owner");
  return { capabilities, ids: stepsFor({ productRoles: ProductRole.options, capabilities, samples: sampleAsset() !== null }) };
}

export async function viewProgress(reader: Reader): Promise<{ readonly ids: readonly StepId[]; readonly done: Progress }> {
  return { ids: stepsFor({ ...reader, samples: sampleAsset() !== null }), done: await readProgress(reader) };
}
