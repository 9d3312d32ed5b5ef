import type { PrNumber, PullRequestFacts } from '../../src/engine/model/pull-request.ts';
import type {
  CheckRunDraft,
  CommentDraft,
  CommentFacts,
  CommentQuestion,
  ForgeReader,
  LabelChange,
  LabelFacts,
  LabelQuestion,
  OwnCommentQuestion,
  PageWriter,
  PairedAnswers,
  PairedDrafts,
  Permission,
  Person,
  Retarget,
  SettleRequest,
  Written,
} from '../../src/forge/hosting.ts';
import { KNOWN_NOT_APPLIED } from '../../src/forge/known-not-applied.ts';
import type { Instant } from '../../src/lib/clock.ts';
import { Fault } from '../../src/lib/fault.ts';
import type { Sha } from '../../src/lib/sha.ts';

export interface PageComment {
  readonly id: string;
  readonly number: PrNumber;
  readonly text: string;
}

export interface Remark {
  readonly body: string;
  readonly login?: string;
  readonly permission?: Permission;
  readonly isBot?: boolean;
  readonly isOwn?: boolean;
  readonly isEdited?: boolean;
  readonly createdAt?: Instant;
  readonly changedAt?: Instant;
  readonly retarget?: Retarget;
}

export const ADA: Person = { login: 'ada', isBot: false, isOwn: false };

type Act = 'comment' | 'check' | 'labels' | 'close' | 'react' | 'find';

/** Fake pages of pull requests: what is written on them, by whom, and which writes fail. */
export class PullRequestPages
  implements Required<PageWriter>, Pick<ForgeReader, 'readComment' | 'readLabel' | 'findByBranch'>
{
  readonly comments = new Map<string, PageComment>();
  readonly checks = new Map<string, Omit<CheckRunDraft, 'id'>>();
  readonly labels = new Set<string>();
  readonly closed: { readonly number: PrNumber; readonly headSha: Sha }[] = [];
  readonly reactions: string[] = [];
  /** All writes in order. */
  readonly acts: Act[] = [];
  /** How often a comment and a check run were one request. */
  together = 0;
  /** Writes that fail without an effect. */
  readonly failing = new Set<Act>();
  /** The number of such failures. */
  failures = 0;
  /** Writes that fail before they are sent. */
  readonly refusing = new Set<Act>();
  /** The next write of this kind is applied, and its answer gets lost. */
  lost: Act | 'both' | undefined;
  readonly #remarks = new Map<string, CommentFacts>();
  label: LabelFacts | undefined;
  /** Writes wait for this. */
  gate: Promise<void> | undefined;
  /** Called before each write, to delay it. */
  turn: (() => Promise<void>) | undefined;
  /** The next write fails, and is applied when this resolves. */
  late: Promise<void> | undefined;
  #ids = 100;

  say(pr: PullRequestFacts, now: Instant, remark: Remark): { number: PrNumber; commentId: string; nodeId: string } {
    const commentId = this.#newId();
    const { login = 'ada', isBot = false, isOwn = false } = remark;
    this.#remarks.set(commentId, {
      body: remark.body,
      author: { login, isBot, isOwn },
      permission: remark.permission ?? 'write',
      createdAt: remark.createdAt ?? now,
      isEdited: remark.isEdited ?? false,
      pr,
      changedAt: remark.changedAt,
      ...(remark.retarget === undefined ? {} : { retarget: remark.retarget }),
    });
    return { number: pr.number, commentId, nodeId: `IC_${commentId}` };
  }

  /** Our comments on a pull request, oldest first. */
  textsOn(number: PrNumber): string[] {
    return [...this.comments.values()].filter((comment) => comment.number === number).map(({ text }) => text);
  }

  /** No pull request here is based on another. */
  async findByBranch(): Promise<undefined> {
    return undefined;
  }

  async readComment({ id }: CommentQuestion): Promise<CommentFacts | undefined> {
    return this.#remarks.get(id);
  }

  async readLabel(_question: LabelQuestion): Promise<LabelFacts | undefined> {
    return this.label;
  }

  async writeComment(draft: CommentDraft): Promise<Written | undefined> {
    await this.turn?.();
    return this.#writeComment(draft);
  }

  #writeComment({ id, number, text }: CommentDraft): Promise<Written | undefined> {
    return this.#sometime('comment', () => {
      if (id !== undefined && !this.comments.has(id)) return undefined;
      const written = id ?? this.#newId();
      this.comments.set(written, { id: written, number, text });
      return { id: written, nodeId: `IC_${written}` };
    });
  }

  async findOwnComment({ number, marker }: OwnCommentQuestion): Promise<{ readonly id: string } | undefined> {
    return this.#act('find', () =>
      [...this.comments.values()].findLast((comment) => comment.number === number && comment.text.includes(marker)),
    );
  }

  async react({ id }: CommentQuestion, reaction: string): Promise<void> {
    await this.#act('react', () => this.reactions.push(`${id} ${reaction}`));
  }

  async writeCheck(draft: CheckRunDraft): Promise<Written | undefined> {
    await this.turn?.();
    return this.#writeCheck(draft);
  }

  #writeCheck({ id, ...draft }: CheckRunDraft): Promise<Written | undefined> {
    return this.#sometime('check', () => {
      if (id !== undefined && !this.checks.has(id)) return undefined;
      const same = [...this.checks].find(
        ([, { externalId, headSha }]) => externalId === draft.externalId && headSha === draft.headSha,
      );
      const written = id ?? same?.[0] ?? this.#newId();
      this.checks.set(written, draft);
      return { id: written, nodeId: `CR_${written}` };
    });
  }

  async writePaired({ comment, check }: PairedDrafts): Promise<PairedAnswers> {
    this.together += 1;
    await this.turn?.();
    const { late } = this;
    const [commented] = await Promise.allSettled([this.#writeComment(comment)]);
    this.late = late;
    const [checked] = await Promise.allSettled([this.#writeCheck(check)]);
    if (this.lost !== 'both') return { comment: commented, check: checked };
    this.lost = undefined;
    throw new Fault('FORGE_UNAVAILABLE', 'The answer got lost.');
  }

  async changeLabels({ add, remove }: LabelChange): Promise<void> {
    await this.turn?.();
    await this.#sometime('labels', () => {
      for (const label of add) this.labels.add(label);
      for (const label of remove) this.labels.delete(label);
    });
  }

  needsSettling(mergeMethod: string): boolean {
    return mergeMethod !== 'MERGE_COMMIT';
  }

  async settleLanded({ number, headSha }: SettleRequest): Promise<void> {
    await this.#act('close', () => this.closed.push({ number, headSha }));
  }

  #newId(): string {
    this.#ids += 1;
    return String(this.#ids);
  }

  async #sometime<T>(act: Act, does: () => T): Promise<T> {
    const { late } = this;
    this.late = undefined;
    if (late === undefined) {
      await this.gate;
      return this.#act(act, does);
    }
    void late.then(() => this.#act(act, does));
    throw new Fault('FORGE_UNAVAILABLE', 'The forge did not answer.');
  }

  #act<T>(act: Act, does: () => T): T {
    if (this.refusing.has(act)) throw new Fault('FORGE_UNAVAILABLE', 'Too much waits.', { cause: KNOWN_NOT_APPLIED });
    if (this.failing.has(act)) {
      this.failures += 1;
      throw new Fault('FORGE_UNAVAILABLE', 'The forge is down.');
    }
    this.acts.push(act);
    const answer = does();
    if (this.lost !== act) return answer;
    this.lost = undefined;
    throw new Fault('FORGE_UNAVAILABLE', 'The answer got lost.');
  }
}
