import { readFile } from 'node:fs/promises';
import type { CandidateView } from '../../src/app/queue/candidate-view.ts';
import type { EntryView } from '../../src/app/queue/entry-view.ts';
import { checkEntries, checkOrder } from './check-entries.ts';
import { checkHeads, checkHistory } from './check-history.ts';
import {
  checkMarkedProcesses,
  checkObjects,
  checkRefs,
  checkRunnerFolders,
  checkStopped,
  checkStore,
  type StorePlace,
} from './check-leftovers.ts';
import { queueOf } from './client.ts';
import { checksOf, recordOf } from './project.ts';
import type { Scene } from './scene.ts';

/** Checks all promises, and stops the servers at the end. */
export async function checkAll(
  scene: Scene,
  entries: ReadonlyMap<number, EntryView>,
  marks: Iterable<string>,
): Promise<void> {
  const { violations, plan, posts, repository, folder } = scene;
  const { git } = repository.world;
  const dataFolders = posts.map(({ dataFolder }) => dataFolder);
  checkEntries(violations, plan.changes, entries);
  await checkRecords(scene, entries);
  await checkTargets(scene, entries);
  await checkRefs(violations, git);
  await checkRunnerFolders(violations, dataFolders);
  await checkMarkedProcesses(violations, marks);
  for (const post of posts) {
    const problem = await post.stop();
    if (problem !== undefined) violations.add(problem);
  }
  await checkStopped(violations, { folders: [folder, repository.world.folder], dataFolders });
  await checkObjects(violations, git);
  await checkStore(violations, placeOf(scene));
}

function placeOf({ databaseUrl: url, posts }: Scene): StorePlace {
  return url === undefined ? { kind: 'sqlite', directory: posts[0]?.dataFolder ?? '' } : { kind: 'postgres', url };
}

/** Checks what the queues report about themselves and about the candidates that landed. */
async function checkRecords(
  { plan, client, violations }: Scene,
  entries: ReadonlyMap<number, EntryView>,
): Promise<void> {
  for (const line of plan.lines) {
    const { parked, enqueuedPullRequests } = await client.getQueue(line);
    violations.expect(parked === undefined, `${line.branch} is parked: ${parked?.reason}`);
    violations.expect(enqueuedPullRequests.length === 0, `${line.branch} is not empty`);
  }
  for (const { number, line } of plan.changes) {
    const landed = entries.get(number)?.landed;
    if (landed === undefined) continue;
    const { testRunId, testedSha } = landed;
    const run = await client.call<CandidateView>('getMergeQueueTestingDetails', { ...queueOf(line), testRunId });
    violations.expect(run.status === 'SUCCEEDED', `#${number} landed by a test run that is ${run.status}`);
    violations.expect(run.testBranchSha === testedSha, `#${number} landed by a test run of another commit`);
  }
}

async function checkTargets(scene: Scene, entries: ReadonlyMap<number, EntryView>): Promise<void> {
  const { violations, plan, repository, folder } = scene;
  const { git, path } = repository.world;
  const passedTrees = await readPassedTrees(folder);
  for (const line of plan.lines) {
    const changes = plan.changes.filter((change) => change.line === line);
    checkOrder(violations, { line, changes, entries });
    const history = { git, line, start: repository.start, changes, entries, passedTrees };
    await checkHeads(violations, { repository: path, heads: await checkHistory(violations, history) });
  }
}

/** The trees that every check recorded. */
async function readPassedTrees(folder: string): Promise<ReadonlySet<string>> {
  const texts = await Promise.all(
    checksOf(folder).map(({ name }) => readFile(recordOf(folder, name), 'utf8').catch(() => '')),
  );
  return texts.map((text) => new Set(text.split('\n'))).reduce((one, other) => one.intersection(other));
}
