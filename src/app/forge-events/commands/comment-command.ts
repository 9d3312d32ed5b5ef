import type { PrNumber } from '../../../engine/model/pull-request.ts';
import { findEntry } from '../../../engine/model/queue.ts';
import type { ForgeRepository } from '../../../forge/forge-repository.ts';
import type { CommentFacts, CommentQuestion, Hosting } from '../../../forge/hosting.ts';
import { present } from '../../../lib/present.ts';
import type { Repository } from '../../../storage/repositories.ts';
import type { App } from '../../core/app.ts';
import type { Caller } from '../../core/caller.ts';
import { type FoundQueue, getForge, toForgeRepository } from '../../core/find-queue.ts';
import { type Answer, isRefusal, type Refusal } from '../../core/refusal.ts';
import { type NoteKey, readNote, rememberHead, wasSeenAt } from '../../pr-page/note.ts';
import type { EntryView } from '../../queue/entry-view.ts';
import { cancelPullRequest, restartTestsOnPullRequest } from '../../queue/pull-request-acts.ts';
import { findQueueBelow } from '../../queue/read-below.ts';
import { submitPullRequest } from '../../queue/submit-pull-request.ts';
import { type Command, parseCommand, type Spoken } from './parse-command.ts';
import { HELP, headNotSeen, noQueue, notPermitted, refusalText, reply, retargeted, unclearText } from './reply.ts';
import { isForBase, mayCommand, mayWrite, toCaller } from './who.ts';

/** The hint is removed, kept so that the command never runs again, or handled later. */
export type CommandOutcome = 'done' | 'remember' | 'later';

interface CommentHint {
  readonly number: PrNumber;
  readonly commentId: string;
  readonly nodeId?: string | undefined;
  /** The author named in the webhook: it lets one query read the comment together with the author's permission. */
  readonly author?: string | undefined;
}

/** A comment that arrives later than this was meant for another state. */
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

/** Runs the command in a comment, if there is one and its author may give it. */
export async function runCommentCommand(
  app: App,
  { repository: stored }: { readonly repository: Repository },
  { number, commentId, nodeId, author }: CommentHint,
): Promise<CommandOutcome> {
  const { hosting } = getForge(app, stored.host);
  if (hosting === undefined) return 'done';
  const repository = toForgeRepository(stored);
  const question = { repository, number, id: commentId, nodeId, ...present({ author }) };
  const comment = await hosting.readComment(question);
  // Our own comments never run a command, whatever they quote: that could loop.
  if (comment === undefined || isOurs(comment) || comment.isEdited) return 'remember';
  if (comment.createdAt < app.clock.now() - MAX_AGE_MS) return 'remember';
  const spoken = parseCommand(comment.body);
  if (spoken === undefined) return 'remember';
  const key = { repositoryId: stored.id, prNumber: number };
  await runCommand({ app, hosting, stored, repository, question, comment, key, ...spoken });
  return 'remember';
}

/** With a personal token we comment as that person. Comments that the person writes have no marker of ours. */
// SPEC G55
function isOurs({ author, body }: CommentFacts): boolean {
  return author.isOwn && (author.isBot || body.startsWith('<!-- sluice:'));
}

async function runCommand(order: Order): Promise<void> {
  const { app, stored, comment, command } = order;
  const caller = await toCaller(app, stored, comment.author);
  const found = await findQueueFor(order, caller);
  if (isRefusal(found)) {
    // Without a queue, strangers get no answer, and `/trunk` may be meant for another product.
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

// SPEC G136
async function findQueueFor({ app, stored, comment, command }: Order, caller: Caller): Answer<FoundQueue> {
  const found = await findQueueBelow(app, caller, stored, comment.pr);
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

/** Undefined where the answer has been given already. */
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
      const { priority, noBatch, repair, submitStack } = command;
      return submitPullRequest(app, caller, {
        ...about,
        ...{ priority: priority?.value, noBatch, repair, submitStack, meant: comment.pr },
      });
    }
  }
}

// SPEC G56
async function hasSeenHead(order: Order): Promise<boolean> {
  const { app, key, comment } = order;
  const { headSha, isHeadUntrusted } = comment.pr;
  if (isHeadUntrusted !== true || wasSeenAt(await readNote(app, key), headSha, comment.createdAt)) return true;
  const changedAt = Math.max(comment.changedAt ?? 0, comment.createdAt);
  await rememberHead(app, key, { sha: headSha, at: app.clock.now(), changedAt });
  await answer(order, headNotSeen(headSha));
  return false;
}

// SPEC G136
function confirm({ app, hosting, question, comment }: Order, found: FoundQueue, view: EntryView): void {
  const before = findEntry(found.queue, comment.pr.number);
  const isSeen = found.queue.settings.commentsEnabled && (before === undefined || before.state !== view.state);
  if (isSeen || comment.author.isBot) return;
  // The command has run: a failed reaction must not run it again, nor delay anything.
  hosting.react(question, '+1').catch((error: unknown) => app.log.warn({ err: error }, 'could not react to a command'));
}

/** At most one answer for each comment, and none for bots: two of them could loop. */
// SPEC G51
async function answer(order: Order, text: string): Promise<void> {
  const { app, hosting, repository, key, comment, question } = order;
  if (comment.author.isBot) return;
  await reply(app, { hosting, repository, key, to: question.id, text });
}
