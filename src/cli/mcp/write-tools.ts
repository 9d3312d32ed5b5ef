import { Type } from 'typebox';
import { present } from '../../lib/present.ts';
import { usageError } from '../core/exit.ts';
import { submitHead } from '../pr/land.ts';
import { findSuites } from '../tests/suites.ts';
import { shorten } from './read-tools.ts';
import { partsOf } from './result-tools.ts';
import { choice, prFields, queueFields, repoFields, type Tool, tool, words } from './tool.ts';

const submit = tool({
  name: 'submit_pull_request',
  title: 'Submit a pull request to the queue',
  description:
    'Submits a pull request: the queue tests it and lands it on the branch if it passes. Submitting one that is in the queue changes its priority.',
  isWrite: true,
  fields: {
    ...prFields,
    priority: Type.Optional(choice(['urgent', 'high', 'medium', 'low'], 'Who goes first. Urgent interrupts others.')),
    no_batch: Type.Optional(Type.Boolean({ description: 'Never test it in a batch with others.' })),
    sha: Type.Optional(
      words(
        'The whole head commit that is meant: at another one, nothing is submitted. Give it to be sure what lands.',
      ),
    ),
  },
  run: async ({ context, findPlace }, given) => {
    const { pr: number, sha, priority, no_batch: noBatch } = given;
    const pr = { number, ...present({ sha }) };
    const entry = await context.call('submitPullRequest', {
      ...(await findPlace(given)),
      pr,
      ...present({ priority, noBatch }),
    });
    return [{ title: `Pull request ${number} is submitted:`, data: shorten(entry) }];
  },
});

function act(
  operation: 'submitPullRequest' | 'cancelPullRequest' | 'restartTestsOnPullRequest',
  texts: Pick<Tool, 'name' | 'title' | 'description'> & { readonly done: string },
  more: { readonly repair?: true } = {},
): Tool {
  const { done, ...names } = texts;
  return tool({
    ...names,
    isWrite: true,
    fields: prFields,
    run: async ({ context, findPlace }, given) => {
      const entry = await context.call(operation, { ...(await findPlace(given)), pr: { number: given.pr }, ...more });
      return [{ title: `Pull request ${given.pr} ${done}:`, data: shorten(entry) }];
    },
  });
}

const quarantine = tool({
  name: 'quarantine_test',
  title: 'Quarantine a test, or end it',
  description:
    'Decides whether a test is quarantined: it still runs, and its failures block nobody. Only for tests that fail at random; a broken test hides a bug.',
  isWrite: true,
  fields: {
    ...repoFields,
    test_id: words('The id of the test, as list_tests shows it.', 36),
    setting: Type.Optional(
      choice(
        ['ALWAYS_QUARANTINE', 'NEVER_QUARANTINE', 'UNSPECIFIED'],
        'ALWAYS_QUARANTINE (default), NEVER_QUARANTINE forbids it, UNSPECIFIED ends either decision.',
      ),
    ),
    reason: words('Why, for people who read it later.', 1000),
    suites: Type.Optional(
      Type.Array(Type.String(), {
        description: 'The suites to quarantine it in. Needed if its id stands for tests in several suites.',
      }),
    ),
    until: Type.Optional(words('When the decision ends by itself: an instant such as 2027-01-31T00:00:00Z.')),
  },
  run: async ({ context, findScope }, given) => {
    const { test_id, setting = 'ALWAYS_QUARANTINE', reason, until: expires_at, suites } = given;
    const ref = { ...(await findScope(given)), test_id };
    const isOpen = setting === 'ALWAYS_QUARANTINE' && suites === undefined;
    const where = isOpen ? await findSuites(context, ref, needSuites) : present({ suites });
    const { test } = await context.call('setQuarantine', {
      ...ref,
      ...where,
      setting,
      reason,
      ...present({ expires_at }),
    });
    return [{ title: `The test is ${test.quarantined ? '' : 'not '}quarantined now:`, data: test }];
  },
});

const land = tool({
  name: 'land',
  title: 'Land the commits of this clone',
  description:
    'Submits HEAD of the clone in which this server runs. On plain git it is pushed as a pull request first, at a forge the pull request of the branch is taken. Then call wait_for_result until the result is there.',
  isWrite: true,
  fields: {
    ...queueFields,
    pr: Type.Optional(
      Type.Integer({
        ...{ minimum: 1, maximum: 4_294_967_295 },
        description:
          'The number of a pull request that HEAD mends: on plain git its head is moved. Default: a new one.',
      }),
    ),
    force: Type.Optional(Type.Boolean({ description: 'Submit it although it failed and is unchanged.' })),
  },
  run: async ({ context, findPlace }, { pr, force, ...given }) => {
    const { repo, targetBranch: branch } = await findPlace(given);
    const { record } = await submitHead(context, { repo, branch, pr, ...(force && { force }) });
    return record.result === undefined
      ? [{ title: `Pull request ${record.prNumber} is submitted. Next: wait_for_result.`, data: shorten(record) }]
      : partsOf(record);
  },
});

const setTargets = tool({
  name: 'set_targets',
  title: 'Set the targets that a pull request impacts',
  description: 'For a parallel queue that waits for them. When in doubt, all.',
  isWrite: true,
  fields: {
    ...prFields,
    targets: Type.Optional(Type.Array(Type.String(), { description: 'The targets. Empty: it impacts nothing.' })),
    all: Type.Optional(Type.Boolean({ description: 'It impacts everything.' })),
  },
  run: async ({ context, findPlace }, { targets, all, ...given }) => {
    if ((targets === undefined) === (all !== true)) throw usageError('Give either targets or all.');
    const impactedTargets = targets === undefined ? 'ALL' : targets;
    const body = { ...(await findPlace(given)), pr: { number: given.pr }, impactedTargets } as const;
    const { note: _, ...entry } = await context.call('setImpactedTargets', body);
    return [{ title: `The targets of pull request ${given.pr} are set:`, data: shorten(entry) }];
  },
});

async function needSuites(_suites: readonly string[], list: string): Promise<never> {
  throw usageError(`${list}Ask the person in which of them it should be quarantined, and name these in \`suites\`.`);
}

// SPEC W54
export const WRITE_TOOLS: readonly Tool[] = [
  submit,
  act(
    'submitPullRequest',
    {
      name: 'submit_repair',
      title: 'Submit a repair of a broken branch',
      description:
        'Submits a pull request that repairs the target branch: while the queue holds because the branch fails, it is tested alone on the head. Only for a change that mends what fails there.',
      done: 'is submitted as a repair',
    },
    { repair: true },
  ),
  act('cancelPullRequest', {
    name: 'cancel_pull_request',
    title: 'Remove a pull request from the queue',
    description: 'Removes a pull request from the queue. It can be submitted again, at the end of the line.',
    done: 'is removed',
  }),
  act('restartTestsOnPullRequest', {
    name: 'restart_tests',
    title: 'Test a pull request again',
    description: 'Tests a pull request in the queue again. Only while it is TESTING or PENDING_FAILURE.',
    done: 'is tested again',
  }),
  quarantine,
  land,
  setTargets,
];
