// The texts that a developer reads at every step, in a readable file. UPDATE_GOLDEN=1 rewrites it.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { it } from 'node:test';
import { PageWorld } from '../../../test/worlds/shell/page-world.ts';
import type { PrNumber } from '../../engine/pull-request.ts';
import type { Sha } from '../../lib/sha.ts';

const FILE = new URL('comments.md', import.meta.url);

class Book {
  readonly #pages: string[] = [
    '# What people are told',
    '',
    'The comment on a pull request at every step, and the check beside it. Made by comments.test.ts.',
  ];

  add(world: PageWorld, title: string, number: number): void {
    const texts = world.pages.textsOn(number as PrNumber);
    const check = [...world.pages.checks.values()].findLast(
      ({ externalId }) => externalId.split('/')[1] === `${number}`,
    );
    const beside =
      check === undefined
        ? 'No check.'
        : `Check: **${check.name}** ${check.status} ${check.conclusion ?? ''}: ${check.title}`;
    this.#pages.push('', '---', '', `## ${title}`, '', ...texts.map(steady), '', steady(beside));
  }

  get text(): string {
    return `${this.#pages.join('\n')}\n`;
  }
}

/** Commit ids differ each time. */
function steady(text: string): string {
  return text
    .replace(/\b[0-9a-f]{40}\b/g, 'c0ffee…')
    .replace(/(?<![-0-9a-f])[0-9a-f]{12}\b/g, 'c0ffee')
    .replace(/(org|repo)-[0-9a-f-]{36}/g, '$1')
    .trimEnd();
}

it('is what people are told [G45] [G46]', async () => {
  const book = new Book();
  await tellOfOneThatLands(book);
  await tellOfSilence(book);
  await tellOfReadiness(book);
  await tellOfFailures(book);
  await tellOfOthers(book);
  await tellOfBatches(book);
  await tellOfTestedWholes(book);
  await tellOfLandings(book);
  await tellOfLeaving(book);
  await tellOfRedBranch(book);
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(FILE, book.text);
  assert.equal(book.text, readFileSync(FILE, 'utf8'), 'UPDATE_GOLDEN=1 writes comments.md anew');
});

async function tellOfOneThatLands(book: Book): Promise<void> {
  const world = await PageWorld.create({ concurrency: 1 });
  const first = await world.submit();
  const second = await world.submit();
  await world.pagesUpdated();
  book.add(world, 'Being tested', first.number);
  book.add(world, 'Waiting behind another', second.number);
  await world.report(1, 'ci', 'SUCCESS');
  await world.pagesUpdated();
  book.add(world, 'Landed', first.number);
  await world.cancel(second.number);
  await world.pagesUpdated();
  book.add(world, 'Taken out by a person', second.number);
  await world.stop();
}

async function tellOfSilence(book: Book): Promise<void> {
  const world = await PageWorld.create({ requiredStatuses: ['ci', 'lint'] });
  const pr = await world.submit();
  await world.pass(10 * 60_000);
  await world.send({ kind: 'time_passed', at: world.now });
  await world.pagesUpdated();
  book.add(world, 'Nothing is heard of CI', pr.number);
  await world.report(1, 'lint', 'SUCCESS');
  await world.pagesUpdated();
  book.add(world, 'CI is heard of after all', pr.number);
  await world.stop();
}

async function tellOfReadiness(book: Book): Promise<void> {
  const world = await PageWorld.create();
  const pr = world.open({
    mergeability: 'NOT_MERGEABLE',
    blockReasons: ['reviewRequired', 'failingCheck'],
    failingChecks: ['lint', 'unit'],
  });
  await world.enter(pr);
  await world.pagesUpdated();
  book.add(world, 'Submitted, and not ready', pr.number);
  await world.observe({ ...pr, blockReasons: ['conflict'] });
  await world.pagesUpdated();
  book.add(world, 'Not ready for another reason', pr.number);
  await world.stop();
}

async function tellOfFailures(book: Book): Promise<void> {
  const world = await PageWorld.create({ honorQuarantine: 'OFF', requiredStatuses: ['ci', 'lint'] });
  const ahead = await world.submit();
  const behind = await world.submit();
  await world.pagesUpdated();
  book.add(world, 'Tested on top of another', behind.number);
  await world.storeFailures(2, 'ci', [
    { name: 'sends the receipt', status: 'FLAKY' },
    { name: 'adds up the cart', parent: 'checkout' },
    { name: 'retries twice', status: 'FLAKY', quarantinedAt: world.now },
  ]);
  await world.report(2, 'ci', 'FAILURE', '3 of 812 tests failed');
  await world.pagesUpdated();
  book.add(world, 'Failed, and maybe not to blame', behind.number);
  await world.report(1, 'ci', 'SUCCESS');
  await world.report(1, 'lint', 'SUCCESS');
  await world.pagesUpdated();
  book.add(world, 'Failed, and to blame', behind.number);
  assert.equal(await world.stateOf(ahead.number), 'MERGED');
  await world.stop();
}

async function tellOfOthers(book: Book): Promise<void> {
  const world = await PageWorld.create({ createPrsForTestingBranches: true, testingTimeoutMinutes: 60 });
  const [first, second, third] = [await world.submit(), await world.submit(), await world.submit()];
  await world.pagesUpdated();
  await world.report(2, 'ci', 'SUCCESS');
  // Sluice writes it only if the pull request does not land at once.
  await world.pass(31_000);
  await world.pagesUpdated();
  book.add(world, 'Passed, and waiting for the one ahead', second.number);
  await world.report(1, 'ci', 'FAILURE');
  await world.pagesUpdated();
  book.add(world, 'Tested again because the one ahead failed', second.number);
  assert.equal(await world.stateOf(first.number), 'FAILED');
  await world.send({ kind: 'queue_updated', at: world.now, actor: 'ada', settings: {}, state: 'PAUSED' });
  await world.pushToTarget('d'.repeat(40) as Sha);
  await world.pagesUpdated();
  book.add(world, 'Sent back by a push to the branch, while the queue is paused', third.number);
  await world.send({ kind: 'queue_updated', at: world.now, actor: 'ada', settings: {}, state: 'RUNNING' });
  await world.pagesUpdated();
  await world.stop();
}

async function tellOfLandings(book: Book): Promise<void> {
  const world = await PageWorld.create({ testingTimeoutMinutes: 60, honorQuarantine: 'OFF' });
  const flaky = await world.submit();
  await world.pagesUpdated();
  await world.storeFailures(1, 'ci', [{ name: 'opens the door', status: 'FLAKY' }]);
  await world.report(1, 'ci', 'FAILURE');
  await world.pagesUpdated();
  book.add(world, 'Failed in nothing but flaky tests', flaky.number);
  const late = await world.submit();
  await world.pagesUpdated();
  await world.pass(61 * 60_000);
  await world.send({ kind: 'time_passed', at: world.now });
  await world.pagesUpdated();
  book.add(world, 'A check never reported', late.number);
  await world.stop();
  await tellOfRefusal(book);
}

async function tellOfRefusal(book: Book): Promise<void> {
  const world = await PageWorld.create();
  const refused = await world.submit();
  await world.pagesUpdated();
  world.refuseLandingOf(refused.number);
  await world.report(1, 'ci', 'SUCCESS');
  await world.pagesUpdated();
  book.add(world, 'The forge refused to merge it', refused.number);
  await world.stop();
}

async function tellOfBatches(book: Book): Promise<void> {
  const world = await PageWorld.create({ batch: true, batchingMinSize: 2, batchingMaxWaitTimeMinutes: 5 });
  const first = await world.submit();
  await world.pagesUpdated();
  book.add(world, 'Waiting for others to be tested with', first.number);
  const second = await world.submit();
  await world.pagesUpdated();
  book.add(world, 'Tested together with another', second.number);
  await world.report(1, 'ci', 'FAILURE');
  await world.pagesUpdated();
  book.add(world, 'Its batch failed and is split', first.number);
  await world.report(2, 'ci', 'SUCCESS');
  await world.pagesUpdated();
  book.add(world, 'Cleared of blame, and landed', first.number);
  await world.stop();
}

async function tellOfTestedWholes(book: Book): Promise<void> {
  const batch = { batch: true, batchingMinSize: 2, batchingMaxWaitTimeMinutes: 5 };
  const pushed = await PageWorld.create({ ...batch, landingMode: 'PUSH' });
  const [first, last] = [await pushed.submit(), await pushed.submit()];
  await pushed.report(1, 'ci', 'SUCCESS');
  await pushed.pagesUpdated();
  book.add(pushed, 'Landed beneath the last of its batch', first.number);
  book.add(pushed, 'Landed as the last of its batch', last.number);
  await pushed.stop();
  const merged = await PageWorld.create({ ...batch, landingMode: 'API' });
  const early = await merged.submit();
  await merged.submit();
  await merged.report(1, 'ci', 'SUCCESS');
  await merged.pagesUpdated();
  book.add(merged, 'Merged by the forge before the last of its batch', early.number);
  await merged.stop();
}

async function tellOfLeaving(book: Book): Promise<void> {
  const world = await PageWorld.create();
  const pr = await world.submit();
  await world.pagesUpdated();
  await world.observe({ ...pr, headSha: 'f'.repeat(40) as Sha });
  await world.pagesUpdated();
  book.add(world, 'Pushed to while in the queue', pr.number);
  const merged = await world.submit();
  await world.observe({ ...merged, status: 'merged' });
  await world.pagesUpdated();
  book.add(world, 'Merged by hand', merged.number);
  world.forge.protection = undefined;
  const untested = await world.submit();
  await world.pagesUpdated();
  book.add(world, 'Could not be tested', untested.number);
  await world.stop();
}

async function tellOfRedBranch(book: Book): Promise<void> {
  const world = await PageWorld.create({ concurrency: 1 });
  const [first, second] = [await world.submit(), await world.submit()];
  await world.pagesUpdated();
  await world.report(1, 'ci', 'FAILURE');
  await world.pagesUpdated();
  await world.report(2, 'ci', 'FAILURE');
  await world.pagesUpdated();
  await world.report(3, 'ci', 'FAILURE');
  await world.pagesUpdated();
  assert.equal(await world.stateOf(second.number), 'PENDING');
  book.add(world, 'Back in its place: the branch itself was broken', first.number);
  const repair = await world.submit();
  await world.pagesUpdated();
  book.add(world, 'Tested as a repair of the branch', repair.number);
  await world.report(4, 'ci', 'FAILURE');
  await world.pagesUpdated();
  book.add(world, 'No repair after all', repair.number);
  await world.stop();
}
