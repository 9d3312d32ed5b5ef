import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { pluck } from '../helpers/pluck.ts';
import { type AnyGitea, startGitea } from './any-gitea.ts';
import { Conversation, type Exchange } from './conversation.ts';
import { tellStory } from './story.ts';

const FIXTURES = new URL('../fixtures/gitea/', import.meta.url);
const isReal = process.env['SLUICE_REAL_GITEA'] !== undefined;

let gitea: AnyGitea;
let told: Conversation;
before(async () => {
  gitea = await startGitea();
  told = await Conversation.begin(gitea);
  await tellStory(told);
});
after(async () => {
  await told?.close();
  await gitea.close();
});

test('every answer and every delivery is as the real Gitea gave it', async () => {
  if (isReal && process.env['UPDATE_GOLDEN'] === '1') await record();
  const recorded = JSON.parse(await readFile(new URL('conversation.json', FIXTURES), 'utf8')) as readonly Exchange[];
  assert.deepEqual(
    pluck(told.exchanges, 'name'),
    recorded.map(({ name }) => name),
  );
  const wrong = recorded.flatMap((real, index) => listDifferences(real.name, real, told.exchanges[index]));
  assert.deepEqual(wrong, []);
});

/** The fake leaves fields out. The ones it has must be as recorded. */
function listDifferences(path: string, recorded: unknown, said: unknown): readonly string[] {
  if (isObject(recorded) && isObject(said) && Array.isArray(recorded) === Array.isArray(said)) {
    const all = Array.isArray(recorded) || isReal ? Object.keys(recorded) : [];
    const keys = [...new Set([...all, ...Object.keys(said)])];
    return keys.flatMap((key) => listDifferences(`${path}.${key}`, recorded[key], said[key]));
  }
  if (recorded === said) return [];
  return [`${path}: ${JSON.stringify(said)}, but recorded is ${JSON.stringify(recorded)}`];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

async function record(): Promise<void> {
  await mkdir(new URL('deliveries/', FIXTURES), { recursive: true });
  await writeFile(new URL('conversation.json', FIXTURES), `${JSON.stringify(told.exchanges, null, 1)}\n`);
  for (const [name, { headers, body }] of told.heard) {
    const file = `${name.replaceAll(/[^a-z0-9]+/g, '-')}.json`;
    await writeFile(new URL(`deliveries/${file}`, FIXTURES), `${JSON.stringify({ headers, body }, null, 1)}\n`);
  }
}
