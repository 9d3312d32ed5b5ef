// The same pull requests, pushes and failures have the same outcomes on every forge.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CandidateView } from '../../src/app/queue/candidate-view.ts';
import type { EntryView } from '../../src/app/queue/entry-view.ts';
import { until } from './harness.ts';
import { BEGINNING, CHECK, createGithubPlace, createPlainPlace, type TrafficPlace } from './traffic-places.ts';

const PATIENCE_MS = 60_000;
/** Asking takes time away from the server. */
const CI_PAUSE_MS = 150;
const ENDED = ['MERGED', 'FAILED', 'CANCELLED'];

interface Outcome {
  /** `STATE REASON` of each pull request, by its name in the story. */
  readonly entries: Readonly<Record<string, string>>;
  readonly tree: string;
  readonly files: readonly string[];
}

/** Plays the story, with a CI for which every file named `bad` is red. */
class Traffic {
  readonly #place: TrafficPlace;
  readonly #numbers = new Map<string, number>();
  readonly #reported = new Set<string>();
  #isCiOpen = true;
  #isOver = false;
  #ci: Promise<void> = Promise.resolve();

  constructor(place: TrafficPlace) {
    this.#place = place;
  }

  get #ref() {
    return { repo: this.#place.repo, targetBranch: 'main' };
  }

  async play(settings: object): Promise<Outcome> {
    await this.#place.api.ok('createQueue', { ...this.#ref, requiredStatuses: [CHECK], ...settings });
    this.#ci = this.#runCi();
    try {
      await this.#oneByOne();
      await this.#conflict();
      await this.#batch();
      await this.#lanes();
      await this.#disturbances();
      return await this.#outcome();
    } finally {
      this.#isOver = true;
      await this.#ci;
    }
  }

  async #oneByOne(): Promise<void> {
    await this.#submit('passes', { 'passes.txt': 'x\n' });
    await this.#untilState('passes', 'MERGED');
    await this.#submit('fails', { bad: 'x\n' });
    await this.#untilState('fails', 'FAILED');
    this.#isCiOpen = false;
    await this.#submit('cancelled', { 'cancelled.txt': 'x\n' });
    await this.#untilState('cancelled', 'TESTING');
    await this.#place.api.ok('cancelPullRequest', this.#entry('cancelled'));
    await this.#submit('pushed to', { 'pushed-to.txt': 'x\n' });
    await this.#untilState('pushed to', 'TESTING');
    await this.#place.push(this.#number('pushed to'), { 'more.txt': 'x\n' });
    await this.#untilState('pushed to', 'CANCELLED');
    this.#isCiOpen = true;
  }

  /** Both change the same line: the second waits for the outcome of the first, and cannot be tested after it. */
  async #conflict(): Promise<void> {
    this.#isCiOpen = false;
    await this.#open('first of two', { 'shared.txt': 'first\n' });
    await this.#open('second of two', { 'shared.txt': 'second\n' });
    await this.#submitOpened('first of two');
    await this.#untilState('first of two', 'TESTING');
    await this.#submitOpened('second of two');
    await this.#untilState('second of two', 'PENDING');
    this.#isCiOpen = true;
    await this.#untilState('first of two', 'MERGED');
    await this.#untilState('second of two', 'FAILED');
  }

  async #batch(): Promise<void> {
    await this.#update({ batch: true, batchingMinSize: 4, batchingMaxWaitTimeMinutes: 30 });
    for (const name of ['batched 1', 'batched 2', 'batched bad', 'batched 3'])
      await this.#open(name, { [name.endsWith('bad') ? 'lib/bad' : `${name}.txt`]: 'x\n' });
    for (const name of ['batched 1', 'batched 2', 'batched bad', 'batched 3']) await this.#submitOpened(name);
    for (const name of ['batched 1', 'batched 2', 'batched 3']) await this.#untilState(name, 'MERGED');
    await this.#untilState('batched bad', 'FAILED');
    await this.#update({ batch: false });
  }

  async #lanes(): Promise<void> {
    await this.#update({ mode: 'PARALLEL', concurrency: 4 });
    this.#isCiOpen = false;
    const targets = { 'lane a': ['a'], 'lane b': ['b'], 'on lane a': ['a'], 'lane bad': ['c'] };
    for (const [name, impactedTargets] of Object.entries(targets)) {
      await this.#open(name, { [name === 'lane bad' ? 'lane/bad' : `lanes/${name}.txt`]: 'x\n' });
      await this.#place.api.ok('setImpactedTargets', { ...this.#entry(name), impactedTargets });
      await this.#submitOpened(name);
    }
    for (const name of Object.keys(targets)) await this.#untilState(name, 'TESTING');
    await this.#place.restart();
    this.#isCiOpen = true;
    for (const name of ['lane a', 'lane b', 'on lane a']) await this.#untilState(name, 'MERGED');
    await this.#untilState('lane bad', 'FAILED');
    await this.#update({ mode: 'SINGLE' });
  }

  async #disturbances(): Promise<void> {
    this.#isCiOpen = false;
    await this.#submit('overtaken', { 'overtaken.txt': 'x\n' });
    await this.#untilState('overtaken', 'TESTING');
    await this.#place.pushToTarget({ 'past-the-queue.txt': 'x\n' });
    this.#isCiOpen = true;
    await this.#untilState('overtaken', 'MERGED');
    this.#isCiOpen = false;
    await this.#submit('by hand', { 'by-hand.txt': 'x\n' });
    await this.#untilState('by hand', 'TESTING');
    await this.#place.mergeByHand(this.#number('by hand'));
    await this.#untilState('by hand', 'MERGED');
    this.#isCiOpen = true;
    await this.#submit('last', { 'last.txt': 'x\n' });
    await this.#untilState('last', 'MERGED');
  }

  #number(name: string): number {
    return this.#numbers.get(name) as number;
  }

  #entry(name: string) {
    return { ...this.#ref, pr: { number: this.#number(name) } };
  }

  async #open(name: string, files: Readonly<Record<string, string>>): Promise<void> {
    this.#numbers.set(name, await this.#place.open(files));
  }

  async #submit(name: string, files: Readonly<Record<string, string>>): Promise<void> {
    await this.#open(name, files);
    await this.#submitOpened(name);
  }

  async #submitOpened(name: string): Promise<void> {
    await this.#place.api.ok('submitPullRequest', this.#entry(name));
  }

  async #update(settings: object): Promise<void> {
    await this.#place.api.ok('updateQueue', { ...this.#ref, ...settings });
  }

  async #get(name: string): Promise<EntryView> {
    const question = { ...this.#entry(name), includeTimeline: true, includeExplanation: true };
    return this.#place.api.ok<EntryView>('getSubmittedPullRequest', question);
  }

  async #untilState(name: string, state: string): Promise<void> {
    let seen: EntryView | undefined;
    const isSo = async () => {
      seen = await this.#get(name);
      const hasEnded = ENDED.includes(seen.state ?? '') && seen.state !== state;
      assert.ok(!hasEnded, `${name} is ${seen.state}: ${seen.explanation?.summary}`);
      return seen.state === state ? true : undefined;
    };
    await until(`${name} is ${state}`, PATIENCE_MS, isSo).catch((error: Error) => {
      throw new Error(`${error.message}; it is ${seen?.state}: ${seen?.explanation?.summary}`);
    });
  }

  async #runCi(): Promise<void> {
    while (!this.#isOver) {
      if (this.#isCiOpen) await this.#reportAll().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, CI_PAUSE_MS));
    }
  }

  /** A server that is restarting right now is asked again in a moment. */
  async #reportAll(): Promise<void> {
    const details = await this.#place.api.post('getMergeQueueTestingDetails', this.#ref);
    const { testRuns } = JSON.parse(details.text) as { readonly testRuns: readonly CandidateView[] };
    for (const { testBranchSha: sha, requiredStatusesSource } of testRuns) {
      if (sha === '' || requiredStatusesSource === undefined || this.#reported.has(sha)) continue;
      const files = (await this.#place.git(['ls-tree', '-r', '--name-only', sha])).split('\n');
      await this.#place.report(sha, !files.some((file) => /(^|\/)bad$/.test(file)));
      this.#reported.add(sha);
    }
  }

  async #outcome(): Promise<Outcome> {
    const entries: Record<string, string> = {};
    for (const name of this.#numbers.keys()) {
      const { state, timeline } = await this.#get(name);
      entries[name] = `${state} ${timeline?.[0]?.reason}`;
    }
    const files = (await this.#place.git(['ls-tree', '-r', '--name-only', 'main'])).split('\n');
    return { entries, tree: await this.#place.git(['rev-parse', 'main^{tree}']), files };
  }
}

async function play(createPlace: () => Promise<TrafficPlace>, settings: object): Promise<Outcome> {
  const place = await createPlace();
  try {
    return await new Traffic(place).play(settings);
  } finally {
    await place.close();
  }
}

describe('the same traffic', { concurrency: 3 }, () => {
  let plain: Promise<Outcome> | undefined;
  const onPlain = () => {
    plain ??= play(createPlainPlace, {});
    return plain;
  };

  test('on plain git ends as the story says', async () => {
    const { entries, files } = await onPlain();
    assert.deepEqual(entries, {
      passes: 'MERGED MERGE_GRAPH_MERGE',
      fails: 'FAILED TEST_RUN_REQUIRED_STATUS_FAILED',
      cancelled: 'CANCELLED USER_REQUESTED',
      'pushed to': 'CANCELLED PR_PUSHED_TO',
      'first of two': 'MERGED MERGE_GRAPH_MERGE',
      'second of two': 'FAILED START_TEST_RUN_MERGE_CONFLICT',
      'batched 1': 'MERGED MERGE_GRAPH_MERGE',
      'batched 2': 'MERGED MERGE_GRAPH_MERGE',
      'batched bad': 'FAILED TEST_RUN_REQUIRED_STATUS_FAILED',
      'batched 3': 'MERGED MERGE_GRAPH_MERGE',
      'lane a': 'MERGED MERGE_GRAPH_MERGE',
      'lane b': 'MERGED MERGE_GRAPH_MERGE',
      'on lane a': 'MERGED MERGE_GRAPH_MERGE',
      'lane bad': 'FAILED TEST_RUN_REQUIRED_STATUS_FAILED',
      overtaken: 'MERGED MERGE_GRAPH_MERGE',
      'by hand': 'MERGED MANUAL_MERGE',
      last: 'MERGED MERGE_GRAPH_MERGE',
    });
    const landed = ['passes.txt', 'batched 1.txt', 'batched 2.txt', 'batched 3.txt', 'overtaken.txt', 'last.txt'];
    const lanes = ['lanes/lane a.txt', 'lanes/lane b.txt', 'lanes/on lane a.txt'];
    const others = [...Object.keys(BEGINNING), 'past-the-queue.txt', 'by-hand.txt'];
    assert.deepEqual(files.toSorted(), [...landed, ...lanes, ...others].toSorted());
  });

  test('on GitHub, landed by API as MERGE_COMMIT, ends in the same states and the same tree', async () => {
    const settings = { landingMode: 'API', mergeMethod: 'MERGE_COMMIT' };
    assert.deepEqual(await play(createGithubPlace, settings), await onPlain());
  });
});
