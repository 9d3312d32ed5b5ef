import { SLUICE } from '../lib/sluice-command.ts';
import { formatRepo, parseRepo, REPO_TEXT, type RepoRef } from './core/arguments.ts';
import { commandFor } from './core/command.ts';
import { ask } from './core/confirm.ts';
import type { Context } from './core/context.ts';
import { CliError, EXIT } from './core/exit.ts';
import type { AnswerOf, BodyOf } from './core/operations.ts';
import { clean, paint, say, write } from './core/terminal.ts';
import { tryChecks } from './try-checks.ts';

type Proposal = AnswerOf<'proposeChecks'>;

export const PROPOSE = commandFor(
  'proposeChecks',
  {
    text: 'Print a .sluice.yaml with checks, and targets of workspaces, for what the repository has. Nothing is run or registered.',
    takes: { '<repo>': [REPO_TEXT, parseRepo], '[branch]': 'The branch that is read. Default: main, else master.' },
    examples: ['sluice repo propose local/acme/app', 'sluice repo propose local/acme/app > .sluice.yaml'],
    about: ({ notes }) => notes.map(clean).join('\n'),
    show: ({ configuration }) => (configuration ?? '').trimEnd(),
  },
  ({ repo, branch }) => ({ repo, ...(branch && { targetBranch: branch }) }),
);

export interface Newcomer {
  readonly repo: RepoRef;
  /** Its default branch, where that is known. */
  readonly branch: string | undefined;
  readonly mayGrant: boolean;
  readonly isAgreed: boolean;
  /** The line that follows where nothing is used. */
  readonly next: string;
}

/** From no checks to a queue, with one yes. */
// SPEC W77
export async function useProposal(context: Context, newcomer: Newcomer): Promise<void> {
  const { repo, mayGrant, isAgreed, next } = newcomer;
  const proposal = await findProposal(context, newcomer);
  const configuration = proposal?.configuration ?? null;
  if (proposal === undefined || configuration === null) return write(next);
  write(describeProposal(proposal, configuration));
  if (!isAgreed && !(await isAccepted(repo, proposal))) return write(next);
  const subject = { repo, targetBranch: proposal.branch };
  if (!(await tryChecks(context, { ...subject, configuration }))) {
    say(adviceFor(repo));
    process.exitCode = EXIT.refused;
    return;
  }
  const fileChecks = { network: usesNetwork(configuration), userNamespaces: false, longestMinutes: 60 };
  await context.call('registerRepository', { repo, configuration });
  const isGranted = mayGrant && (await grant(context, { repo, fileChecks }));
  await context.call('createQueue', subject);
  write(describeNext(subject, isGranted));
}

/** Nothing is granted where it would only make the checks wait. */
async function grant(context: Context, granted: BodyOf<'registerRepository'>): Promise<boolean> {
  const { checksBlocked } = await context.call('registerRepository', granted);
  if (checksBlocked === null) return true;
  await context.call('registerRepository', { repo: granted.repo, fileChecks: null });
  return false;
}

/** Undefined if the branch cannot be read. The repository is registered all the same. */
async function findProposal(context: Context, { repo, branch }: Newcomer): Promise<Proposal | undefined> {
  try {
    const proposal = await context.call('proposeChecks', { repo, ...(branch && { targetBranch: branch }) });
    if (proposal.configuration === null) say(proposal.notes.map(clean).join('\n'));
    return proposal;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    say(`No checks are proposed: ${error.message}`);
    return undefined;
  }
}

function describeProposal({ branch, notes }: Proposal, configuration: string): string {
  const lines = configuration.trimEnd().split('\n').map(clean).join('\n');
  return `\nIt has no checks yet. Proposed from the files of ${branch}:\n\n${paint('bold', lines)}\n\n${notes.map(clean).join('\n')}\n`;
}

async function isAccepted(repo: RepoRef, { branch }: Proposal): Promise<boolean> {
  const question = `Try them on ${branch} now, and if they pass, register them and create the queue of ${branch}? Type yes: `;
  const answer = await ask(question);
  if (answer === 'yes' || answer === 'y') return true;
  say(`Try and use them: ${SLUICE} repo add ${formatRepo(repo)} --yes\nOr name others: --check test='COMMAND'`);
  return false;
}

function usesNetwork(configuration: string): boolean {
  return /^ +network: true$/m.test(configuration);
}

function adviceFor(repo: RepoRef): string {
  const name = formatRepo(repo);
  return [
    'Nothing more was registered. Put the lines above into .sluice.yaml, mend them, and try:',
    `  ${SLUICE} repo try ${name} --file .sluice.yaml`,
    'Then use them:',
    `  ${SLUICE} repo add ${name} --checks-from .sluice.yaml`,
  ].join('\n');
}

function describeNext({ repo, targetBranch }: { repo: RepoRef; targetBranch: string }, isGranted: boolean): string {
  const place = `${formatRepo(repo)} ${targetBranch}`;
  const file = isGranted
    ? `The checks are registered. Commit them as .sluice.yaml on ${targetBranch}, and that file decides from then on:
  ${SLUICE} repo propose ${place} > .sluice.yaml
`
    : 'The checks are registered. ';
  return [
    `${file}The queue of ${targetBranch} is open.`,
    'Next, the first pull request. In a clone, with a commit of yours:',
    '  git push origin HEAD:refs/pull/1/head',
    'Here:',
    `  ${SLUICE} pr submit ${place} 1`,
    `  ${SLUICE} watch ${place} --until-empty`,
  ].join('\n');
}
