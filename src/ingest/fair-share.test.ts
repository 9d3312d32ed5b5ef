import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OrganizationId } from '../storage/accounts.ts';
import type { RepositoryId } from '../storage/repositories.ts';
import { type Contender, FairShare } from './upload-turns.ts';

/** `a1` is repository 1 of organization a. */
function contender(name: string): Contender {
  return { organizationId: name[0] as OrganizationId, repositoryId: name as RepositoryId };
}

/** Plays one turn per length, and returns who got each. */
function turnsOf(share: FairShare, names: readonly string[], lengths: readonly number[]): string {
  const contenders = names.map(contender);
  return lengths
    .map((ms) => {
      const chosen = share.choose(contenders) as Contender;
      share.charge(chosen, ms);
      return chosen.repositoryId;
    })
    .join(' ');
}

describe('turns of repositories [U41]', () => {
  it('goes round, the first of equals first', () => {
    assert.equal(turnsOf(new FairShare(), ['a1', 'b1', 'c1'], [9, 9, 9, 9, 9]), 'a1 b1 c1 a1 b1');
  });

  it('is that of the organization that had the least time, however many repositories another has', () => {
    const names = ['a1', 'a2', 'a3', 'b1'];
    assert.equal(turnsOf(new FairShare(), names, [9, 9, 9, 9, 9, 9]), 'a1 b1 a2 b1 a3 b1');
    assert.equal(turnsOf(new FairShare(), names, [100, 10, 10, 10]), 'a1 b1 b1 b1');
  });

  it('comes at once to one that was not there, and to nobody for what it did not use', () => {
    const share = new FairShare();
    turnsOf(
      share,
      ['a1', 'b1'],
      Array.from({ length: 20 }, () => 50),
    );
    assert.equal(turnsOf(share, ['a1', 'b1', 'c1'], [50, 50, 50, 50, 50]), 'c1 a1 b1 c1 a1');
  });

  it('is nobody’s where nobody waits', () => {
    assert.equal(new FairShare().choose([]), undefined);
  });
});
