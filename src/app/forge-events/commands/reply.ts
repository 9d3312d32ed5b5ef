import type { RefusalCode } from '../../../contract/errors.ts';
import type { PrNumber } from '../../../engine/model/pull-request.ts';
import type { ForgeRepository } from '../../../forge/forge-repository.ts';
import type { Hosting } from '../../../forge/hosting.ts';
import type { App } from '../../core/app.ts';
import { code, words } from '../../pr-page/markdown.ts';
import { changeNote, type NoteKey } from '../../pr-page/note.ts';
import type { Command, CommandProblem } from './parse-command.ts';

/** A limit against loops and abuse. */
const MAX_REPLIES = 10;
const WITHIN_MS = 60 * 60_000;

interface Reply {
  readonly hosting: Hosting;
  readonly repository: ForgeRepository;
  readonly key: NoteKey;
  /** The id of the answered comment or label change. */
  readonly to: string;
  readonly text: string;
}

/** The note records the intent first: after a lost answer the next try searches for the comment before it writes. */
// SPEC G138
export async function reply(app: Pick<App, 'store' | 'clock' | 'log'>, given: Reply): Promise<void> {
  const { hosting, repository, key, to, text } = given;
  const number = key.prNumber as PrNumber;
  const begun = await begin(app, key, to);
  if (begun === 'too_many') {
    app.log.info({ ...key }, 'too many replies on a pull request, command not answered');
    return;
  }
  const marker = `<!-- sluice:reply ${to.replace(/[^\w-]/g, '')} -->`;
  if (begun === 'again' && (await hosting.findOwnComment({ repository, number, marker })) !== undefined) return;
  await hosting.writeComment({ repository, number, id: undefined, text: `${marker}\n${text}` });
}

async function begin(app: Pick<App, 'store' | 'clock'>, key: NoteKey, to: string) {
  const now = app.clock.now();
  let begun: 'first' | 'again' | 'too_many' = 'first';
  await changeNote(app, key, (note) => {
    const recent = note.replies.filter(({ at }) => at > now - WITHIN_MS && at <= now);
    if (recent.some((known) => known.to === to)) begun = 'again';
    else begun = recent.length < MAX_REPLIES ? 'first' : 'too_many';
    return begun === 'first' ? { ...note, replies: [...recent, { to, at: now }] } : undefined;
  });
  return begun as 'first' | 'again' | 'too_many';
}

const USAGE = [
  '- `/sluice merge` puts this pull request into the merge queue. `-p urgent`, `high`, `medium`, `low` or a number from 0 (first) to 255 (last) sets its priority; `--no-batch` has it tested alone; `--repair` says that it repairs a red target branch: it is then tested first, alone on that branch.',
  '- `/sluice cancel` takes it out of the queue.',
  '- `/sluice restart` runs its tests again.',
].join('\n');

export const HELP = `Commands stand at the beginning of a line in a new comment:\n\n${USAGE}\n\n\`/trunk\` works in place of \`/sluice\`.`;

const PROBLEMS: { readonly [Each in CommandProblem]: (part: string) => string } = {
  unknown_command: (part) =>
    part === '' ? 'A command is missing.' : `${code(part, 60)} is no command, so nothing was done.`,
  unknown_flag: (part) => `${code(part, 60)} is no option here, so nothing was done.`,
  bad_priority: (part) => `${code(part, 60)} is no priority, so nothing was done.`,
  no_priority: (part) => `${code(part, 60)} needs a priority after it, so nothing was done.`,
  given_twice: (part) => `${code(part, 60)} is there twice, so nothing was done.`,
  direct_not_supported: (part) =>
    `${code(part, 60)} is not supported: every pull request has to meet the branch's protection first. Without it, \`/sluice merge\` waits until this one does.`,
};

export function unclearText({ problem, part }: Extract<Command, { readonly kind: 'unclear' }>): string {
  const sentence = PROBLEMS[problem](part);
  return problem === 'direct_not_supported' ? sentence : `${sentence} The commands are:\n\n${USAGE}`;
}

export function notPermitted(login: string, did: string): string {
  return `${code(login)} has no write access to this repository, so ${did} had no effect. Ask somebody who has write access to submit it.`;
}

export function noQueue(branch: string): string {
  return `There is no merge queue for ${code(branch)}, the branch that this pull request targets.`;
}

/** Tests of a fork run with the repository's secrets, so that a writer must have seen the commit. */
export function headNotSeen(headSha: string): string {
  return `This pull request comes from a fork, and you may not have seen its last commit ${code(headSha.slice(0, 12))}. Look at that commit first. If it may be tested with the secrets of this repository, submit it again.`;
}

/** The author of a pull request can choose the base, and so the queue. */
export function retargeted(did: string, branch: string): string {
  return `This pull request targeted another branch when ${did}, or got its base just then, so that had no effect. If it is meant for ${code(branch)}, submit it again.`;
}

/** For people at the forge; the API's own sentences name operations. */
const REFUSALS: { readonly [Code in RefusalCode]?: string } = {
  PULL_REQUEST_NOT_IN_QUEUE: 'This pull request is not in the merge queue. `/sluice merge` puts it there.',
  PULL_REQUEST_NOT_FOUND: 'This pull request was never in the merge queue. `/sluice merge` puts it there.',
};

export function refusalText(
  { code: refusal, detail }: { readonly code: RefusalCode; readonly detail: string },
  prNumber: number,
): string {
  return REFUSALS[refusal] ?? words(detail, { ours: new Set([prNumber]) });
}
