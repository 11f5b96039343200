import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Deployment } from "kubernetes-models/apps/v1";
import { Job } from "kubernetes-models/batch/v1";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1";
import { Service } from "kubernetes-models/v1";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { operations } from "#lib/operations/operations.ts";
import manifest from "../package.json" with { type: "json" };

/* The manifests in deploy/kubernetes against the schemas of Kubernetes, and what they say of each other and of this service. */

type Container = {
  readonly ports: readonly { readonly name: string }[];
  readonly volumeMounts: readonly { readonly name: string }[];
} & Readonly<
  Record<`${"startup" | "liveness" | "readiness"}Probe`, { readonly httpGet: { readonly path: string; readonly port: string } }>
>;
type PodSpec = { readonly containers: readonly [Container]; readonly volumes: readonly { readonly name: string }[] };
type Resource = { readonly apiVersion: string; readonly kind: string };

const folder = join(import.meta.dirname, "../deploy/kubernetes");
const read = (file: string): Promise<string> => readFile(join(folder, file), "utf8");
const documentsOf = async (file: string): Promise<readonly Resource[]> =>
  parseAllDocuments(await read(file)).map((document) => document.toJS() as Resource);

const models = { Deployment, Service, PodDisruptionBudget, Job };
const validate = ({ kind, ...rest }: Resource): void =>
  new models[kind as keyof typeof models]({ kind, ...rest } as never).validate();

const [deployment, service, budget] = (await documentsOf("service.yaml")) as unknown as readonly [
  Resource & { readonly spec: { readonly template: { readonly metadata: { readonly labels: object }; readonly spec: PodSpec } } },
  Resource & { readonly spec: { readonly selector: object; readonly ports: readonly { readonly targetPort: string }[] } },
  Resource & { readonly spec: { readonly selector: { readonly matchLabels: object } } },
];

test("every manifest has the schema of its kind, and a wrong one is refused", async () => {
  const resources = [...(await documentsOf("service.yaml")), ...(await documentsOf("migrate.yaml"))];
  expect(resources.map(({ kind }) => kind)).toEqual(["Deployment", "Service", "PodDisruptionBudget", "Job"]);
  for (const resource of resources) validate(resource);
  const wrong = { ...deployment, spec: { ...deployment.spec, replicas: "two" } };
  expect(() => validate(wrong)).toThrow("replicas must be integer");
});

test("the service and the budget choose the pods of the deployment, and ports, volumes and probes exist", () => {
  const { metadata, spec } = deployment.spec.template;
  const [container] = spec.containers;
  expect(service.spec.selector).toEqual(metadata.labels);
  expect(budget.spec.selector.matchLabels).toEqual(metadata.labels);
  const ports = container.ports.map(({ name }) => name);
  for (const { targetPort } of service.spec.ports) expect(ports).toContain(targetPort);
  expect(container.volumeMounts.map(({ name }) => name)).toEqual(spec.volumes.map(({ name }) => name));
  const paths = operations.map(({ method, path }) => `${method} ${path}`);
  for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
    expect(ports).toContain(probe.httpGet.port);
    expect(paths).toContain(`GET ${probe.httpGet.path}`);
  }
});

test("the image has the version of the package, and each manifest names it", async () => {
  const { images, resources } = parse(await read("kustomization.yaml")) as {
    readonly images: readonly { readonly name: string; readonly newTag: string }[];
    readonly resources: readonly string[];
  };
  expect(images).toEqual([expect.objectContaining({ name: "countersign", newTag: manifest.version })]);
  expect(resources).toEqual(["service.yaml"]);
  for (const file of ["service.yaml", "migrate.yaml"]) expect(await read(file)).toMatch(/^ +image: countersign$/m);
});
