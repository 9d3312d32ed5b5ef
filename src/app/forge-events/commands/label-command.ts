import type { PrNumber } from '../../../engine/model/pull-request.ts';
import { findEntry } from '../../../engine/model/queue.ts';
import type { QueueSettings } from '../../../engine/model/settings.ts';
import type { LabelChanged, LabelFacts } from '../../../forge/hosting.ts';
import type { Repository } from '../../../storage/repositories.ts';
import type { App } from '../../core/app.ts';
import { type FoundQueue, getForge, toForgeRepository } from '../../core/find-queue.ts';
import { isRefusal } from '../../core/refusal.ts';
import { changeNote, type Note, type NoteKey, readNote, rememberHead, wasSeenAt } from '../../pr-page/note.ts';
import { cancelPullRequest } from '../../queue/pull-request-acts.ts';
import { findQueueBelow } from '../../queue/read-below.ts';
import { submitPullRequest } from '../../queue/submit-pull-request.ts';
import type { CommandOutcome } from './comment-command.ts';
import { headNotSeen, notPermitted, refusalText, reply, retargeted } from './reply.ts';
import { isAllowedBot, isForBase, mayCommand, toCaller } from './who.ts';

interface LabelHint {
  readonly number: PrNumber;
  /** Undefined: any of the enqueueing labels may have changed. */
  readonly label?: string | undefined;
}

export async function runLabelCommand(
  app: App,
  { repository }: { readonly repository: Repository },
  { number, label }: LabelHint,
): Promise<CommandOutcome> {
  for (const each of await listEnqueueingLabels(app, repository, label)) {
    const outcome = await runEnqueueingLabel(app, repository, { number, label: each });
    if (outcome !== 'done') return outcome;
  }
  return 'done';
}

// SPEC G57
async function runEnqueueingLabel(
  app: App,
  repository: Repository,
  { number, label }: { readonly number: PrNumber; readonly label: string },
): Promise<CommandOutcome> {
  const { hosting } = getForge(app, repository.host);
  if (hosting === undefined) return 'done';
  const at = toForgeRepository(repository);
  const facts = await hosting.readLabel({ repository: at, number, label });
  if (facts?.last === undefined) return 'done';
  const { last } = facts;
  const key = { repositoryId: repository.id, prNumber: number };
  const found = await findQueueBelow(app, await toCaller(app, repository, last.by), repository, facts.pr);
  if (isRefusal(found) || !isFor(found.queue.settings, label)) return 'done';
  if (!(await isNews(app, key, { label, facts, last }))) return 'done';
  // We only ever remove the label, and our own removal is no command.
  const isOurs = last.by.isOwn && (last.by.isBot || !facts.isPresent);
  if (isOurs || (last.by.isBot && !isAllowedBot(last.by, found.queue.settings))) return settle(app, key, last);
  const problem = facts.isPresent
    ? await submit(app, found, { facts, last, key })
    : await cancel(app, found, facts, last);
  if (problem !== undefined && !last.by.isBot)
    await reply(app, { hosting, repository: at, key, to: `label-${last.id}`, text: problem });
  return settle(app, key, last);
}

/** The labels that are commands: this one if it is, or all. Most labels are none, and cost no query to the forge. */
export async function listEnqueueingLabels(
  app: App,
  { id }: Repository,
  label: string | undefined,
): Promise<readonly string[]> {
  const labels = new Set<string>();
  for (const queueId of await app.directory.listQueueIds(id)) {
    const settings = (await app.queues.find(queueId))?.queue.settings;
    const each = label ?? settings?.enqueueingLabel.toLowerCase();
    if (settings !== undefined && each !== undefined && isFor(settings, each)) labels.add(each);
  }
  return [...labels];
}

function isFor({ labelCommandsEnabled, enqueueingLabel }: QueueSettings, label: string): boolean {
  return labelCommandsEnabled && enqueueingLabel.toLowerCase() === label.toLowerCase();
}

/** The note records whether the label is present, so that a later removal is noticed, and which change was handled. */
async function isNews(
  app: App,
  key: NoteKey,
  { label, facts, last }: { readonly label: string; readonly facts: LabelFacts; readonly last: LabelChanged },
): Promise<boolean> {
  const { enqueueingLabel, enqueueingLabelId } = facts.isPresent
    ? { enqueueingLabel: label, enqueueingLabelId: last.id }
    : {};
  const note = await changeNote(app, key, (known) =>
    known.enqueueingLabel === enqueueingLabel && known.enqueueingLabelId === enqueueingLabelId
      ? undefined
      : { ...known, enqueueingLabel, enqueueingLabelId },
  );
  return !isHandled(note, last);
}

async function settle(app: App, key: NoteKey, last: LabelChanged): Promise<CommandOutcome> {
  await changeNote(app, key, (note) => {
    if (isHandled(note, last)) return undefined;
    const sameInstant = note.labelHandledAt === last.at ? note.labelHandledIds : [];
    return { ...note, labelHandledAt: last.at, labelHandledIds: [...sameInstant, last.id] };
  });
  return 'done';
}

/** A label that we removed may be added again within the same second. */
function isHandled({ labelHandledAt, labelHandledIds }: Note, { at, id }: LabelChanged): boolean {
  if (labelHandledAt === undefined || labelHandledAt < at) return false;
  return labelHandledAt > at || labelHandledIds.length === 0 || labelHandledIds.includes(id);
}

interface Wish {
  readonly facts: LabelFacts;
  readonly last: LabelChanged;
  readonly key: NoteKey;
}

/** Returns a sentence for the person. Drafts and closed pull requests keep their label, without effect. */
async function submit(app: App, found: FoundQueue, { facts, last, key }: Wish): Promise<string | undefined> {
  const { pr, retarget } = facts;
  if (pr.status !== 'open') return undefined;
  if (!mayCommand(last.by, last.permission, found.queue.settings)) return notPermitted(last.by.login, 'the label');
  if (!isForBase(retarget, last)) return retargeted('the label was put on', pr.baseBranch);
  if (pr.isHeadUntrusted === true && !wasSeenAt(await readNote(app, key), pr.headSha, last.at)) {
    const changedAt = Math.max(facts.changedAt ?? 0, last.at);
    await rememberHead(app, key, { sha: pr.headSha, at: app.clock.now(), changedAt });
    return headNotSeen(pr.headSha);
  }
  const caller = await toCaller(app, found.repository, last.by);
  const result = await submitPullRequest(app, caller, {
    repo: found.repository,
    targetBranch: found.queue.branch,
    prNumber: pr.number,
    priority: undefined,
    noBatch: undefined,
    meant: pr,
  });
  return isRefusal(result) ? refusalText(result, pr.number) : undefined;
}

/** A person whom the forge allows to remove the label may cancel. */
async function cancel(
  app: App,
  found: FoundQueue,
  { pr }: LabelFacts,
  last: LabelChanged,
): Promise<string | undefined> {
  const entry = findEntry(found.queue, pr.number);
  if (entry === undefined) return undefined;
  const caller = await toCaller(app, found.repository, last.by);
  const result = await cancelPullRequest(app, caller, {
    repo: found.repository,
    targetBranch: found.queue.branch,
    prNumber: pr.number,
  });
  return isRefusal(result) && result.code !== 'PULL_REQUEST_NOT_IN_QUEUE' ? refusalText(result, pr.number) : undefined;
}
