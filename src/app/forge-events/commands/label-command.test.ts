import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ADA } from '../../../../test/fake/pull-request-pages.ts';
import { madeForEach } from '../../../../test/helpers/made.ts';
import { PageWorld } from '../../../../test/worlds/shell/page-world.ts';
import type { PullRequestFacts } from '../../../engine/model/pull-request.ts';
import type { LabelChanged, Retarget } from '../../../forge/hosting.ts';
import { runLabelCommand } from './label-command.ts';

const LABEL = 'trunk-merge-queue-submit';
let changes = 0;

const world = madeForEach(() => PageWorld.create());

interface Given extends Partial<LabelChanged> {
  readonly label?: string;
  readonly retarget?: Retarget;
}

/** The label is added or removed, and the webhook arrives. */
async function label(pr: PullRequestFacts, isPresent: boolean, given: Given = {}): Promise<string> {
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
  return hear(pr, name);
}

async function hear({ number }: PullRequestFacts, name = LABEL): Promise<string> {
  return runLabelCommand(world.app, { repository: await world.repository() }, { number, label: name });
}

describe('the enqueueing label', () => {
  it('submits, is taken off at the end, and that cancels nothing [G140] [G57]', async () => {
    const pr = world.open();
    assert.equal(await label(pr, true), 'done');
    await world.pagesUpdated();
    assert.equal(await world.stateOf(pr.number), 'TESTING');
    assert.deepEqual([...world.pages.labels], [LABEL]);
    await world.report(1, 'ci', 'FAILURE');
    await world.pagesUpdated();
    assert.equal(await world.stateOf(pr.number), 'FAILED');
    assert.deepEqual([...world.pages.labels], []);
    const own = { login: 'sluice[bot]', isBot: true, isOwn: true };
    await label(pr, false, { by: own });
    assert.equal(await world.stateOf(pr.number), 'FAILED');
    await world.pass(1_000);
    await label(pr, true);
    assert.notEqual(await world.stateOf(pr.number), 'FAILED');
  });

  it('counts when it is put on again within the second in which it was taken off [G57]', async () => {
    const pr = world.open();
    const own = { login: 'sluice[bot]', isBot: true, isOwn: true };
    await label(pr, true);
    await world.pagesUpdated();
    await world.report(1, 'ci', 'FAILURE');
    await world.pagesUpdated();
    const at = world.now;
    await label(pr, false, { at, by: own });
    await label(pr, true, { at, id: 'LE_again' });
    assert.equal(await world.stateOf(pr.number), 'TESTING');
    // An outdated answer is ignored, also when it arrives late.
    await world.cancel(pr.number);
    await label(pr, true, { at, id: 'LE_again' });
    assert.equal(await world.stateOf(pr.number), 'CANCELLED');
  });

  it('is taken off at the end also where it was put on again while that was done before [G140]', async () => {
    await world.update({ commentsEnabled: false, statusCheckEnabled: false });
    const pr = world.open();
    await label(pr, true);
    await world.pagesUpdated();
    world.pages.turn = async () => {
      world.pages.turn = undefined;
      await label(pr, true);
    };
    await world.report(1, 'ci', 'FAILURE');
    await world.pagesUpdated();
    assert.equal(await world.stateOf(pr.number), 'TESTING');
    world.pages.labels.add(LABEL);
    await world.report(2, 'ci', 'FAILURE');
    await world.pagesUpdated();
    assert.equal(await world.stateOf(pr.number), 'FAILED');
    assert.deepEqual([...world.pages.labels], []);
  });

  it('cancels when a person takes it off [G57]', async () => {
    const pr = world.open();
    await label(pr, true);
    await world.pass(1_000);
    await label(pr, false, { permission: 'triage' });
    assert.equal(await world.stateOf(pr.number), 'CANCELLED');
  });

  it('counts once for each change, however often it is heard of [G57]', async () => {
    const pr = world.open();
    await label(pr, true);
    await world.cancel(pr.number);
    await hear(pr);
    assert.equal(await world.stateOf(pr.number), 'CANCELLED');
  });

  it('means nothing on drafts and closed ones, from bots, and from those who may not write [G54] [G57]', async () => {
    const pr = world.open();
    const bot = { login: 'other[bot]', isBot: true, isOwn: false };
    await label({ ...pr, status: 'draft' }, true);
    await world.pass(1);
    await label({ ...pr, status: 'closed' }, true);
    await world.pass(1);
    await label(pr, true, { by: bot });
    assert.equal(world.pages.comments.size, 0);
    await world.pass(1);
    await label(pr, true, { permission: 'triage' });
    assert.equal(await world.stateOf(pr.number), undefined);
    assert.match(world.pages.textsOn(pr.number)[0] ?? '', /`ada` has no write access/);
  });

  it('counts from the person whose token we have when it is put on: taking it off is ours [G55]', async () => {
    const pr = world.open();
    const by = { login: 'ada', isBot: false, isOwn: true };
    await label(pr, true, { by });
    assert.notEqual(await world.stateOf(pr.number), undefined);
    await world.pass(1_000);
    await label(pr, false, { by });
    assert.notEqual(await world.stateOf(pr.number), 'CANCELLED');
  });

  it('counts from a bot that the queue names, which has no permission of its own [G137]', async () => {
    await world.update({ allowedBotSubmitters: ['renovate'] });
    const pr = world.open();
    await label(pr, true, { by: { login: 'renovate[bot]', isBot: true, isOwn: false }, permission: 'none' });
    assert.notEqual(await world.stateOf(pr.number), undefined);
  });

  it('asks the forge nothing about other labels, or where it is switched off [G47] [G57]', async () => {
    const pr = world.open();
    world.pages.label = undefined;
    assert.equal(await hear(pr, 'bug'), 'done');
    await world.update({ labelCommandsEnabled: false });
    await label(pr, true);
    assert.equal(await world.stateOf(pr.number), undefined);
  });

  it('counts for the base it was put on for, until somebody puts it on again [G81]', async () => {
    const pr = world.open();
    const eve = { login: 'eve', isBot: false, isOwn: false };
    for (const by of [eve, undefined]) {
      await world.pass(1_000);
      await label(pr, true, { retarget: { at: world.now, by } });
      assert.equal(await world.stateOf(pr.number), undefined);
    }
    assert.match(world.pages.textsOn(pr.number)[0] ?? '', /targeted another branch.+`main`/);
    const retarget = { at: world.now, by: eve };
    await world.pass(1_000);
    await label(pr, true, { retarget });
    assert.equal(await world.stateOf(pr.number), 'TESTING');
    await world.pass(1_000);
    await label(pr, false, { retarget: { at: world.now, by: eve } });
    assert.equal(await world.stateOf(pr.number), 'CANCELLED');
  });

  it('counts if the person who added it chose the base too [G81]', async () => {
    const pr = world.open();
    await label(pr, true, { retarget: { at: world.now + 5_000, by: { ...ADA, login: 'Ada' } } });
    assert.equal(await world.stateOf(pr.number), 'TESTING');
  });

  it('has a fork tested only at a head that could have been seen [G56]', async () => {
    const pr = world.open({ isHeadUntrusted: true });
    await label(pr, true);
    assert.equal(await world.stateOf(pr.number), undefined);
    assert.match(world.pages.textsOn(pr.number)[0] ?? '', /comes from a fork/);
    await world.pass(1_000);
    await label(pr, true);
    assert.notEqual(await world.stateOf(pr.number), undefined);
  });

  it('has no fork tested at a head that was pushed after it was put on, also where our clock is behind [G83]', async () => {
    const pr = world.open({ isHeadUntrusted: true });
    const given = { id: 'LE_once', at: world.now + 60_000 };
    world.pages.failing.add('comment');
    await assert.rejects(label(pr, true, given));
    world.pages.failing.clear();
    await label(pr, true, given);
    assert.equal(await world.stateOf(pr.number), undefined);
    await label(pr, true, { at: given.at + 1_000 });
    assert.notEqual(await world.stateOf(pr.number), undefined);
  });

  it('is answered each time that it is put on in vain, also twice within a second [G51] [G57]', async () => {
    const pr = world.open();
    const given = { at: world.now, permission: 'read' as const };
    await label(pr, true, given);
    await label(pr, true, { ...given, by: { ...ADA, login: 'eve' } });
    assert.deepEqual(
      world.pages.textsOn(pr.number).map((text) => /ada|eve/.exec(text)?.[0]),
      ['ada', 'eve'],
    );
  });
});
