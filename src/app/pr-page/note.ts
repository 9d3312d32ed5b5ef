import type { Instant } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import type { Sha } from '../../lib/sha.ts';
import type { QueueId } from '../../storage/queues.ts';
import type { RepositoryId } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import type { WriteIntent } from './write-intent.ts';

/** What has been said about a pull request at its forge, and heard there. */
export interface Note {
  /** Queues that ever told of it, the latest first: they share one comment. */
  readonly queues: readonly QueueId[];
  readonly comment: CommentNote | undefined;
  /** By queue. */
  readonly checks: Readonly<Record<string, CheckNote>>;
  /** State labels that we put on it and did not take off. */
  readonly labels: readonly string[];
  /** Somebody changes them: which of them are on it is not known. */
  readonly labelling?: WriteIntent;
  /** The enqueueing label that somebody put on it, as long as it is there. */
  readonly enqueueingLabel: string | undefined;
  /** Which change of it put it on; what was noted by earlier versions names none. */
  readonly enqueueingLabelId?: string | undefined;
  /** The latest change of the enqueueing label that was acted upon. */
  readonly labelHandledAt: Instant | undefined;
  /** All changes of that instant that were acted upon; what was noted by earlier versions names none. */
  readonly labelHandledIds: readonly string[];
  /** Closed after it had landed: `<queue>/<submission>`. */
  readonly closed: string | undefined;
  /** Heads, and when each was heard of; the latest last. One that comes back is there again. */
  readonly heads: readonly SeenHead[];
  /** Answers to commands, newest last: nobody can make us talk without end. */
  readonly replies: readonly ReplyNote[];
}

export interface CommentNote {
  readonly id: string | undefined;
  /** Its other name at the forge; what was noted by earlier versions has none. */
  readonly nodeId?: string | undefined;
  /** Of what it says; undefined while that is not known. */
  readonly hash: string | undefined;
  /** Somebody was about to write it: whether it is there is to be found out. */
  readonly creating?: { readonly by: string; readonly at: Instant; readonly turn?: string };
  readonly writing?: WriteIntent;
  /** Somebody deleted it, and it was written anew. */
  readonly isSecond?: true;
  /** Somebody deleted it twice: it is not wanted. */
  readonly isUnwanted?: true;
}

export interface CheckNote {
  /** Undefined: somebody was about to write it, and whether it is there is to be found out. */
  readonly id: string | undefined;
  readonly nodeId?: string | undefined;
  readonly headSha: Sha;
  /** The stay it tells of. */
  readonly submission: number;
  readonly startedAt: Instant;
  readonly hash: string | undefined;
  readonly writing?: WriteIntent;
  /** Nobody has said yet how it ended. */
  readonly isOpen?: true;
}

export interface ReplyNote {
  /** What is answered. */
  readonly to: string;
  readonly at: Instant;
}

export interface SeenHead {
  readonly sha: Sha;
  readonly at: Instant;
  /** It was the head then, by the forge's clock: the last change of the pull request that is known with it. */
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
  enqueueingLabel: undefined,
  labelHandledAt: undefined,
  labelHandledIds: [],
  closed: undefined,
  heads: [],
  replies: [],
};

/** Whatever a note does not have yet, because it is newer than the note, is as in an empty one. */
export function decodeNote(body: string): Note {
  return { ...EMPTY_NOTE, ...(JSON.parse(body) as Partial<Note>) };
}

export function encodeNote(note: Note): string {
  return JSON.stringify(note);
}

export async function readNote(app: Pick<App, 'store'>, { repositoryId, prNumber }: NoteKey): Promise<Note> {
  const found = await app.store.pullRequestNotes.find(repositoryId, prNumber);
  return found === undefined ? EMPTY_NOTE : decodeNote(found.body);
}

/** Two servers write to one note seldom, and a third hardly ever. */
const MAX_TRIES = 20;

/** Answers the note as it is stored then. `change` may be called again when another was faster. */
export async function changeNote(
  app: Pick<App, 'store'>,
  key: NoteKey,
  change: (note: Note) => Note | undefined,
): Promise<Note> {
  const { repositoryId, prNumber } = key;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const found = await app.store.pullRequestNotes.find(repositoryId, prNumber);
    const before = found === undefined ? EMPTY_NOTE : decodeNote(found.body);
    const after = change(before);
    if (after === undefined || after === before) return before;
    const version = (found?.version ?? 0) + 1;
    const answer = await app.store.pullRequestNotes.save({ repositoryId, prNumber, version, body: encodeNote(after) });
    if (answer === 'saved') return after;
  }
  throw new Fault('STORE_UNAVAILABLE', `What was said about pull request #${prNumber} could not be noted.`);
}

/** A pull request that is pushed to all day is remembered by its latest heads. */
const KEPT_HEADS = 20;

/** Forges tell whole seconds: it may have been the last moment of one. */
const SECOND_MS = 1_000;

/**
 * A head was heard of: from then on, until another is heard of, a command can mean it. Commands have the forge's time.
 * Where our clock is behind, a head must not seem older than what was said before it was pushed.
 */
export async function rememberHead(app: Pick<App, 'store'>, key: NoteKey, heard: SeenHead): Promise<void> {
  const { at, changedAt } = heard;
  const head = changedAt === undefined ? heard : { ...heard, at: Math.max(at, changedAt + SECOND_MS) };
  await changeNote(app, key, (note) => {
    const [third, second, last] = [note.heads.at(-3), note.heads.at(-2), note.heads.at(-1)];
    if (last?.sha !== head.sha && note.heads.some((known) => isSame(known, head))) return undefined;
    if (last?.sha !== head.sha) return { ...note, heads: [...note.heads, head].toSorted(byForge).slice(-KEPT_HEADS) };
    // When it was there last tells that what is heard of late was before it. The first two tell since when it can be meant.
    if (head.changedAt === undefined || head.changedAt <= (last.changedAt ?? last.at)) return undefined;
    const isLong = second?.sha === head.sha && third?.sha === head.sha;
    return { ...note, heads: [...(isLong ? note.heads.slice(0, -1) : note.heads), head].slice(-KEPT_HEADS) };
  });
}

/** The same news once more: of a former head, it is told for as long as nobody could look. */
function isSame(a: SeenHead, b: SeenHead): boolean {
  return a.sha === b.sha && a.changedAt !== undefined && a.changedAt === b.changedAt;
}

/** By the clock that all of them have in common: those of servers differ. */
function byForge(a: SeenHead, b: SeenHead): number {
  return (a.changedAt ?? a.at) - (b.changedAt ?? b.at);
}

/**
 * Whether a head is the one that could be seen at an instant. One that was there before, and comes back after somebody
 * looked at another, is not what they meant; also where that other one was heard of late.
 */
export function wasSeenAt({ heads }: Note, sha: Sha, at: Instant): boolean {
  const seen = heads.findLast((head) => head.at <= at);
  const since = seen?.changedAt ?? Number.POSITIVE_INFINITY;
  const index = seen === undefined ? -1 : heads.indexOf(seen);
  // Of two that were there in one second nobody knows which was the last.
  const isPast = heads.some(
    (head, place) =>
      head.sha !== sha &&
      head.changedAt !== undefined &&
      head.changedAt <= at &&
      (place > index || head.changedAt >= since),
  );
  return seen?.sha === sha && !isPast;
}
