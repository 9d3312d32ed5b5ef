import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ADA } from '../../../../test/fake/pull-request-pages.ts';
import { PageWorld } from '../../../../test/worlds/shell/page-world.ts';
import type { PullRequestFacts } from '../../../engine/model/pull-request.ts';
import type { LabelChanged, Retarget } from '../../../forge/hosting.ts';
import { runLabelCommand } from './label-command.ts';

const LABEL = 'trunk-merge-queue-submit';
let changes = 0;

interface Given extends Partial<LabelChanged> {
  readonly label?: string;
  readonly retarget?: Retarget;
}

/** The label is added or removed, and the webhook arrives. */
async function label(world: PageWorld, pr: PullRequestFacts, isPresent: boolean, given: Given = {}): Promise<string> {
  const { label: name = LABEL, retarget, ...last } = given;
  changes += 1;
  world.pages.label = {
    isPresent,
    last: { id: `LE_${changes}`, by: ADA, permission: 'write', at: world.now, ...last },
    pr,
    ...(retarget === undefined ? {} : { retarget }),
  };
  if (isPresent) world.pages.labels.add(name);
  else world.pages.labels.delete(name);
  return hear(world, pr, name);
}

async function hear(world: PageWorld, { number }: PullRequestFacts, name = LABEL): Promise<string> {
  return runLabelCommand(world.app, { repository: await world.repository() }, { number, label: name });
}

describe('the enqueueing label', () => {
  it('submits, is taken off at the end, and that cancels nothing [G140] [G57]', async () => {
    const world = await PageWorld.create();
    const pr = world.open();
    assert.equal(await label(world, pr, true), 'done');
    await world.pagesUpdated();
    assert.equal(await world.stateOf(pr.number), 'TESTING');
    assert.deepEqual([...world.pages.labels], [LABEL]);
    await world.report(1, 'ci', 'FAILURE');
    await world.pagesUpdated();
    assert.equal(await world.stateOf(pr.number), 'FAILED');
    assert.deepEqual([...world.pages.labels], []);
    const own = { login: 'sluice[bot]', isBot: true, isOwn: true };
    await label(world, pr, false, { by: own });
    assert.equal(await world.stateOf(pr.number), 'FAILED');
    await world.pass(1_000);
    await label(world, pr, true);
    assert.notEqual(await world.stateOf(pr.number), 'FAILED');
    await world.stop();
  });

  it('counts when it is put on again within the second in which it was taken off [G57]', async () => {
    const world = await PageWorld.create();
    const pr = world.open();
    const own = { login: 'sluice[bot]', isBot: true, isOwn: true };
    await label(world, pr, true);
    await world.pagesUpdated();
    await world.report(1, 'ci', 'FAILURE');
    await world.pagesUpdated();
    const at = world.now;
    await label(world, pr, false, { at, by: own });
    await label(world, pr, true, { at, id: 'LE_again' });
    assert.equal(await world.stateOf(pr.number), 'TESTING');
    // An outdated answer is ignored, also when it arrives late.
    await world.cancel(pr.number);
    await label(world, pr, true, { at, id: 'LE_again' });
    assert.equal(await world.stateOf(pr.number), 'CANCELLED');
    await world.stop();
  });

  it('is taken off at the end also where it was put on again while that was done before [G140]', async () => {
    const world = await PageWorld.create({ commentsEnabled: false, statusCheckEnabled: false });
    const pr = world.open();
    await label(world, pr, true);
    await world.pagesUpdated();
    world.pages.turn = async () => {
      world.pages.turn = undefined;
      await label(world, pr, true);
    };
    await world.report(1, 'ci', 'FAILURE');
    await world.pagesUpdated();
    assert.equal(await world.stateOf(pr.number), 'TESTING');
    world.pages.labels.add(LABEL);
    await world.report(2, 'ci', 'FAILURE');
    await world.pagesUpdated();
    assert.equal(await world.stateOf(pr.number), 'FAILED');
    assert.deepEqual([...world.pages.labels], []);
    await world.stop();
  });

  it('cancels when a person takes it off [G57]', async () => {
    const world = await PageWorld.create();
    const pr = world.open();
    await label(world, pr, true);
    await world.pass(1_000);
    await label(world, pr, false, { permission: 'triage' });
    assert.equal(await world.stateOf(pr.number), 'CANCELLED');
    await world.stop();
  });

  it('counts once for each change, however often it is heard of [G57]', async () => {
    const world = await PageWorld.create();
    const pr = world.open();
    await label(world, pr, true);
    await world.cancel(pr.number);
    await hear(world, pr);
    assert.equal(await world.stateOf(pr.number), 'CANCELLED');
    await world.stop();
  });

  it('means nothing on drafts and closed ones, from bots, and from those who may not write [G54] [G57]', async () => {
    const world = await PageWorld.create();
    const pr = world.open();
    const bot = { login: 'other[bot]', isBot: true, isOwn: false };
    await label(world, { ...pr, status: 'draft' }, true);
    await world.pass(1);
    await label(world, { ...pr, status: 'closed' }, true);
    await world.pass(1);
    await label(world, pr, true, { by: bot });
    assert.equal(world.pages.comments.size, 0);
    await world.pass(1);
    await label(world, pr, true, { permission: 'triage' });
    assert.equal(await world.stateOf(pr.number), undefined);
    assert.match(world.pages.textsOn(pr.number)[0] ?? '', /`ada` has no write access/);
    await world.stop();
  });

  it('counts from the person whose token we have when it is put on: taking it off is ours [G55]', async () => {
    const world = await PageWorld.create();
    const pr = world.open();
    const by = { login: 'ada', isBot: false, isOwn: true };
    await label(world, pr, true, { by });
    assert.notEqual(await world.stateOf(pr.number), undefined);
    await world.pass(1_000);
    await label(world, pr, false, { by });
    assert.notEqual(await world.stateOf(pr.number), 'CANCELLED');
    await world.stop();
  });

  it('counts from a bot that the queue names, which has no permission of its own [G137]', async () => {
    const world = await PageWorld.create({ allowedBotSubmitters: ['renovate'] });
    const pr = world.open();
    await label(world, pr, true, { by: { login: 'renovate[bot]', isBot: true, isOwn: false }, permission: 'none' });
    assert.notEqual(await world.stateOf(pr.number), undefined);
    await world.stop();
  });

  it('asks the forge nothing about other labels, or where it is switched off [G47] [G57]', async () => {
    const world = await PageWorld.create();
    const pr = world.open();
    world.pages.label = undefined;
    assert.equal(await hear(world, pr, 'bug'), 'done');
    await world.stop();
    const other = await PageWorld.create({ labelCommandsEnabled: false });
    const one = other.open();
    await label(other, one, true);
    assert.equal(await other.stateOf(one.number), undefined);
    await other.stop();
  });

  it('counts for the base it was put on for, until somebody puts it on again [G81]', async () => {
    const world = await PageWorld.create();
    const pr = world.open();
    const eve = { login: 'eve', isBot: false, isOwn: false };
    for (const by of [eve, undefined]) {
      await world.pass(1_000);
      await label(world, pr, true, { retarget: { at: world.now, by } });
      assert.equal(await world.stateOf(pr.number), undefined);
    }
    assert.match(world.pages.textsOn(pr.number)[0] ?? '', /targeted another branch.+`main`/);
    const retarget = { at: world.now, by: eve };
    await world.pass(1_000);
    await label(world, pr, true, { retarget });
    assert.equal(await world.stateOf(pr.number), 'TESTING');
    await world.pass(1_000);
    await label(world, pr, false, { retarget: { at: world.now, by: eve } });
    assert.equal(await world.stateOf(pr.number), 'CANCELLED');
    await world.stop();
  });

  it('counts if the person who added it chose the base too [G81]', async () => {
    const world = await PageWorld.create();
    const pr = world.open();
    await label(world, pr, true, { retarget: { at: world.now + 5_000, by: { ...ADA, login: 'Ada' } } });
    assert.equal(await world.stateOf(pr.number), 'TESTING');
    await world.stop();
  });

  it('has a fork tested only at a head that could have been seen [G56]', async () => {
    const world = await PageWorld.create();
    const pr = world.open({ isHeadUntrusted: true });
    await label(world, pr, true);
    assert.equal(await world.stateOf(pr.number), undefined);
    assert.match(world.pages.textsOn(pr.number)[0] ?? '', /comes from a fork/);
    await world.pass(1_000);
    await label(world, pr, true);
    assert.notEqual(await world.stateOf(pr.number), undefined);
    await world.stop();
  });

  it('has no fork tested at a head that was pushed after it was put on, also where our clock is behind [G83]', async () => {
    const world = await PageWorld.create();
    const pr = world.open({ isHeadUntrusted: true });
    const given = { id: 'LE_once', at: world.now + 60_000 };
    world.pages.failing.add('comment');
    await assert.rejects(label(world, pr, true, given));
    world.pages.failing.clear();
    await label(world, pr, true, given);
    assert.equal(await world.stateOf(pr.number), undefined);
    await label(world, pr, true, { at: given.at + 1_000 });
    assert.notEqual(await world.stateOf(pr.number), undefined);
    await world.stop();
  });

  it('is answered each time that it is put on in vain, also twice within a second [G51] [G57]', async () => {
    const world = await PageWorld.create();
    const pr = world.open();
    const given = { at: world.now, permission: 'read' as const };
    await label(world, pr, true, given);
    await label(world, pr, true, { ...given, by: { ...ADA, login: 'eve' } });
    assert.deepEqual(
      world.pages.textsOn(pr.number).map((text) => /ada|eve/.exec(text)?.[0]),
      ['ada', 'eve'],
    );
    await world.stop();
  });
});
