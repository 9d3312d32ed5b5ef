// Compares the decisions of a queue with the truth, which the world knows.
import type { EntryView } from '../../../src/app/queue/entry-view.ts';
import type { ReplyOf } from '../../../src/contract/operation.ts';
import type { getQueueHealth } from '../../../src/contract/queue-health.ts';
import { queueOf, type StormClient } from '../client.ts';
import { lookUntil } from '../pause.ts';
import type { Line } from '../plan.ts';
import { ownFileOf, type SuiteChange } from './plan.ts';
import { plantedNameOf } from './project.ts';
import type { Suite } from './world.ts';

const UPLOADS_MS = 60_000;

export interface Findings {
  readonly decided: readonly Decision[];
  readonly health: Health;
  readonly tests: readonly PlantedTest[];
}

type Health = ReplyOf<typeof getQueueHealth>['total'];

export interface Decision {
  readonly change: SuiteChange;
  readonly entry: EntryView;
  readonly end: 'landed' | 'removed' | 'undecided';
}

/** A planted test, as the server tells of it. */
export interface PlantedTest {
  readonly name: string;
  readonly status: string;
  readonly reason: string;
  readonly runs: number;
  readonly failures: number;
  /** Trees on which it failed and passed. */
  readonly bothOutcomes: number;
}

export async function findOut(suite: Suite): Promise<Findings> {
  const { plan, client, line } = suite;
  const decided: Decision[] = [];
  for (const change of plan.changes) {
    const entry = await client.get(change, { includeTimeline: true, includeExplanation: true });
    if (entry === undefined) suite.violations.add(`#${change.number} is lost`);
    else decided.push({ change, entry, end: endOf(entry) });
  }
  await checkDecisions(suite, decided);
  const tests = await readTests(suite);
  for (const { name, status, bothOutcomes } of tests) {
    if (suite.isStrict && bothOutcomes > 0 && status !== 'FLAKY')
      suite.violations.add(`${name} failed and passed on ${bothOutcomes} equal trees, and is ${status}`);
  }
  const { total: health } = await client.call<{ total: Health }>('getQueueHealth', { ...queueOf(line), days: 1 });
  return { decided, tests, health };
}

function endOf({ state, isCurrentlySubmittedToQueue }: EntryView): Decision['end'] {
  if (isCurrentlySubmittedToQueue) return 'undecided';
  return state === 'MERGED' ? 'landed' : 'removed';
}

/** Git must tell the same as the server. */
async function checkDecisions({ git, violations, isStrict, line }: Suite, decided: readonly Decision[]): Promise<void> {
  const files = new Set((await git(['ls-tree', '-r', '--name-only', line.branch])).split('\n'));
  for (const { change, entry, end } of decided) {
    const { number, kind, truth } = change;
    const name = `#${number} (${kind})`;
    const isThere = files.has(ownFileOf(number));
    violations.expect(
      isThere === (end === 'landed'),
      `${name} is ${entry.state}, and its files are ${isThere ? '' : 'not '}there`,
    );
    violations.expect(truth !== 'broken' || !isThere, `${name} landed, and is broken`);
    if (isStrict) violations.expect(truth !== 'innocent' || end !== 'removed', `${name} was removed, and is innocent`);
  }
}

interface ListedTest {
  readonly id: string;
  readonly name: string;
  readonly status: { readonly value: string; readonly reason: string };
}

interface TestRun {
  readonly conclusion: string;
  readonly sha: string;
  /** Of an upload that is evidence for nothing, such as one in which very many tests failed. */
  readonly no_evidence_because?: string;
}

async function readTests(suite: Suite): Promise<readonly PlantedTest[]> {
  const { client, line } = suite;
  const scope = { repo: queueOf(line).repo, org_url_slug: 'default', page_query: { page_size: 100 } };
  await untilProcessed(client, line);
  const body = { ...scope, text: 'planted' };
  const { tests } = await client.call<{ tests: readonly ListedTest[] }>('flaky-tests/list-tests', body);
  const treeOf = rememberTrees(suite);
  const found = tests.flatMap((test) => {
    const name = plantedNameOf(test.name);
    return name === undefined ? [] : [{ ...test, name }];
  });
  return Promise.all(
    found.map(async ({ id, name, status: { value: status, reason } }) => {
      const ofTest = { ...scope, test_id: id };
      const { test_runs: runs } = await client.call<{ test_runs: TestRun[] }>('flaky-tests/list-test-runs', ofTest);
      const sound = runs.filter(({ no_evidence_because: flaw }) => flaw === undefined);
      const trees = async (conclusion: string) =>
        new Set(await Promise.all(sound.filter((run) => run.conclusion === conclusion).map(({ sha }) => treeOf(sha))));

      const [failed, passed] = [await trees('FAILURE'), await trees('SUCCESS')];
      const failures = runs.filter(({ conclusion }) => conclusion === 'FAILURE').length;
      return { name, status, reason, runs: runs.length, failures, bothOutcomes: failed.intersection(passed).size };
    }),
  );
}

/** Commits of candidates have no ref any more, and are there until git collects its garbage. */
function rememberTrees({ git }: Suite): (sha: string) => Promise<string> {
  const trees = new Map<string, Promise<string>>();
  return (sha) => {
    const tree = trees.get(sha) ?? git(['rev-parse', `${sha}^{tree}`]);
    trees.set(sha, tree);
    return tree;
  };
}

async function untilProcessed(client: StormClient, line: Line): Promise<void> {
  const body = { repo: queueOf(line).repo, org_url_slug: 'default', page_query: { page_size: 100 } };
  await lookUntil({ withinMs: UPLOADS_MS, everyMs: 100 }, async () => {
    const { uploads } = await client.call<{ uploads: readonly { status: string }[] }>('flaky-tests/list-uploads', body);
    return uploads.every(({ status }) => status !== 'ACCEPTED') || undefined;
  });
}
