import type { PrNumber } from '../../../engine/pull-request.ts';
import { findEntry } from '../../../engine/queue.ts';
import type { ForgeRepository } from '../../../forge/forge.ts';
import type { CommentFacts, CommentQuestion, Hosting } from '../../../forge/hosting.ts';
import type { Repository } from '../../../storage/repositories.ts';
import type { App } from '../../core/app.ts';
import type { Caller } from '../../core/caller.ts';
import { type FoundQueue, findQueue, getForge, toForgeRepository } from '../../core/find-queue.ts';
import { isRefusal, type Refusal } from '../../core/refusal.ts';
import { type NoteKey, readNote, rememberHead, wasSeenAt } from '../../pr-page/note.ts';
import { cancelPullRequest } from '../../queue/cancel-pull-request.ts';
import type { EntryView } from '../../queue/entry-view.ts';
import { restartTestsOnPullRequest } from '../../queue/restart-tests-on-pull-request.ts';
import { submitPullRequest } from '../../queue/submit-pull-request.ts';
import { isForBase } from './is-for-base.ts';
import { type Command, parseCommand, type Spoken } from './parse-command.ts';
import { reply } from './reply.ts';
import { HELP, headNotSeen, noQueue, notPermitted, refusalText, retargeted, unclearText } from './reply-texts.ts';
import { mayCommand, mayWrite, toCaller } from './who.ts';

/** What becomes of the hint: it is forgotten, remembered so that it is never acted upon again, or looked at later. */
export type CommandOutcome = 'done' | 'remember' | 'later';

export interface CommentHint {
  readonly number: PrNumber;
  readonly commentId: string;
  readonly nodeId: string;
  /** Whom the hint names: a hint, so that one question is enough. */
  readonly author?: string | undefined;
}

/** An old comment that is heard of now was meant for a time that is over. */
const MAX_AGE_MS = 24 * 60 * 60_000;

interface Order extends Spoken {
  readonly app: App;
  readonly hosting: Hosting;
  readonly stored: Repository;
  readonly repository: ForgeRepository;
  readonly question: CommentQuestion;
  readonly comment: CommentFacts;
  readonly key: NoteKey;
}

/** Does what a comment says, where it says something and its author may say so. */
export async function runCommentCommand(
  app: App,
  { repository: stored }: { readonly repository: Repository },
  { number, commentId, nodeId, author }: CommentHint,
): Promise<CommandOutcome> {
  const { hosting } = getForge(app, stored.host);
  if (hosting === undefined) return 'done';
  const repository = toForgeRepository(stored);
  const question = { repository, number, id: commentId, nodeId, ...(author === undefined ? {} : { author }) };
  const comment = await hosting.readComment(question);
  // Ours are never obeyed, whatever they quote: nobody can talk us into talking to ourselves.
  if (comment === undefined || isOurs(comment) || comment.isEdited) return 'remember';
  if (comment.createdAt < app.clock.now() - MAX_AGE_MS) return 'remember';
  const spoken = parseCommand(comment.body);
  if (spoken === undefined) return 'remember';
  const key = { repositoryId: stored.id, prNumber: number };
  await runCommand({ app, hosting, stored, repository, question, comment, key, ...spoken });
  return 'remember';
}

/** With somebody's own token we talk in their name: what they say themselves has no mark of ours. */
function isOurs({ author, body }: CommentFacts): boolean {
  return author.isOwn && (author.isBot || body.startsWith('<!-- sluice:'));
}

async function runCommand(order: Order): Promise<void> {
  const { app, stored, comment, command } = order;
  const caller = await toCaller(app, stored, comment.author);
  const found = await findQueueFor(order, caller);
  if (isRefusal(found)) {
    // Where there is no queue, strangers are not talked to, and another product of that name may be meant.
    if (mayWrite(comment.permission) && order.isOurName) await answer(order, noQueue(comment.pr.baseBranch));
    return;
  }
  const { settings } = found.queue;
  if (!settings.commandsEnabled) return;
  if (!mayCommand(comment.author, comment.permission, settings))
    return answer(order, notPermitted(comment.author.login, 'the command'));
  if (command.kind === 'help') return answer(order, HELP);
  if (command.kind === 'unclear') return answer(order, unclearText(command));
  const result = await carryOut(order, found, command);
  if (result === undefined) return;
  if (isRefusal(result)) return answer(order, refusalText(result, comment.pr.number));
  confirm(order, found, result);
}

/** That of its base; or the one it still is in, for whoever wants it out of there. */
async function findQueueFor({ app, stored, comment, command }: Order, caller: Caller): Promise<FoundQueue | Refusal> {
  const found = await findQueue(app, caller, { repo: stored, targetBranch: comment.pr.baseBranch });
  if (command.kind !== 'cancel') return found;
  if (!isRefusal(found) && findEntry(found.queue, comment.pr.number) !== undefined) return found;
  for (const queueId of await app.directory.listQueueIds(stored.id)) {
    const loaded = await app.queues.find(queueId);
    if (loaded !== undefined && findEntry(loaded.queue, comment.pr.number) !== undefined) {
      return { ...loaded, repository: stored };
    }
  }
  return found;
}

/** Undefined where everything is said already. */
async function carryOut(
  order: Order,
  found: FoundQueue,
  command: Exclude<Command, { readonly kind: 'help' | 'unclear' }>,
): Promise<EntryView | Refusal | undefined> {
  const { app, stored, comment } = order;
  const caller = await toCaller(app, stored, comment.author);
  const about = { repo: stored, targetBranch: found.queue.branch, prNumber: comment.pr.number };
  switch (command.kind) {
    case 'cancel':
      return cancelPullRequest(app, caller, about);
    case 'restart':
      return restartTestsOnPullRequest(app, caller, about);
    case 'merge': {
      if (!isForBase(comment.retarget, { by: comment.author, at: comment.createdAt })) {
        await answer(order, retargeted('the command was given', comment.pr.baseBranch));
        return undefined;
      }
      if (!(await hasSeenHead(order))) return undefined;
      const { priority, noBatch, repair } = command;
      return submitPullRequest(app, caller, {
        ...about,
        ...{ priority: priority?.value, noBatch, repair, meant: comment.pr },
      });
    }
  }
}

/** A fork's commit is tested only where somebody who may write could have seen it. */
async function hasSeenHead(order: Order): Promise<boolean> {
  const { app, key, comment } = order;
  const { headSha, isHeadUntrusted } = comment.pr;
  if (isHeadUntrusted !== true || wasSeenAt(await readNote(app, key), headSha, comment.createdAt)) return true;
  const changedAt = Math.max(comment.changedAt ?? 0, comment.createdAt);
  await rememberHead(app, key, { sha: headSha, at: app.clock.now(), changedAt });
  await answer(order, headNotSeen(headSha));
  return false;
}

/** The comment about its state says the rest; where that is off, or does not change, a sign does. */
function confirm({ app, hosting, question, comment }: Order, found: FoundQueue, view: EntryView): void {
  const before = findEntry(found.queue, comment.pr.number);
  const isSeen = found.queue.settings.commentsEnabled && (before === undefined || before.state !== view.state);
  if (isSeen || comment.author.isBot) return;
  // It is done: that nobody can be told so is no reason to do it again, and nobody waits until they can be.
  hosting.react(question, '+1').catch((error: unknown) => app.log.warn({ err: error }, 'could not react'));
}

/** At most one for each comment, and none for bots: two of them would talk for ever. */
async function answer(order: Order, text: string): Promise<void> {
  const { app, hosting, repository, key, comment, question } = order;
  if (comment.author.isBot) return;
  await reply(app, { hosting, repository, key, to: question.id, text });
}
