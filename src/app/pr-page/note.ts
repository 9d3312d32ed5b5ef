import type { Instant } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import type { Sha } from '../../lib/sha.ts';
import type { QueueId } from '../../storage/queues.ts';
import type { RepositoryId } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';

/** The state of a pull request's page: what was written there, and which commands were read. */
export interface Note {
  /** Queues that wrote to the page, the latest first. They share one comment. */
  readonly queues: readonly QueueId[];
  readonly comment: CommentNote | undefined;
  /** By queue id. */
  readonly checks: Readonly<Record<string, CheckNote>>;
  /** State labels that we added and did not remove. */
  readonly labels: readonly string[];
  /** A change of the labels was not confirmed: any of them may be missing. */
  readonly areLabelsUnknown: boolean;
  /** The page was last written from this version of this queue, or from a later one. Absent while that is unknown. */
  readonly shown?: ShownVersion;
  /** The update that writes to the page now. A crash leaves it behind. */
  readonly lease?: PageLease;
  /** The answer to a write got lost then. The write may still arrive. */
  readonly unansweredAt?: Instant;
  /** The enqueueing label, while it is on the pull request. */
  readonly enqueueingLabel: string | undefined;
  /** The id of the change that added it. Notes of earlier versions have none. */
  readonly enqueueingLabelId?: string | undefined;
  /** The latest change of the enqueueing label that was handled. */
  readonly labelHandledAt: Instant | undefined;
  /** All handled changes of that instant. Notes of earlier versions have none. */
  readonly labelHandledIds: readonly string[];
  /** Set after we closed a landed pull request: `<queue>/<submission>`. */
  readonly closed: string | undefined;
  /** Heads and when each became known, the latest last. A head that returns has a second entry. */
  readonly heads: readonly SeenHead[];
  /** Replies to commands, the newest last. They are limited, so that a person cannot make us reply without end. */
  readonly replies: readonly ReplyNote[];
}

export interface ShownVersion {
  readonly queueId: QueueId;
  readonly version: number;
}

interface PageLease {
  /** The attempt. */
  readonly by: string;
  /** The id of its effect. The next attempt of the same effect follows only after the first has ended. */
  readonly effect: string;
  readonly at: Instant;
  /** An update that had lost its lease wrote meanwhile, so that the last write is unknown. */
  readonly isDisturbed?: true;
}

export interface CommentNote {
  /** Undefined: its creation was begun, and it may exist or not. */
  readonly id: string | undefined;
  /** GitHub's GraphQL id. Notes of earlier versions have none. */
  readonly nodeId?: string | undefined;
  /** The hash of its text. Undefined while that is unknown. */
  readonly hash: string | undefined;
  /** A person deleted the first one, and it was created again. */
  readonly isSecond?: true;
  /** A person deleted it twice, so that it is not written any more. */
  readonly isUnwanted?: true;
}

export interface CheckNote {
  /** Undefined: its creation was begun, and it may exist or not. */
  readonly id: string | undefined;
  readonly nodeId?: string | undefined;
  readonly headSha: Sha;
  readonly submission: number;
  readonly startedAt: Instant;
  readonly hash: string | undefined;
  /** It was not completed yet. */
  readonly isOpen?: true;
}

interface ReplyNote {
  /** The id of the answered comment or label change. */
  readonly to: string;
  readonly at: Instant;
}

interface SeenHead {
  readonly sha: Sha;
  readonly at: Instant;
  /** The last known change of the pull request with this head, by the forge's clock. */
  readonly changedAt?: Instant | undefined;
}

export interface NoteKey {
  readonly repositoryId: RepositoryId;
  readonly prNumber: number;
}

export const EMPTY_NOTE: Note = {
  queues: [],
  comment: undefined,
  checks: {},
  labels: [],
  areLabelsUnknown: false,
  enqueueingLabel: undefined,
  labelHandledAt: undefined,
  labelHandledIds: [],
  closed: undefined,
  heads: [],
  replies: [],
};

/** A field that is newer than the stored note gets its empty value. */
export function decodeNote(body: string): Note {
  return { ...EMPTY_NOTE, ...(JSON.parse(body) as Partial<Note>) };
}

export function encodeNote(note: Note): string {
  return JSON.stringify(note);
}

export interface StoredNote {
  readonly note: Note;
  /** 0: nothing is stored. */
  readonly version: number;
}

export async function findNote(app: Pick<App, 'store'>, { repositoryId, prNumber }: NoteKey): Promise<StoredNote> {
  const found = await app.store.pullRequestNotes.find(repositoryId, prNumber);
  return found === undefined
    ? { note: EMPTY_NOTE, version: 0 }
    : { note: decodeNote(found.body), version: found.version };
}

export async function readNote(app: Pick<App, 'store'>, key: NoteKey): Promise<Note> {
  return (await findNote(app, key)).note;
}

/** Replaces the note of this version. False: it has changed since it was read. */
export async function replaceNote(
  app: Pick<App, 'store'>,
  key: NoteKey,
  { note, version }: StoredNote,
): Promise<boolean> {
  const body = encodeNote(note);
  return (await app.store.pullRequestNotes.save({ ...key, version: version + 1, body })) === 'saved';
}

/** Two servers seldom write to one note, and a third hardly ever. */
const MAX_TRIES = 20;

/** Returns the stored note. `change` is called again when another writer was faster. */
export async function changeNote(
  app: Pick<App, 'store'>,
  key: NoteKey,
  change: (note: Note) => Note | undefined,
): Promise<Note> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const { note, version } = await findNote(app, key);
    const after = change(note);
    if (after === undefined || after === note) return note;
    if (await replaceNote(app, key, { note: after, version })) return after;
  }
  throw new Fault('STORE_UNAVAILABLE', `The note of pull request #${key.prNumber} could not be stored.`);
}

/** Bounds the note of a pull request with many pushes. */
const KEPT_HEADS = 20;

/** Forges give whole seconds: the change may be at the end of one. */
const SECOND_MS = 1_000;

/** If our clock is behind, a head must not seem older than a comment that was written before the push. */
// SPEC G139
export async function rememberHead(app: Pick<App, 'store'>, key: NoteKey, heard: SeenHead): Promise<void> {
  const { at, changedAt } = heard;
  const head = changedAt === undefined ? heard : { ...heard, at: Math.max(at, changedAt + SECOND_MS) };
  await changeNote(app, key, (note) => {
    const [third, second, last] = [note.heads.at(-3), note.heads.at(-2), note.heads.at(-1)];
    if (last?.sha !== head.sha && note.heads.some((known) => isSame(known, head))) return undefined;
    if (last?.sha !== head.sha) return { ...note, heads: [...note.heads, head].toSorted(byForge).slice(-KEPT_HEADS) };
    // The last entry proves that a head reported late came before it. The first two tell since when it can be meant.
    if (head.changedAt === undefined || head.changedAt <= (last.changedAt ?? last.at)) return undefined;
    const isLong = second?.sha === head.sha && third?.sha === head.sha;
    return { ...note, heads: [...(isLong ? note.heads.slice(0, -1) : note.heads), head].slice(-KEPT_HEADS) };
  });
}

/** The same report once more: a poll repeats a former head until its position moves on. */
function isSame(a: SeenHead, b: SeenHead): boolean {
  return a.sha === b.sha && a.changedAt !== undefined && a.changedAt === b.changedAt;
}

/** The forge's clock is the common one; those of servers differ. */
function byForge(a: SeenHead, b: SeenHead): number {
  return (a.changedAt ?? a.at) - (b.changedAt ?? b.at);
}

/** A head that returned after the person looked is not what they meant, also if the one between became known late. */
// SPEC G83
export function wasSeenAt({ heads }: Note, sha: Sha, at: Instant): boolean {
  const seen = heads.findLast((head) => head.at <= at);
  const since = seen?.changedAt ?? Number.POSITIVE_INFINITY;
  const index = seen === undefined ? -1 : heads.indexOf(seen);
  // The order of two heads within one second is unknown.
  const isPast = heads.some(
    (head, place) =>
      head.sha !== sha &&
      head.changedAt !== undefined &&
      head.changedAt <= at &&
      (place > index || head.changedAt >= since),
  );
  return seen?.sha === sha && !isPast;
}
