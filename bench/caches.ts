import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { CheckRunner, JobCache } from '../src/check-runner/runner.ts';
import { aRunner } from '../test/helpers/local-runner.ts';
import { createNpmRegistry, type NpmRegistry, npmProject } from '../test/helpers/npm-registry.ts';
import { median, printFigure, progress } from './lib/figure.ts';

const OPTIONS = {
  megabytes: { type: 'string', default: '300' },
  packages: { type: 'string', default: '300' },
  rounds: { type: 'string', default: '3' },
} as const;

const MEGABYTE = 1_000_000;
const NEVER = new AbortController().signal;
const COMMAND = 'echo begun; npm ci --prefer-offline --no-audit --no-fund >/dev/null && echo prepared';

/** A check whose packages come from a registry on this machine, with and without its cache. */
export async function run(words: readonly string[] = []): Promise<void> {
  const { values } = parseArgs({ args: [...words], options: OPTIONS });
  const [megabytes, packages, rounds] = [values.megabytes, values.packages, values.rounds].map(Number);
  if (megabytes === undefined || packages === undefined || rounds === undefined) return;
  const registry = await createNpmRegistry();
  const { runner, close } = await aRunner(undefined);
  try {
    const files = await publish(registry, { packages, bytes: Math.round((megabytes * MEGABYTE) / packages) });
    await measure({ runner, registry, files }, { megabytes, rounds });
  } finally {
    await close();
    await registry.close();
  }
}

async function publish(
  registry: NpmRegistry,
  { packages, bytes }: { readonly packages: number; readonly bytes: number },
): Promise<Readonly<Record<string, string>>> {
  progress(`${packages} packages of ${bytes} bytes`);
  const parts: Record<string, object> = {};
  for (let index = 1; index <= packages; index += 1) {
    const files = { 'index.js': '', data: randomBytes(bytes) };
    parts[`package-${index}`] = await registry.publish({ name: `package-${index}`, version: '1.0.0', files });
  }
  return npmProject(registry.url, parts);
}

interface World {
  readonly runner: CheckRunner;
  readonly registry: NpmRegistry;
  readonly files: Readonly<Record<string, string>>;
}

async function measure(world: World, of: { readonly megabytes: number; readonly rounds: number }): Promise<void> {
  const without: Took[] = [];
  for (let round = 0; round < of.rounds; round += 1) without.push(await runOnce(world, 'read'));
  const stored = await runOnce(world, 'store');
  const asked = world.registry.requests.length;
  const hits: Took[] = [];
  for (let round = 0; round < of.rounds; round += 1) hits.push(await runOnce(world, 'read'));
  const name = `caches.npm.${of.megabytes}MB`;
  const [prepare, begin] = [
    median(without.map(({ prepareMs }) => prepareMs)),
    median(without.map(({ beginMs }) => beginMs)),
  ];
  const restore = median(hits.map(({ beginMs }) => beginMs)) - begin;
  printFigure({ name: `${name}.restore`, unit: 'ms', value: restore, baseline: prepare, goal: 0.5 });
  const hit = median(hits.map(({ beginMs, prepareMs }) => beginMs + prepareMs));
  printFigure({ name: `${name}.prepared`, unit: 'ms', value: hit, baseline: begin + prepare, goal: 1 });
  printFigure({ name: `${name}.store`, unit: 'ms', value: stored.endMs, baseline: prepare });
  const requests = world.registry.requests.length - asked;
  printFigure({
    name: `${name}.requests`,
    unit: 'requests',
    value: requests,
    baseline: asked / (of.rounds + 1),
    limit: 0,
  });
}

interface Took {
  /** From the end of the checkout to the command. */
  readonly beginMs: number;
  readonly prepareMs: number;
  /** From the end of the command to that of the job. */
  readonly endMs: number;
}

async function runOnce({ runner, files }: World, use: JobCache['use']): Promise<Took> {
  let startedAt = 0;
  const heard: { readonly at: number; readonly text: string }[] = [];
  const cache: JobCache = {
    ...{ repository: 'app', branch: 'main', check: 'unit', key: ['package-lock.json'], paths: ['~/.npm'], inputs: [] },
    ...{ isVerified: true, use },
  };
  await runner.run(
    {
      ...{ share: 'a', rank: 0, command: COMMAND, timeoutMs: 600_000, network: true, cache },
      variables: { CI: 'true' },
      prepare: async ({ folder }) => {
        for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
        return undefined;
      },
      onStart: async () => {
        startedAt = performance.now();
      },
      onOutput: async (bytes) => void heard.push({ at: performance.now(), text: bytes.toString() }),
    },
    NEVER,
  );
  const endedAt = performance.now();
  const at = (word: string) => heard.find(({ text }) => text.includes(word))?.at ?? Number.NaN;
  return { beginMs: at('begun') - startedAt, prepareMs: at('prepared') - at('begun'), endMs: endedAt - at('prepared') };
}
