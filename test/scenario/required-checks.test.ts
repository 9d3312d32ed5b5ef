import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play } from './scenario.ts';

describe('a candidate that cannot be built or shown to CI', () => {
  for (const reason of [
    'START_TEST_RUN_RETRY_EXHAUSTED',
    'START_TEST_RUN_DRAFT_PRS_NOT_ALLOWED',
    'START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH',
    'START_TEST_RUN_INVALID_EVENT',
  ]) {
    it(`fails its entries at once with ${reason} [C8]`, () => {
      play(
        {},
        `
        hold builds
        submit A B
        unbuildable A ${reason}
        states A=failed B=testing
        why A=${reason}
        path A waiting pending testing failed
        trail B PREREQUISITE_MERGE_ITEM_FAILED TEST_RUN_STARTED
        release builds
        testing B
        runs B
        `,
      );
    });
  }

  it('fails all entries of a batch [C8]', () => {
    play(
      { batch: true, batchingMinSize: 2 },
      'hold builds\nsubmit A B\nunbuildable AB START_TEST_RUN_INVALID_EVENT\nstates AB=failed\ncandidates',
    );
  });

  it('fails also when CI refuses the commit later, while others ahead are open [C8]', () => {
    play(
      {},
      'submit A B\nunbuildable A+B START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH\nstates A=testing B=failed\ntesting A',
    );
  });
});

describe('which checks are required', () => {
  it('takes the queue’s own setting before everything else [C7]', () => {
    play(
      { requiredStatuses: ['own'] },
      'sources file=file protection=ci\nsubmit A\npass A by=ci\npass A by=file\nstates A=testing\npass A by=own\nstates A=merged',
    );
  });

  it('takes the configuration file before the protection, and never both [C7]', () => {
    play(
      {},
      'sources file=file protection=ci\nsubmit A\npass A by=ci\nstates A=testing\npass A by=file\nstates A=merged',
    );
  });

  it('takes the protection where nothing else says anything [C7]', () => {
    play({}, 'sources protection=ci,lint\nsubmit A\npass A by=ci\nstates A=testing\npass A by=lint\nstates A=merged');
  });

  it('keeps them as they were when the commit was built [C7]', () => {
    play({}, 'submit A\nset requiredStatuses=["ci","late"]\npass A by=ci\nstates A=merged');
  });

  it('does not wait for a check that is not required any more [C7]', () => {
    play({}, 'submit A\npass A by=new\nstates A=testing\nset requiredStatuses=["new"]\nstates A=merged');
    play({}, 'submit A\nset requiredStatuses=["new"]\nstates A=testing\npass A by=new\nstates A=merged');
    play({}, 'submit A\nset requiredStatuses=[]\nstates A=merged');
  });

  it('reads again what is required when CI is done and a required check was not heard of [C7]', () => {
    play(
      {},
      `
      submit A
      wake 5h
      pass A by=new
      wake 10m
      sources protection=new
      wait 10m
      states A=merged
      `,
    );
    play({}, 'submit A\npass A by=other\nwait 10m\nwake 10m\nstates A=testing\nreport A RUNNING by=more\nwake 290m');
  });

  it('keeps what it has where what is required cannot be read any more [C7]', () => {
    play({}, 'submit A\npass A by=other\nsources\nwait 10m\nstates A=testing\npass A\nstates A=merged');
  });

  it('fails where there are none at all [C7] [C8]', () => {
    play(
      {},
      'sources\nsubmit A\nstates A=failed\nwhy A=START_TEST_RUN_NO_REQUIRED_STATUSES\npath A waiting pending testing failed\nruns',
    );
  });

  it('passes once built where the list is empty, in the setting or in the file [C7]', () => {
    const told = play({ requiredStatuses: [] }, 'submit A B\nstates AB=merged\ntarget M+A+B\nruns');
    assert.equal(told.endedCandidates.get(1)?.pass?.by, 'nothing_required');
    play({}, 'sources file= protection=ci\nsubmit A\nstates A=merged\nruns');
  });

  for (const problem of [
    'START_TEST_RUN_CONFIG_PARSING_FAILURE',
    'START_TEST_RUN_CONFIG_BAD_VERSION',
    'START_TEST_RUN_CONFIG_BAD_REQUIRED_STATUSES',
  ]) {
    it(`fails with ${problem} where the file cannot be used, unless the queue has its own setting [C7] [C8]`, () => {
      play({}, `sources problem=${problem} protection=ci\nsubmit A\nstates A=failed\nwhy A=${problem}`);
      play({ requiredStatuses: ['ci'] }, `sources problem=${problem}\nsubmit A\nstates A=testing`);
    });
  }
});

describe('checks that only one app may report', () => {
  it('ignore what anybody else reports under their names [G65]', () => {
    play(
      { requiredStatuses: ['lint', { name: 'unit', app: 'actions' }] },
      'submit A\npass A by=lint\npass A by=unit\npass A by=unit@forger\nstates A=testing\npass A by=unit@actions\nstates A=merged',
    );
  });

  it('are not failed by anybody else either [G65]', () => {
    play(
      { requiredStatuses: [{ name: 'unit', app: 'actions' }] },
      'submit A\nfail A by=unit\nfail A by=unit@forger\nstates A=testing\nfail A by=unit@actions\nstates A=failed',
    );
  });

  it('say why a report was ignored [G65]', () => {
    const told = play({ requiredStatuses: [{ name: 'unit', app: 'actions' }] }, 'submit A\npass A by=unit@forger');
    assert.deepEqual(told.last?.outcome, {
      kind: 'ignored',
      detail: 'unit counts only when the app actions reports it, and this came from forger.',
    });
  });

  it('may come from the file and from the protection [G65]', () => {
    play(
      {},
      'sources file=unit@actions\nsubmit A\npass A by=unit\nstates A=testing\npass A by=unit@actions\nstates A=merged',
    );
    play(
      {},
      'sources protection=unit@actions,lint\nsubmit A\npass A by=lint@any\npass A by=unit\nstates A=testing\npass A by=unit@actions\nstates A=merged',
    );
  });

  it('are proven on the head by that app before a direct merge [G65]', () => {
    const settings = { directMergeMode: 'ALWAYS', requiredStatuses: [{ name: 'ci', app: 'actions' }] } as const;
    play(settings, 'submit A uptodate passed=ci\nstates A=testing\nruns A');
    play(settings, 'submit A uptodate passed=ci@forger\nstates A=testing\nruns A');
    play(settings, 'submit A uptodate passed=ci@actions\nstates A=merged\nruns');
  });
});
