import { describe, it } from 'node:test';
import { play } from './scenario.ts';

describe('when a queue wants to be woken', () => {
  it('is never, without entries or with entries that wait for nothing but answers', () => {
    play({}, 'wake never');
    play({ testingTimeoutMinutes: 0 }, 'submit A B\nwake never\nfail A+B\nwake never');
    play({}, 'submit A unready\nwake never');
  });

  it('is the first testing timeout of those under test [V1]', () => {
    play({}, 'submit A\nwake 5h\nwait 1h\nsubmit B\nwake 4h\npass A\nwake 5h\npass B\nwake never');
  });

  it('is when nothing was heard of CI for ten minutes, once, where people are told [E17]', () => {
    const told = play({}, '');
    told.queue = { ...told.queue, hasPages: true };
    told.play('submit A\nwake 10m\nwait 10m\nwake 290m\nwait 1m\nsubmit B\nwake 10m\nfail A+B by=other\nwake 10m');
    told.play('pass A\nwake 10m\nwait 10m\nwake 10m');
  });

  it('is not the timeout of one that is only built, passed or failed [V1]', () => {
    play({}, 'hold builds\nsubmit A\nwake never\nrelease builds\nwake 5h');
    play({}, 'submit A B\nwait 1h\nrestart A\nfail A+B\nwake 5h\npause\npass A\nwake never');
  });

  it('is the end of a hold [V6]', () => {
    play(
      { pendingFailureDepth: 1 },
      'submit A B\nfail A\nwake 1h\nwait 20m\nwake 40m\npass A+B\nstates A=failed\nwake 5h',
    );
    play({ pendingFailureDepth: 1, testingTimeoutMinutes: 30 }, 'submit A B\nwait 5m\nfail A\nrestart B\nwake 30m');
  });

  it('is not the end of a hold that is over while something ahead is still open [V6] [V4]', () => {
    play({ pendingFailureDepth: 1 }, 'submit A B\nfail A+B\nwake 1h\nwait 2h\nstates A=testing B=held\nwake 3h');
  });

  it('is the end of a batch’s wait, of the one that ends first [B1]', () => {
    play(
      { batch: true, batchingMinSize: 4, mode: 'PARALLEL' },
      'submit A[x]\nwait 2m\nsubmit B[y]\nwake 3m\nsubmit C[x]\nwake 3m\nwait 3m\ntesting AC\nwake 2m\nwait 2m\ntesting AC B\nwake 298m',
    );
  });

  it('is not a batch’s wait in a queue that starts nothing [B1] [L5]', () => {
    play({ batch: true }, 'submit A\nwake 5m\npause\nwake never\ndrain\nstates A=testing\nwake 5h');
  });

  it('is not a wait while no slot is free, and not one that is over [B1] [C3]', () => {
    play(
      { batch: true, batchingMinSize: 2, concurrency: 1, testingTimeoutMinutes: 0 },
      'submit A B\nsubmit C\nwake never\nwait 5m\nstates C=pending\nwake never\npass AB\ntesting C',
    );
  });

  it('is the end of the time of the oldest that is not ready [O4]', () => {
    play(
      { notReadyTimeoutHours: 3 },
      'submit A unready\nwake 3h\nwait 1h\nsubmit B unready\nwake 2h\ncancel A\nwake 3h\nready B\nwake 5h',
    );
  });

  it('is never in a queue that is parked [I2]', () => {
    const told = play({}, 'submit A\nwake 5h');
    told.queue = { ...told.queue, parked: { reason: 'a promise', since: told.now } };
    told.play('wake never');
  });

  it('is the timeout of runs of searches and of the head too [V1] [V10]', () => {
    play(
      { batch: true, batchingMinSize: 2, testingTimeoutMinutes: 60 },
      'submit A B\nwait 10m\nfail AB\nwake 1h\nwait 30m\nwake 30m\nwait 30m\nstates A=failed B=testing\ntesting ~B',
    );
    play({ testingTimeoutMinutes: 60 }, 'submit A B\nfail A\nfail B\ntesting HEAD\nwake 1h\nwait 1h\nalarm RED_TARGET');
  });
});
