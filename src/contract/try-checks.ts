import { type Static, Type } from 'typebox';
import { EXAMPLE_REPO, Repo, TargetBranch } from './common.ts';
import { operationsOf } from './operation.ts';
import { list, nullable, optional } from './schema.ts';

const operation = operationsOf('Repositories');

const Progress = Type.Union([
  Type.Object({ check: Type.String(), output: Type.String() }),
  Type.Object({ check: Type.String(), conclusion: Type.String(), text: Type.String() }),
  Type.Object({ passed: Type.Boolean(), text: Type.String() }),
]);

/** A line of the reply. */
export type CheckProgress = Static<typeof Progress>;

export const proposeChecks = operation('proposeChecks', {
  scope: 'instance',
  isOnlyOnV1: true,
  summary: 'Propose the checks of a repository',
  description:
    'A `.sluice.yaml` made from what the root of the branch shows: package.json and its lock file, go.mod, go.work, Python tests, Cargo.toml or a Makefile; where it shows workspaces, with their `targets`. Nothing is run or changed: try it (`tryChecks`), and register it. Without `targetBranch`, the branch is `main`, else `master`.',
  body: Type.Object({ repo: Repo, ...optional({ targetBranch: TargetBranch }) }),
  reply: Type.Object({
    branch: TargetBranch,
    configuration: nullable('string', 'The text of the file; null where nothing is known to run.'),
    notes: list(Type.String(), 'What it was concluded from.'),
  }),
  errors: ['REPOSITORY_NOT_FOUND', 'FORGE_UNAVAILABLE'],
  example: {
    body: { repo: EXAMPLE_REPO },
    reply: {
      branch: 'main',
      configuration: 'checks:\n  go:\n    run: go test ./...\n',
      notes: ['go: go.mod, which needs no modules.'],
    },
  },
});

export const tryChecks = operation('tryChecks', {
  scope: 'instance',
  isOnlyOnV1: true,
  summary: 'Run the checks of the built-in runner once, on the head of a branch',
  description:
    'In the sandbox that a queue would use; nothing is landed. If the checks that a queue runs pass, it knows that the head is good, and does not test it alone at the first failure. The reply is JSON documents, one a line, while the checks run: `output` of a `check`; its `conclusion` with a `text` that says what went wrong and what helps; and last `passed`. Empty lines keep the connection open. A reader that goes away ends the checks.',
  body: Type.Object({
    repo: Repo,
    ...optional({
      targetBranch: TargetBranch,
      configuration: Type.String({
        maxLength: 65_536,
        description: 'The text of a `.sluice.yaml` to try. Absent: the checks that a queue would run.',
      }),
    }),
  }),
  reply: Type.String({ description: 'One JSON document a line.' }),
  replyType: 'application/x-ndjson; charset=utf-8',
  errors: ['REPOSITORY_NOT_FOUND', 'FORGE_UNAVAILABLE'],
  example: {
    body: { repo: EXAMPLE_REPO, targetBranch: 'main', configuration: 'checks: { unit: { run: npm test } }' },
    reply: '{"check":"unit","output":"ok\\n"}\n{"passed":true,"text":"main at 2644671a3b19 passes."}\n',
  },
});
