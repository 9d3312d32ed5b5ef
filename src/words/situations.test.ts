// The texts that a developer reads at every step, in a readable file. UPDATE_GOLDEN=1 rewrites it.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { it } from 'node:test';
import { maker } from '../../test/helpers/made.ts';
import { PageWorld } from '../../test/worlds/shell/page-world.ts';
import { decodeCandidate } from '../app/core/queue-codec.ts';
import { collectBeyond } from '../app/queue/entry-run.ts';
import { type ExplanationReasonView, viewExplanation, viewTimeline } from '../app/queue/entry-view.ts';
import { findAnyEntry } from '../app/queue/find-entry.ts';
import type { CandidateNumber } from '../engine/model/candidate.ts';
import type { Learned } from '../engine/model/learned.ts';
import type { PrNumber } from '../engine/model/pull-request.ts';
import { candidatesFor } from '../engine/model/roster.ts';
import type { QueueSettings } from '../engine/model/settings.ts';
import type { Sha } from '../lib/sha.ts';
import type { TestRow } from '../storage/tests.ts';
import { explain } from './explain.ts';
import { type Outcome, outcomeOf } from './result.ts';

const FILE = new URL('situations.md', import.meta.url);

const createWorld = maker((settings?: Partial<QueueSettings>, learned?: Partial<Learned>) =>
  PageWorld.create(settings, learned),
);

class Book {
  readonly #pages: string[] = [
    '# What people are told',
    '',
    'Each situation as the comment on the pull request, as the check beside it, and as `sluice pr status` and the API tell it. Made by situations.test.ts.',
  ];

  /** Once the pages are updated. */
  async add(world: PageWorld, title: string, number: number): Promise<void> {
    await world.pagesUpdated();
    const texts = world.pages.textsOn(number as PrNumber);
    const check = [...world.pages.checks.values()].findLast(
      ({ externalId }) => externalId.split('/')[1] === `${number}`,
    );
    const beside =
      check === undefined
        ? 'No check.'
        : `Check: **${check.name}** ${check.status} ${check.conclusion ?? ''}: ${check.title}`;
    const status = ['```', ...(await statusOf(world, number)).map(steady), '```'];
    this.#pages.push('', '---', '', `## ${title}`, '', ...texts.map(steady), '', steady(beside), '', ...status);
  }

  get text(): string {
    return `${this.#pages.join('\n')}\n`;
  }
}

/** The explanation and the timeline, as the API answers them. */
async function statusOf(world: PageWorld, number: number): Promise<string[]> {
  const { app, queueId: id } = world;
  const loaded = await app.queues.find(id);
  assert.ok(loaded !== undefined);
  const found = { ...loaded, repository: await world.repository() };
  const entry = await findAnyEntry(app, found, number as PrNumber);
  assert.ok(entry !== undefined);
  const beyond = await collectBeyond(app, found, entry);
  const { summary, next, commands, reasons } = viewExplanation(found, entry, { now: world.now, trouble: [], beyond });
  const timeline = viewTimeline(await app.store.queueRecords.listTransitions(entry.id));
  return [
    summary,
    ...reasons.flatMap((reason) => linesOf(reason, '  ')),
    `Next: ${next}`,
    ...commands.map((command) => `  $ ${command}`),
    sayOutcome(outcomeOf(loaded.queue, entry, explain(loaded.queue, entry, world.now, beyond), beyond)),
    ...timeline.map(({ at, state, text }) => `${at.slice(11, 16)} ${state} ${text}`),
  ];
}

/** As programs decide on it. */
function sayOutcome({ outcome, cause, blame, mayRetry }: Outcome): string {
  const retry = mayRetry && `retry ${Object.values(mayRetry).join(' ')}`;
  return `Result: ${[outcome, cause, blame, retry].filter(Boolean).join(', ')}`;
}

function linesOf({ text, url, reasons }: ExplanationReasonView, indent: string): string[] {
  const line = `${indent}- ${text}${url === undefined ? '' : ` ${url}`}`;
  return [line, ...reasons.flatMap((reason) => linesOf(reason, `${indent}  `))];
}

/** Commit ids differ each time. */
function steady(text: string): string {
  return text
    .replace(/\b[0-9a-f]{40}\b/g, 'c0ffee…')
    .replace(/(?<![-0-9a-f])[0-9a-f]{12}\b/g, 'c0ffee')
    .replace(/(org|repo)-[0-9a-f-]{36}/g, '$1')
    .trimEnd();
}

it('the texts for people in every situation are those of situations.md [G45] [G46] [E22] [E23] [E24] [E25] [E33] [E34] [E62] [E63] [E90] [Q10]', async () => {
  const book = new Book();
  await tellOfOneThatLands(book);
  await tellOfSilence(book);
  await tellOfReadiness(book);
  await tellOfFailures(book);
  await tellOfConfirmation(book);
  await tellOfConfirmedEnds(book);
  await tellOfUndecided(book);
  await tellOfNewFlakes(book);
  await tellOfOutages(book);
  await tellOfOthers(book);
  await tellOfBatches(book);
  await tellOfTestedWholes(book);
  await tellOfFreezes(book);
  await tellOfLandings(book);
  await tellOfLeaving(book);
  await tellOfRedBranch(book);
  await tellOfOddities(book);
  await tellOfConflicts(book);
  await tellOfSearch(book);
  await tellOfQuarantine(book);
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(FILE, book.text);
  assert.equal(book.text, readFileSync(FILE, 'utf8'), 'UPDATE_GOLDEN=1 writes situations.md anew');
});

async function tellOfOneThatLands(book: Book): Promise<void> {
  const world = await createWorld({ concurrency: 1 });
  const first = await world.submit();
  const second = await world.submit();
  await book.add(world, 'Being tested', first.number);
  await book.add(world, 'Waiting behind another', second.number);
  await world.report(1, 'ci', 'SUCCESS');
  await book.add(world, 'Landed', first.number);
  await world.cancel(second.number);
  await book.add(world, 'Taken out by a person', second.number);
}

async function tellOfSilence(book: Book): Promise<void> {
  const world = await createWorld({ requiredStatuses: ['ci', 'lint'] });
  const pr = await world.submit();
  await world.pass(10 * 60_000);
  await world.send({ kind: 'time_passed', at: world.now });
  await book.add(world, 'Nothing is heard of CI', pr.number);
  await world.report(1, 'lnit', 'SUCCESS');
  await world.pass(10 * 60_000);
  await world.send({ kind: 'time_passed', at: world.now });
  await book.add(world, 'CI reports under a misspelt name', pr.number);
  await world.report(1, 'lint', 'SUCCESS');
  await book.add(world, 'CI is heard of after all', pr.number);
}

async function tellOfReadiness(book: Book): Promise<void> {
  const world = await createWorld();
  const pr = world.open({
    mergeability: 'NOT_MERGEABLE',
    blockReasons: ['reviewRequired', 'failingCheck'],
    failingChecks: ['lint', 'unit'],
  });
  await world.enter(pr);
  await book.add(world, 'Submitted, and not ready', pr.number);
  await world.observe({ ...pr, blockReasons: ['conflict'] });
  await book.add(world, 'Not ready for another reason', pr.number);
  const changed = await world.submit();
  await world.observe({ ...changed, mergeability: 'NOT_MERGEABLE', blockReasons: ['changesRequested'] });
  await book.add(world, 'A reviewer requests changes during the test', changed.number);
  await world.observe({ ...changed, baseBranch: 'release' });
  await book.add(world, 'It gets another base during the test', changed.number);
}

async function tellOfFailures(book: Book): Promise<void> {
  const world = await createWorld({ honorQuarantine: 'OFF', requiredStatuses: ['ci', 'lint'] });
  const ahead = await world.submit();
  const behind = await world.submit();
  await book.add(world, 'Tested on top of another', behind.number);
  await world.storeFailures(2, 'ci', [
    { name: 'sends the receipt', status: 'FLAKY' },
    { name: 'adds up the cart', parent: 'checkout' },
    { name: 'retries twice', status: 'FLAKY', quarantinedAt: world.now },
  ]);
  await world.report(2, 'ci', 'FAILURE', '3 of 812 tests failed');
  await book.add(world, 'Failed, and maybe not to blame', behind.number);
  await world.report(1, 'ci', 'SUCCESS');
  await world.report(1, 'lint', 'SUCCESS');
  await book.add(world, 'Failed, and to blame', behind.number);
  assert.equal(await world.stateOf(ahead.number), 'MERGED');
}

async function tellOfConfirmation(book: Book): Promise<void> {
  const world = await createWorld({ confirmFailures: 'AUTO', honorQuarantine: 'OFF', concurrency: 1 });
  const pr = await world.submit();
  await world.pagesUpdated();
  await world.report(1, 'ci', 'FAILURE', '1 of 812 tests failed');
  await world.pass(61_000);
  await world.send({ kind: 'time_passed', at: world.now });
  await world.pagesUpdated();
  await book.add(world, 'Failed, and being confirmed in run 1 of 2', pr.number);
  await world.report(2, 'ci', 'SUCCESS');
  await world.report(3, 'ci', 'SUCCESS');
  await book.add(world, 'Passed in a run of its own', pr.number);
}

const ADDS_UP = { name: 'adds up the cart', parent: 'checkout' } as const;

/** Fails a check in these tests, and waits until its reports are read. */
async function failIn(world: PageWorld, run: number, tests: readonly Partial<TestRow>[]): Promise<void> {
  await world.storeFailures(run, 'ci', tests);
  const summary = tests.length === 0 ? 'Failed with exit code 1' : `${tests.length} of 812 tests failed`;
  await world.report(run, 'ci', 'FAILURE', summary);
  await world.pass(61_000);
  await world.send({ kind: 'time_passed', at: world.now });
  await world.pagesUpdated();
}

async function tellOfConfirmedEnds(book: Book): Promise<void> {
  const world = await createWorld({ confirmFailures: 'AUTO' });
  const pr = await world.submit();
  await failIn(world, 1, [ADDS_UP]);
  await book.add(world, 'Failed in a test, and being confirmed', pr.number);
  await failIn(world, 3, [ADDS_UP]);
  await failIn(world, 4, [ADDS_UP]);
  await book.add(world, 'Failed often enough, while no run shows that CI works', pr.number);
  await world.report(2, 'ci', 'SUCCESS');
  await book.add(world, 'Removed for a failure in a test, which runs of its own confirmed', pr.number);
  const broken = await createWorld({ confirmFailures: 'AUTO' }, WISE);
  const other = await broken.submit();
  await failIn(broken, 1, []);
  await failIn(broken, 3, []);
  await broken.report(2, 'ci', 'SUCCESS');
  await book.add(broken, 'Removed for a failure before the tests', other.number);
  await tellOfConfirmedTimeout(book);
}

async function tellOfConfirmedTimeout(book: Book): Promise<void> {
  const world = await createWorld({ confirmFailures: 'AUTO', testingTimeoutMinutes: 30 }, WISE);
  const slow = await world.submit();
  for (let run = 1; run <= 2; run += 1) {
    await world.pass(31 * 60_000);
    await world.send({ kind: 'time_passed', at: world.now });
    await world.report(await headRunOf(world), 'ci', 'SUCCESS');
  }
  await book.add(world, 'Removed for a timeout, which a run of its own confirmed', slow.number);
}

/** Flakes are rare: one run of its own is enough. */
const WISE = { flakes: { hits: 0.1, seen: 20 } };
/** The first test of an upload fails in about so many of a hundred runs of trees that pass. */
const flakyIn = (percent: number) => ({
  ...WISE,
  records: { runs: 98, seen: 98, tests: { '00000000-0000-8000-8000-000000000100': [percent - 1, 98] as const } },
});

async function tellOfUndecided(book: Book): Promise<void> {
  const world = await createWorld({ confirmFailures: 'AUTO' }, flakyIn(40));
  const pr = await world.submit();
  await failIn(world, 1, [ADDS_UP]);
  await book.add(world, 'Failed in a test that is too flaky to judge by', pr.number);
  for (const run of [3, 4, 5, 6, 7]) await failIn(world, run, [ADDS_UP]);
  await book.add(world, 'Not decided after five runs of its own', pr.number);
  const rare = await createWorld({ confirmFailures: 'AUTO' }, flakyIn(10));
  const other = await rare.submit();
  await failIn(rare, 1, [ADDS_UP]);
  await book.add(rare, 'Failed in a test that fails in a tenth of the runs', other.number);
}

const WELL_KNOWN = { ...WISE, records: { runs: 150, seen: 150, tests: {} } };

async function tellOfNewFlakes(book: Book): Promise<void> {
  const world = await createWorld({ confirmFailures: 'AUTO' }, WELL_KNOWN);
  const pr = await world.submit();
  await failIn(world, 1, [ADDS_UP]);
  await world.report(3, 'ci', 'SUCCESS');
  await book.add(world, 'Landed, and a test is flaky since then', pr.number);
  const strict = await createWorld({ confirmFailures: 'AUTO', newFlakes: 'REMOVE' }, WELL_KNOWN);
  const other = await strict.submit();
  await failIn(strict, 1, [ADDS_UP]);
  await strict.report(3, 'ci', 'SUCCESS');
  await book.add(strict, 'Removed, because a test is flaky since then', other.number);
}

async function tellOfOutages(book: Book): Promise<void> {
  const world = await createWorld({ confirmFailures: 'AUTO' });
  const first = await world.submit();
  await world.pagesUpdated();
  await world.report(1, 'ci', 'ERROR', 'No space left on device');
  await book.add(world, 'CI ended with an error, and maybe CI is to blame', first.number);
  await world.report(await headRunOf(world), 'ci', 'ERROR', 'No space left on device');
  await book.add(world, 'CI fails on the branch too, and the queue holds', first.number);
  await tellOfConfiguration(book);
}

/** The number of the run of the head that is under way. */
async function headRunOf(world: PageWorld): Promise<number> {
  const loaded = await world.app.queues.find(world.queueId);
  return loaded === undefined ? 0 : (candidatesFor(loaded.queue, 'head')[0]?.number ?? 0);
}

async function tellOfConfiguration(book: Book): Promise<void> {
  const world = await createWorld();
  world.forge.protection = undefined;
  const [, second] = [await world.submit(), await world.submit()];
  await world.pass(31_000);
  await book.add(world, 'Nothing can be tested on the branch, and the queue holds', second?.number ?? 0);
}

async function tellOfOthers(book: Book): Promise<void> {
  const world = await createWorld({ createPrsForTestingBranches: true, testingTimeoutMinutes: 60 });
  const [first, second, third] = [await world.submit(), await world.submit(), await world.submit()];
  await world.pagesUpdated();
  await world.report(2, 'ci', 'SUCCESS');
  // Sluice writes it only if the pull request does not land at once.
  await world.pass(31_000);
  await book.add(world, 'Passed, and waiting for the one ahead', second.number);
  await world.report(1, 'ci', 'FAILURE');
  await book.add(world, 'Tested again because the one ahead failed', second.number);
  assert.equal(await world.stateOf(first.number), 'FAILED');
  await world.update({}, 'PAUSED');
  await world.pushToTarget('d'.repeat(40) as Sha);
  await book.add(world, 'Sent back by a push to the branch, while the queue is paused', third.number);
  await world.update({}, 'RUNNING');
  await world.pagesUpdated();
}

async function tellOfFreezes(book: Book): Promise<void> {
  const times = { from: '2026-09-17T12:00', until: '2026-09-18T08:00', timeZone: 'UTC', repeat: 'NONE' as const };
  const freezes = [{ name: 'release 4.2', ...times, allowUrgent: false }];
  const world = await createWorld({ freezes });
  const [first, second] = [await world.submit(), await world.submit()];
  await world.report(1, 'ci', 'SUCCESS');
  await world.pass(31_000);
  await book.add(world, 'Passed, while the queue is frozen', first.number);
  await book.add(world, 'Under test, while the queue is frozen', second.number);
}

async function tellOfLandings(book: Book): Promise<void> {
  const world = await createWorld({ testingTimeoutMinutes: 60, honorQuarantine: 'OFF' });
  const flaky = await world.submit();
  await world.pagesUpdated();
  await world.storeFailures(1, 'ci', [{ name: 'opens the door', status: 'FLAKY' }]);
  await world.report(1, 'ci', 'FAILURE');
  await book.add(world, 'Failed in nothing but flaky tests', flaky.number);
  const late = await world.submit();
  await world.pagesUpdated();
  await world.pass(61 * 60_000);
  await world.send({ kind: 'time_passed', at: world.now });
  await book.add(world, 'A check never reported', late.number);
  await tellOfRefusal(book);
}

async function tellOfRefusal(book: Book): Promise<void> {
  const world = await createWorld();
  const refused = await world.submit();
  await world.pagesUpdated();
  world.refuseLandingOf(refused.number);
  await world.report(1, 'ci', 'SUCCESS');
  await book.add(world, 'The forge refused to merge it', refused.number);
}

async function tellOfBatches(book: Book): Promise<void> {
  const world = await createWorld({ batch: true, batchingMinSize: 2, batchingMaxWaitTimeMinutes: 5 });
  const first = await world.submit();
  await world.pass(10_000);
  await book.add(world, 'Waiting for others to be tested with', first.number);
  const second = await world.submit();
  await book.add(world, 'Tested together with another', second.number);
  await world.report(1, 'ci', 'FAILURE');
  await book.add(world, 'Its batch failed and is split', first.number);
  await world.report(2, 'ci', 'SUCCESS');
  await book.add(world, 'Cleared of blame, and landed', first.number);
}

async function tellOfTestedWholes(book: Book): Promise<void> {
  const batch = { batch: true, batchingMinSize: 2, batchingMaxWaitTimeMinutes: 5 };
  const pushed = await createWorld({ ...batch, landingMode: 'PUSH' });
  const [first, last] = [await pushed.submit(), await pushed.submit()];
  await pushed.report(1, 'ci', 'SUCCESS');
  await book.add(pushed, 'Landed beneath the last of its batch', first.number);
  await book.add(pushed, 'Landed as the last of its batch', last.number);
  const merged = await createWorld({ ...batch, landingMode: 'API' });
  const early = await merged.submit();
  await merged.submit();
  await merged.report(1, 'ci', 'SUCCESS');
  await book.add(merged, 'Merged by the forge before the last of its batch', early.number);
}

async function tellOfLeaving(book: Book): Promise<void> {
  const world = await createWorld();
  const pr = await world.submit();
  await world.pagesUpdated();
  await world.observe({ ...pr, headSha: 'f'.repeat(40) as Sha });
  await book.add(world, 'Pushed to while in the queue', pr.number);
  const merged = await world.submit();
  await world.observe({ ...merged, status: 'merged' });
  await book.add(world, 'Merged by hand', merged.number);
  world.forge.protection = undefined;
  const untested = await world.submit();
  await book.add(world, 'Could not be tested', untested.number);
}

async function tellOfRedBranch(book: Book): Promise<void> {
  const world = await createWorld({ concurrency: 1 });
  const [first, second] = [await world.submit(), await world.submit()];
  await world.pagesUpdated();
  await world.report(1, 'ci', 'FAILURE');
  await world.pagesUpdated();
  await world.report(2, 'ci', 'FAILURE');
  await book.add(world, 'Removed as another was before it, and the branch is doubted', second.number);
  await world.report(3, 'ci', 'FAILURE');
  await world.pagesUpdated();
  assert.equal(await world.stateOf(second.number), 'PENDING');
  await book.add(world, 'Back in its place: the branch itself was broken', first.number);
  const repair = await world.submit();
  await book.add(world, 'Tested as a repair of the branch', repair.number);
  await world.report(4, 'ci', 'FAILURE');
  await world.pass(10_000);
  await book.add(world, 'No repair after all', repair.number);
}

async function tellOfOddities(book: Book): Promise<void> {
  const world = await createWorld({ concurrency: 1 });
  const awaited = { mergeability: 'NOT_MERGEABLE', blockReasons: ['awaitingCheck'], awaitedChecks: ['unit'] } as const;
  const waiting = await world.submit(awaited);
  await book.add(world, 'A required check of its head has not reported', waiting.number);
  const [first, second, urgent] = [await world.submit(), await world.submit(), world.open()];
  await world.enter(urgent, undefined, { value: 10, name: 'high', isDefault: false });
  await book.add(world, 'Behind one that came later with a higher priority', second.number);
  const pause = { kind: 'queue_updated', actor: 'ada', settings: {}, state: 'PAUSED', reason: 'release 4.2' } as const;
  await world.send({ ...pause, at: world.now, until: world.now + 3_600_000 });
  await book.add(world, 'Paused until an hour later, with a reason', second.number);
  await world.send({ ...pause, state: 'DRAINING', at: world.now });
  const late = await world.submit();
  await book.add(world, 'Submitted to a queue that drains', late.number);
  await book.add(world, 'Under test while the queue drains', first.number);
  await tellOfTargets(book);
}

async function tellOfTargets(book: Book): Promise<void> {
  const world = await createWorld({ mode: 'PARALLEL' });
  const pr = await world.submit();
  await book.add(world, 'Its impacted targets are missing', pr.number);
}

async function tellOfConflicts(book: Book): Promise<void> {
  const world = await createWorld();
  const [ahead, behind] = [world.openChanging({ 'src/cart.ts': 'one' }), world.openChanging({ 'src/cart.ts': 'two' })];
  await world.enter(ahead);
  await world.enter(behind);
  await world.pass(10_000);
  await book.add(world, 'Conflicts with a pull request ahead of it', behind.number);
  await world.report(1, 'ci', 'SUCCESS');
  await book.add(world, 'Conflicts with the branch', behind.number);
  await tellOfNoConflict(book);
}

async function tellOfNoConflict(book: Book): Promise<void> {
  const world = await createWorld();
  const [ahead, behind] = [world.openChanging({ 'a.ts': 'one' }), world.openChanging({ 'a.ts': 'two' })];
  await world.enter(ahead);
  await world.enter(behind);
  await world.report(1, 'ci', 'FAILURE');
  await book.add(world, 'Conflicted with a pull request ahead of it, which failed', behind.number);
  for (const candidate of [3, 4, 5]) {
    await world.report(candidate, 'ci', 'CANCELLED');
    await world.pagesUpdated();
  }
  await book.add(world, 'CI cancelled its check each time', behind.number);
}

async function tellOfSearch(book: Book): Promise<void> {
  const world = await createWorld({ batch: true, batchingMinSize: 4, batchingMaxWaitTimeMinutes: 5 });
  const prs = [await world.submit(), await world.submit(), await world.submit(), await world.submit()];
  await book.add(world, 'In a batch under test', prs[1]?.number as number);
  await world.report(1, 'ci', 'FAILURE');
  await book.add(world, 'Searched, in half of its batch', prs[2]?.number as number);
  await world.report(2, 'ci', 'FAILURE');
  await book.add(world, 'Searched, the only new change', prs[1]?.number as number);
}

async function tellOfQuarantine(book: Book): Promise<void> {
  const world = await createWorld({ honorQuarantine: 'SHADOW' });
  const pr = await world.submit();
  await world.pagesUpdated();
  // The judgement of this server would come first.
  await world.stop();
  await world.report(1, 'ci', 'FAILURE');
  const row = await world.store.queueRecords.findCandidate(world.queueId, 1);
  assert.ok(row !== undefined);
  const judged = { isWaived: true, reason: 'Only quarantined tests failed.', failing: 1 };
  const tests = [{ id: 't', name: 'sends the receipt' }];
  const of = { at: world.now, candidate: 1 as CandidateNumber, check: 'ci', attempt: undefined, tests };
  await world.send({ kind: 'check_judged', ...of, ...judged, ended: decodeCandidate(row) });
  world.startAnother();
  await book.add(world, 'Only a quarantined test failed, and quarantine is in shadow mode', pr.number);
}
