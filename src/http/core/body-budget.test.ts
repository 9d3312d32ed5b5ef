import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BodyBudget, type HeldBody, STRANGER } from './body-budget.ts';

const MIB = 1024 * 1024;

class Place {
  readonly budget = new BodyBudget();
  readonly resumed: string[] = [];

  body(owner: string, name = owner): HeldBody {
    return this.budget.hold(owner, () => this.resumed.push(name));
  }

  /** Bodies that fill the shared memory. */
  fill(owner: string): readonly HeldBody[] {
    const bodies = [this.body(owner), this.body(owner)];
    for (const body of bodies) assert.equal(body.add(12 * MIB), 'go_on');
    return bodies;
  }
}

describe('the memory for bodies', () => {
  it('lets one more go on where it is full, and no other until that one is answered [H14]', () => {
    const place = new Place();
    place.fill('a');
    const [ahead, next] = [place.body('a', 'ahead'), place.body('a', 'next')];
    for (let sent = 0; sent < 20; sent += 1) assert.equal(ahead.add(MIB), 'go_on');
    assert.equal(next.add(MIB), 'wait');
    ahead.release();
    assert.deepEqual(place.resumed, ['next']);
    assert.equal(next.add(19 * MIB), 'go_on');
  });

  it('goes first to the owner that holds least, and among equals to the first [H14]', () => {
    const place = new Place();
    place.fill('greedy');
    const ahead = place.body('greedy');
    ahead.add(MIB);
    const waiting = [place.body('greedy', 'greedy'), place.body('b', 'b'), place.body('c', 'c')];
    for (const body of waiting) assert.equal(body.add(MIB), 'wait');
    ahead.release();
    assert.deepEqual(place.resumed, ['b']);
    waiting[1]?.release();
    assert.deepEqual(place.resumed, ['b', 'c']);
    waiting[2]?.release();
    assert.deepEqual(place.resumed, ['b', 'c', 'greedy']);
  });

  it('is open to every owner again when there is room [H14]', () => {
    const place = new Place();
    const held = place.fill('a');
    const ahead = place.body('a');
    ahead.add(MIB);
    for (const name of ['x', 'y']) assert.equal(place.body(name).add(MIB), 'wait');
    for (const body of held) body.release();
    assert.deepEqual(place.resumed, ['x', 'y']);
  });

  it('is never waited for by small bodies [H14]', () => {
    const place = new Place();
    place.fill('a');
    place.body('a').add(MIB);
    for (let count = 0; count < 1_000; count += 1) assert.equal(place.body(`t${count}`).add(16 * 1024), 'go_on');
  });

  it('is waited for by 256, and the next one is sent away [H31]', () => {
    const place = new Place();
    place.fill('a');
    place.body('a').add(MIB);
    const waiting = Array.from({ length: 256 }, () => place.body('b'));
    for (const body of waiting) assert.equal(body.add(17 * 1024), 'wait');
    assert.equal(place.body('c').add(17 * 1024), 'give_up');
    waiting[0]?.release();
    assert.equal(place.body('c').add(17 * 1024), 'wait');
  });

  it('is filled by strangers in part only, who are sent away at once, and leave room for small deliveries [H32]', () => {
    const place = new Place();
    assert.equal(place.body(STRANGER).add(20 * MIB), 'go_on');
    assert.equal(place.body(STRANGER).add(20 * MIB), 'give_up');
    const place2 = new Place();
    for (let held = 0; held < 21; held += 1) assert.equal(place2.body(STRANGER).add(MIB), 'go_on');
    const large = place2.body(STRANGER);
    assert.equal(large.add(MIB), 'give_up');
    large.release();
    assert.equal(place2.body(STRANGER).add(200 * 1024), 'go_on');
    assert.equal(place2.body('a').add(2 * MIB), 'go_on');
    assert.equal(place2.body('a').add(20 * MIB), 'go_on');
    assert.equal(place2.body(STRANGER).add(200 * 1024), 'give_up');
  });

  it('is free again after a body ends in any way, also when it is released twice [H14]', () => {
    const place = new Place();
    const held = [...place.fill('a'), place.body('b')];
    held[2]?.add(MIB);
    for (const body of [...held, ...held]) body.release();
    place.fill('a');
    assert.equal(place.body('b').add(MIB), 'go_on');
    assert.equal(place.body('c').add(MIB), 'wait');
  });
});
