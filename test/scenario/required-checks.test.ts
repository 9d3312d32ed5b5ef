import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play, story } from '../worlds/engine/story.ts';

describe('a candidate that cannot be built or shown to CI', () => {
  for (const reason of [
    'START_TEST_RUN_RETRY_EXHAUSTED',
    'START_TEST_RUN_DRAFT_PRS_NOT_ALLOWED',
    'START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH',
    'START_TEST_RUN_INVALID_EVENT',
  ]) {
    story(`fails its entries at once with ${reason} [C8]`)`
      hold builds; submit A B; unbuildable A ${reason} → A=failed B=testing; why A=${reason}
                     → path A waiting pending testing failed
                     → trail B PREREQUISITE_MERGE_ITEM_FAILED TEST_RUN_STARTED
      release builds → testing B; runs B
    `;
  }

  story('fails all entries of a batch [C8]')`
    with batch=true batchingMinSize=2
    hold builds; submit A B
    unbuildable AB START_TEST_RUN_INVALID_EVENT → AB=failed; candidates nothing
  `;

  story('fails also when CI refuses the commit later, while others ahead are open [C8]')`
    submit A B
    unbuildable A+B START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH → A=testing B=failed; testing A
  `;
});

describe('which checks are required', () => {
  story('takes the queue’s own setting before everything else [C7]')`
    with requiredStatuses=["own"]
    sources file=file protection=ci; submit A; pass A by=ci
    pass A by=file → A=testing
    pass A by=own  → A=merged
  `;

  story('takes the configuration file before the protection, and never both [C7]')`
    sources file=file protection=ci; submit A; pass A by=ci → A=testing
    pass A by=file → A=merged
  `;

  story('takes the protection where nothing else says anything [C7]')`
    sources protection=ci,lint; submit A; pass A by=ci → A=testing
    pass A by=lint → A=merged
  `;

  story('keeps them as they were when the commit was built [C28]')`
    submit A; set requiredStatuses=["ci","late"]; pass A by=ci → A=merged
  `;

  it('does not wait for a check that is not required any more [C28] [C29]', () => {
    play()`
      submit A; pass A by=new      → A=testing
      set requiredStatuses=["new"] → A=merged
    `;
    play()`
      submit A; set requiredStatuses=["new"] → A=testing
      pass A by=new                          → A=merged
    `;
    play()`submit A; set requiredStatuses=[] → A=merged`;
  });

  it('blames nobody for a check that is not required any more [C28]', () => {
    play()`
      submit A B; fail A+B        → A=testing B=held
      set requiredStatuses=[]     → AB=merged
    `;
    play()`
      submit A B; fail A+B; pass A+B by=new → A=testing B=held
      set requiredStatuses=["new"]          → A=testing B=passed
      pass A by=new                         → AB=merged
    `;
    play()`
      submit A B; fail A+B                   → A=testing B=held
      set requiredStatuses=["ci","new"]      → A=testing B=held
      pass A by=ci                           → A=merged B=failed
    `;
  });

  it('reads again what is required when CI is done and a required check was not heard of [C29]', () => {
    play()`
      submit A                         → wake 5h
      pass A by=new                    → wake 10m
      sources protection=new; wait 10m → A=merged
    `;
    play()`
      submit A; pass A by=other; wait 10m → wake 10m; A=testing
      report A RUNNING by=more            → wake 290m
    `;
  });

  story('keeps what it has where what is required cannot be read any more [C28]')`
    submit A; pass A by=other; sources; wait 10m → A=testing
    pass A → A=merged
  `;

  story('fails where there are none at all [C30] [C8]')`
    sources; submit A → A=failed; why A=START_TEST_RUN_NO_REQUIRED_STATUSES
                      → path A waiting pending testing failed; runs nothing
  `;

  it('passes once built where the list is empty, in the setting or in the file [C30]', () => {
    const told = play()`with requiredStatuses=[]; submit A B → AB=merged; target M+A+B; runs nothing`;
    assert.equal(told.endedCandidates.get(1)?.pass?.by, 'nothing_required');
    play()`sources file= protection=ci; submit A → A=merged; runs nothing`;
  });

  for (const problem of [
    'START_TEST_RUN_CONFIG_PARSING_FAILURE',
    'START_TEST_RUN_CONFIG_BAD_VERSION',
    'START_TEST_RUN_CONFIG_BAD_REQUIRED_STATUSES',
  ]) {
    it(`fails with ${problem} where the file cannot be used, unless the queue has its own setting [C7] [C8]`, () => {
      play()`sources problem=${problem} protection=ci; submit A → A=failed; why A=${problem}`;
      play()`with requiredStatuses=["ci"]; sources problem=${problem}; submit A → A=testing`;
    });
  }
});

describe('checks at a forge where every account can report them', () => {
  story('are bound to the account whose word let the last one land [G171]')`
    sources protection=ci pinned; submit A; pass A by=ci@bot → A=merged
    submit B; pass B by=ci@stranger                           → B=testing
    fail B by=ci@stranger                                     → B=testing
    pass B by=ci@bot                                          → B=merged
  `;

  story('are bound by name or free only if the settings say so [G171]')`
    sources pinned; set requiredStatuses=["ci"]; submit A; pass A by=ci@bot → A=merged
    set requiredStatuses=[{"name":"ci","app":"other"}]; submit B; pass B by=ci@bot → B=testing
    pass B by=ci@other → B=merged
    set requiredStatuses=[{"name":"ci","app":"*"}]; submit C; pass C by=ci@anybody → C=merged
  `;

  story('are bound by nobody where the forge vouches for reporters [G171]')`
    sources protection=ci; submit A; pass A by=ci@bot → A=merged
    submit B; pass B by=ci@other                       → B=merged
  `;
});

describe('checks that only one app may report', () => {
  story('ignore what anybody else reports under their names [G125]', {
    requiredStatuses: ['lint', { name: 'unit', app: 'actions' }],
  })`
    submit A; pass A by=lint; pass A by=unit; pass A by=unit@forger → A=testing
    pass A by=unit@actions → A=merged
  `;

  story('are not failed by anybody else either [G125]', { requiredStatuses: [{ name: 'unit', app: 'actions' }] })`
    submit A; fail A by=unit; fail A by=unit@forger → A=testing
    fail A by=unit@actions → A=failed
  `;

  it('say why a report was ignored [G125]', () => {
    const told = play({ requiredStatuses: [{ name: 'unit', app: 'actions' }] })`submit A; pass A by=unit@forger`;
    assert.deepEqual(told.last?.outcome, {
      kind: 'ignored',
      detail: 'unit counts only when the app actions reports it, and this came from forger.',
    });
  });

  it('may come from the file and from the protection [G65]', () => {
    play()`
      sources file=unit@actions; submit A; pass A by=unit → A=testing
      pass A by=unit@actions → A=merged
    `;
    play()`
      sources protection=unit@actions,lint; submit A
      pass A by=lint@any; pass A by=unit → A=testing
      pass A by=unit@actions             → A=merged
    `;
  });

  it('are proven on the head by that app before a direct merge [G125]', () => {
    const settings = { directMergeMode: 'ALWAYS', requiredStatuses: [{ name: 'ci', app: 'actions' }] } as const;
    play(settings)`submit A uptodate passed=ci → A=testing; runs A`;
    play(settings)`submit A uptodate passed=ci@forger → A=testing; runs A`;
    play(settings)`submit A uptodate passed=ci@actions → A=merged; runs nothing`;
  });
});
