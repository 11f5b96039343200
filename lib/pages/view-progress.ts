import { stepsFor, type Progress, type StepId } from "#lib/pages/progress.ts";
import { readProgress } from "#lib/pages/progress-store.ts";
import { sampleAsset } from "#lib/sandbox/sample-asset.ts";
import type { Capability, ProductRole } from "#lib/vocabulary.ts";

type Reader = {
  readonly organizationId: string;
  readonly environment: string;
  readonly capabilities: ReadonlySet<Capability>;
  readonly productRoles: readonly ProductRole[];
};

export async function viewProgress(reader: Reader): Promise<{ readonly ids: readonly StepId[]; readonly done: Progress }> {
  return { ids: stepsFor({ ...reader, samples: sampleAsset() !== null }), done: await readProgress(reader) };
}
