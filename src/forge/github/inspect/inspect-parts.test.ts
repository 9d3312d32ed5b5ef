import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pluck } from '../../../../test/helpers/pluck.ts';
import type { InspectedQueue } from '../../hosting.ts';
import { PERMISSIONS } from '../api/app-needs.ts';
import { type CheckFacts, inspectChecks } from './checks.ts';
import { inspectPermissions } from './permissions.ts';
import { type BranchRules, inspectTarget, inspectTestBranches, type Ruleset } from './rules.ts';
import { isIncluded, isNameOf, parseWorkflow, runsOn } from './workflow.ts';

const BRANCH = 'sluice/pr-1/00000000-0000-0000-0000-000000000000';
const QUEUE: InspectedQueue = {
  mergeMethod: 'SQUASH',
  landingMode: 'API',
  requiredStatuses: null,
  createPrsForTestingBranches: false,
};
const OURS: Ruleset = {
  id: 1,
  name: 'guard',
  current_user_can_bypass: 'always',
  bypass_actors: [{ actor_type: 'Integration' }],
};

function rules(given: Partial<BranchRules> = {}, rulesets: readonly Ruleset[] = [OURS]): BranchRules {
  return {
    branch: 'main',
    protection: undefined,
    rules: [{ type: 'update', ruleset_id: 1 }],
    rulesets: new Map(rulesets.map((each) => [each.id, each])),
    login: 'sluice',
    isApp: true,
    appId: 7,
    way: 'merge',
    ...given,
  };
}

function codes(of: BranchRules, queue: InspectedQueue = QUEUE, methods = {}): string[] {
  return inspectTarget(of, methods, queue).map(({ level, code }) => `${level} ${code}`);
}

describe('filters of branches in workflows', () => {
  for (const [patterns, isIn] of [
    [['sluice/**'], true],
    [['**'], true],
    [['*/**'], true],
    [['*'], false],
    [['sluice/*'], false],
    [['sluice/*/*'], true],
    [['sluice/pr-1/[0-9a-f]+-**'], true],
    [['main', 'sluice?/**'], true],
    [['**', '!sluice/**'], false],
    [['!sluice/**', '**'], true],
    [['!main'], false],
    [['sluice'], false],
    [[`${'**a'.repeat(80)}`], false],
  ] as const) {
    it(`${JSON.stringify(patterns).slice(0, 40)} ${isIn ? 'lets a test branch in' : 'keeps it out'} [G96]`, () => {
      assert.equal(isIncluded(patterns, BRANCH), isIn);
    });
  }
});

describe('workflows', () => {
  for (const [text, runs] of [
    ['on: push', true],
    ['on: [pull_request, push]', true],
    ['on: {push: }', true],
    ['on: {push: {branches: [main, "sluice/**"]}}', true],
    ['on: {push: {branches: main}}', false],
    ['on: {push: {branches-ignore: ["sluice/**"]}}', false],
    ['on: {push: {branches-ignore: [gh-pages]}}', true],
    ['on: {push: {tags: ["v*"]}}', false],
    ['on: pull_request', false],
    ['"on": {merge_group: }', false],
  ] as const) {
    it(`workflows with "${text}" ${runs ? 'run' : 'do not run'} on test branches [G96]`, () => {
      assert.equal(runsOn(parseWorkflow('ci.yml', text)?.push, BRANCH), runs);
    });
  }

  it('workflows that are written to be slow delay no other request [G96]', () => {
    const filter = `{branches: [${`'${'*'.repeat(990)}', `.repeat(200)}]}`;
    const jobs = `{x: {name: '${'$'.concat('{{').repeat(60_000)}'}}`;
    const keys = Array.from({ length: 20_000 }, (_, index) => `k${index}: v`).join('\n');
    const before = process.cpuUsage();
    for (const text of [`on: {push: ${filter}}`, `jobs: ${jobs}`, keys]) {
      const workflow = parseWorkflow('ci.yml', text);
      assert.ok(workflow !== undefined);
      assert.equal(runsOn(workflow.push, BRANCH), workflow.push !== undefined);
      assert.ok(!workflow.jobs.some((job) => isNameOf(job, 'unit')));
    }
    assert.ok(process.cpuUsage(before).user < 3_000_000);
  });

  it('workflows that cannot be parsed are passed over', () => {
    for (const text of ['', '- a', 'on: [', 'a: &a [*a]', '7']) {
      const workflow = parseWorkflow('x.yml', text);
      assert.equal(workflow?.jobs.length ?? 0, 0, text);
    }
  });
});

const WORKFLOW = `
on: {push: {branches: ["sluice/**"]}}
jobs:
  unit: {}
  lint: {name: Lint all}
  many: {strategy: {matrix: {node: [20, 22]}}}
  named: {name: "os \${{ matrix.os }} / x", strategy: {matrix: {os: [a]}}}
  called: {uses: ./.github/workflows/shared.yml}
`;

function checks(given: Partial<CheckFacts>): string[] {
  const workflow = parseWorkflow('.github/workflows/ci.yml', WORKFLOW);
  const facts: CheckFacts = {
    required: [],
    workflows: workflow === undefined ? [] : [workflow],
    seen: [],
    branch: 'main',
    testBranch: BRANCH,
    prefix: 'sluice',
    hasDraftPullRequests: false,
    ...given,
  };
  return inspectChecks(facts).map(({ level, code }) => `${level} ${code}`);
}

describe('required checks', () => {
  it('required checks are found among the jobs, also by computed names [G96]', () => {
    const required = ['unit', 'Lint all', 'many (20)', 'os linux / x', 'called / build'];
    assert.deepEqual(new Set(checks({ required })), new Set(['ok CHECK']));
    assert.deepEqual(checks({ required: ['lint', 'many 20', 'called'] }), Array(3).fill('error CHECK_UNKNOWN'));
  });

  it('required checks that do not run on test branches are told, unless draft pull requests run them [G96]', () => {
    const workflow = parseWorkflow('ci.yml', 'on: pull_request\njobs: {unit: {}}');
    const workflows = workflow === undefined ? [] : [workflow];
    assert.deepEqual(checks({ required: ['unit'], workflows }), ['error CHECK_NOT_ON_TEST_BRANCHES']);
    assert.deepEqual(checks({ required: ['unit'], workflows, hasDraftPullRequests: true }), ['ok CHECK']);
    const filtered = parseWorkflow('ci.yml', 'on: {push: {paths: [src]}}\njobs: {unit: {}}');
    assert.deepEqual(checks({ required: ['unit'], workflows: filtered === undefined ? [] : [filtered] }), [
      'warning CHECK_FILTERED_BY_PATH',
    ]);
  });

  it('checks of other CI are believed where they were seen, and of the right app [G96]', () => {
    const seen = [{ name: 'build', app: 'circle', appId: '7' }];
    assert.deepEqual(
      checks({ required: ['build', { name: 'build', app: '7' }], seen }),
      Array(2).fill('warning CHECK_FROM_ELSEWHERE'),
    );
    assert.deepEqual(checks({ required: [{ name: 'build', app: 'other' }], seen }), ['error CHECK_OF_ANOTHER_APP']);
    assert.deepEqual(checks({ required: [] }), ['error NO_REQUIRED_CHECKS']);
  });
});

describe('the rules of a target', () => {
  it('settings that stacks of pull requests feel are warnings [G178]', () => {
    const dismissing = ['ok TARGET_GUARDED', 'warning RETARGETING_DISMISSES_APPROVALS'];
    const protection = { required_pull_request_reviews: { dismiss_stale_reviews: true } };
    assert.deepEqual(codes(rules({ protection })), dismissing);
    const ruled = (isOn: boolean) => [
      { type: 'update', ruleset_id: 1 },
      { type: 'pull_request', ruleset_id: 1, parameters: { dismiss_stale_reviews_on_push: isOn } },
    ];
    assert.deepEqual(codes(rules({ rules: ruled(true) })), dismissing);
    assert.deepEqual(codes(rules({ rules: ruled(false) })), ['ok TARGET_GUARDED']);
    assert.deepEqual(codes(rules(), QUEUE, { delete_branch_on_merge: true }), [
      'ok TARGET_GUARDED',
      'warning BRANCHES_DELETED',
    ]);
  });

  it('a target that only Sluice may move is fine [G155]', () => {
    assert.deepEqual(codes(rules()), ['ok TARGET_GUARDED']);
  });

  it('rules are reported when others can go around the queue, or no one can land [G155] [G69]', () => {
    assert.deepEqual(codes(rules({ rules: [] })), ['warning TARGET_OPEN']);
    assert.deepEqual(codes(rules({}, [{ id: 1, name: 'guard', current_user_can_bypass: 'never' }])), [
      'error LANDING_RESTRICTED',
    ]);
    const many = { ...OURS, bypass_actors: [{ actor_type: 'Integration' }, { actor_type: 'OrganizationAdmin' }] };
    assert.deepEqual(codes(rules({}, [many])), ['warning OTHERS_MAY_MOVE_TARGET']);
  });

  it('rules may be bypassed for pull requests alone, where that is enough [G69]', () => {
    const listed = {
      id: 1,
      name: 'guard',
      bypass_actors: [{ actor_type: 'Integration', actor_id: 7, bypass_mode: 'pull_request' }],
    };
    assert.deepEqual(codes(rules({}, [listed])), ['ok TARGET_GUARDED']);
    assert.deepEqual(codes(rules({ way: 'push' }, [listed])), ['error LANDING_RESTRICTED']);
  });

  it('rules of classic protection count too [G69]', () => {
    const restrictions = { users: [{ login: 'ann' }], apps: [{ slug: 'sluice' }] };
    const protection = { restrictions, enforce_admins: { enabled: true } };
    assert.deepEqual(codes(rules({ rules: [], protection })), ['warning OTHERS_MAY_MOVE_TARGET']);
    const shut = { restrictions: { apps: [] }, enforce_admins: { enabled: true } };
    assert.deepEqual(codes(rules({ rules: [], protection: shut })), ['error LANDING_RESTRICTED']);
    const strict = { required_status_checks: { strict: true }, lock_branch: { enabled: true } };
    assert.deepEqual(codes(rules({ protection: strict })), [
      'ok TARGET_GUARDED',
      'error UP_TO_DATE_REQUIRED',
      'error TARGET_LOCKED',
    ]);
  });

  it('rules must let the way of landing through [G69]', () => {
    const reviewed = rules({
      rules: [
        { type: 'update', ruleset_id: 1 },
        { type: 'pull_request', ruleset_id: 2 },
      ],
    });
    assert.deepEqual(codes(reviewed), ['ok TARGET_GUARDED']);
    assert.deepEqual(codes(reviewed, { ...QUEUE, landingMode: 'PUSH' }), [
      'ok TARGET_GUARDED',
      'error PUSH_NOT_ALLOWED',
    ]);
    const queue = rules({
      rules: [
        { type: 'update', ruleset_id: 1 },
        { type: 'merge_queue', ruleset_id: 2 },
      ],
    });
    assert.deepEqual(codes(queue), ['ok TARGET_GUARDED', 'error GITHUB_MERGE_QUEUE']);
    const signed = rules({ protection: { required_signatures: { enabled: true } } });
    assert.deepEqual(codes(signed, { ...QUEUE, landingMode: 'PUSH' }), [
      'ok TARGET_GUARDED',
      'error SIGNATURES_REQUIRED',
    ]);
  });

  it('rules must allow the merge method [G69]', () => {
    assert.deepEqual(codes(rules(), QUEUE, { allow_squash_merge: false }), [
      'ok TARGET_GUARDED',
      'error MERGE_METHOD_NOT_ALLOWED',
    ]);
    const linear = rules({ protection: { required_linear_history: { enabled: true } } });
    assert.deepEqual(codes(linear, { ...QUEUE, mergeMethod: 'MERGE_COMMIT' }), [
      'ok TARGET_GUARDED',
      'error MERGE_METHOD_NOT_ALLOWED',
    ]);
    const parameters = { allowed_merge_methods: ['rebase'] };
    const ruled = rules({
      rules: [
        { type: 'update', ruleset_id: 1 },
        { type: 'pull_request', parameters },
      ],
    });
    assert.deepEqual(codes(ruled), ['ok TARGET_GUARDED', 'error MERGE_METHOD_NOT_ALLOWED']);
  });

  it('rules must not cover test branches [G69]', () => {
    const covered = inspectTestBranches(
      rules({
        rules: [
          { type: 'creation', ruleset_id: 2 },
          { type: 'update', ruleset_id: 2 },
        ],
      }),
      'sluice',
    );
    assert.deepEqual(pluck(covered, 'code'), ['TEST_BRANCHES_RESTRICTED']);
    assert.deepEqual(pluck(inspectTestBranches(rules(), 'sluice'), 'level'), ['ok']);
  });
});

describe('permissions of the app', () => {
  it('missing permissions are named, with their reasons [G69]', () => {
    const all = Object.fromEntries(Object.entries(PERMISSIONS).map(([name, { access }]) => [name, access]));
    assert.deepEqual(pluck(inspectPermissions(all), 'level'), ['ok']);
    const [first, second] = inspectPermissions({ ...all, checks: 'read', administration: '' });
    assert.match(first?.text ?? '', /"Checks: read and write"/);
    assert.match(second?.text ?? '', /"Administration: read-only"/);
  });
});
