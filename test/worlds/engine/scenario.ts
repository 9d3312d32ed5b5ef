import assert from 'node:assert/strict';
import { findBreachAnywhere } from '../../../src/engine/line/invariants.ts';
import type { Candidate, CandidateNumber } from '../../../src/engine/model/candidate.ts';
import { isUnderTest } from '../../../src/engine/model/candidate.ts';
import type { CheckConclusion, CheckStatus } from '../../../src/engine/model/check.ts';
import type { Effect, JudgeCheck } from '../../../src/engine/model/effect.ts';
import type { QueueEvent, QueueUpdated } from '../../../src/engine/model/event.ts';
import type { Answer } from '../../../src/engine/model/judgement.ts';
import { candidateNumberOf } from '../../../src/engine/model/place.ts';
import { parsePriority } from '../../../src/engine/model/priority.ts';
import type { PrNumber, PullRequestFacts } from '../../../src/engine/model/pull-request.ts';
import {
  createQueue,
  type Entry,
  type EntryId,
  type EntryState,
  findEntry,
  findLiveMember,
  type Queue,
  type Submitter,
} from '../../../src/engine/model/queue.ts';
import type { RequiredSources } from '../../../src/engine/model/required.ts';
import { lineOf } from '../../../src/engine/model/roster.ts';
import { DEFAULT_SETTINGS, type QueueSettings } from '../../../src/engine/model/settings.ts';
import type { Signature } from '../../../src/engine/model/signature.ts';
import type { Strategy } from '../../../src/engine/model/strategy.ts';
import type { ImpactedTargets } from '../../../src/engine/model/targets.ts';
import type { Transition } from '../../../src/engine/model/work.ts';
import { type Step, step } from '../../../src/engine/step.ts';
import { getIn, valuesOf } from '../../../src/lib/int-map.ts';
import { present } from '../../../src/lib/present.ts';
import { aPullRequest } from '../../helpers/a-pull-request.ts';
import { ACTS } from './acts.ts';
import { Branch } from './branch.ts';
import { EXPECTATIONS } from './expectations.ts';
import { StoryForge } from './story-forge.ts';
import { letter, numberOf, shaToHistory } from './words.ts';

export const NOON = Date.UTC(2026, 8, 17, 12);

export interface JudgedCheck {
  readonly check: string;
  readonly attempt: number | undefined;
  readonly tests: readonly string[];
  readonly isWaived: boolean;
  readonly isRepeat?: true;
  readonly isWhole?: true;
  /** Of a probe. */
  readonly answer?: Answer;
  readonly reportsAfterMs?: number;
  /** The failed tests, as far as the search for the culprit is told of them. */
  readonly signature?: Signature;
  /** The reports came after the landing. */
  readonly isLate?: true;
}

/**
 * Plays a story on a queue. Pull requests are letters. A candidate is written by its composition: `A+B` is B on top of
 * A, `AB+CD` is the batch CD on top of the batch AB. Landed entries are left out. A candidate of a bisection is written
 * `~AB`, a probe of the same `?AB`, its control `?HEAD`, the test of the head `HEAD`.
 *
 * Git and landings answer at once unless the story holds them. CI answers only when the story says so.
 */
export class Scenario {
  queue: Queue;
  now = NOON;
  last: Step | undefined;
  readonly strategy: Strategy | undefined;
  readonly branch = new Branch();
  readonly events: QueueEvent[] = [];
  readonly transitions: Transition[] = [];
  readonly steps: Step[] = [];
  readonly ended = new Map<number, Entry>();
  readonly endedCandidates = new Map<number, Candidate>();
  /** As they ended: reports that come later are not in them. */
  readonly endings = new Map<number, Candidate>();
  readonly alarms: string[] = [];
  readonly endedAlarms: string[] = [];
  /** Questions about computed targets since the last look: a letter, or `review`. */
  readonly laneQuestions: string[] = [];
  /** The tested tree of every CI run. */
  readonly runs: string[] = [];
  /** The candidate and check of every requested judgement. */
  readonly asked: string[] = [];
  readonly judgements: JudgeCheck[] = [];
  readonly closed = new Set<PrNumber>();
  /** The pull requests that each is built on. */
  readonly below = new Map<PrNumber, readonly PrNumber[]>();
  readonly targets = new Map<number, ImpactedTargets>();
  sources: RequiredSources = { file: undefined, fileProblem: undefined, protection: ['ci'], commands: '' };
  readonly forge = new StoryForge(this);

  constructor(settings: Partial<QueueSettings> = {}, strategy?: Strategy) {
    this.strategy = strategy;
    // Stories of other rules tell a failure once.
    const confirmFailures = settings.optimizationMode === 'ADAPTIVE' ? 'AUTO' : 'NEVER';
    const defaults = { ...DEFAULT_SETTINGS, confirmFailures, concurrency: 4 } as const;
    this.queue = createQueue('main', { ...defaults, ...settings }, 'RUNNING');
    this.observeTarget();
  }

  /**
   * Plays `acts → expectations`, one such pair a line. Acts and expectations are separated by semicolons; a line without
   * an arrow only acts. `A=merged B=testing` expects states; `#` begins a comment.
   */
  play(story: string): this {
    for (const [index, raw] of story.split('\n').entries()) {
      const line = raw.replace(/#.*$/, '');
      try {
        this.#playLine(line);
      } catch (error) {
        const detail = error instanceof Error ? error.message : String(error);
        throw new Error(`line ${index + 1}, "${line.trim()}": ${detail}\n${this.describe()}`, { cause: error });
      }
    }
    return this;
  }

  #playLine(line: string): void {
    const [acts = '', expectations = ''] = line.split('→');
    for (const phrase of phrasesOf(acts)) verbOf(ACTS, phrase)(this, phrase.slice(1));
    for (const phrase of phrasesOf(expectations)) {
      const words = /^[A-Z]+=/.test(phrase[0] ?? '') ? ['states', ...phrase] : phrase;
      verbOf(EXPECTATIONS, words)(this, words.slice(1));
    }
  }

  /** The state of the queue, for the message of a failed test. */
  describe(): string {
    const entries = [...valuesOf(this.queue.entries)].map((e) => `${letter(e.prNumber)}=${e.state}`).join(' ');
    const line = [...valuesOf(this.queue.candidates)].map((c) => `${c.number}:${this.label(c)}(${c.state})`).join(' ');
    return `entries: ${entries}\ncandidates: ${line}\ntarget: ${this.branch.history.join('+')}`;
  }

  tell(event: QueueEvent): Step {
    const result = step(this.queue, event, this.strategy);
    this.events.push(event);
    this.steps.push(result);
    this.queue = result.queue;
    this.last = result;
    this.transitions.push(...result.transitions);
    for (const entry of result.ended) this.ended.set(entry.prNumber, entry);
    for (const candidate of result.endedCandidates) {
      this.endedCandidates.set(candidate.number, candidate);
      if (!this.endings.has(candidate.number)) this.endings.set(candidate.number, candidate);
    }
    assert.notEqual(result.outcome.kind, 'parked', result.outcome.kind === 'parked' ? result.outcome.detail : '');
    assert.equal(findBreachAnywhere(this.queue), undefined);
    this.#assertSettled(event.at);
    for (const effect of result.effects) this.#carryOut(effect);
    return result;
  }

  /** Planning again at the same instant must change nothing. */
  #assertSettled(at: number): void {
    const { transitions, effects } = step(this.queue, { kind: 'time_passed', at }, this.strategy);
    assert.deepEqual({ transitions, effects }, { transitions: [], effects: [] }, 'the plan was not complete');
  }

  get byAda(): { readonly at: number; readonly actor: string } {
    return { at: this.now, actor: 'ada' };
  }

  update(
    settings: Partial<QueueSettings>,
    state?: 'RUNNING' | 'PAUSED' | 'DRAINING',
    why: Pick<QueueUpdated, 'reason' | 'until'> = {},
  ): Step {
    return this.tell({ kind: 'queue_updated', ...this.byAda, settings, state, ...why });
  }

  facts(prNumber: PrNumber, changes: Partial<PullRequestFacts> = {}): PullRequestFacts {
    const title = `Change ${letter(prNumber)}`;
    const below = this.below.get(prNumber)?.map((number) => {
      const isMerged = findEntry(this.queue, number) === undefined && this.ended.get(number)?.state === 'MERGED';
      return { number, by: 'stated' as const, ...(isMerged ? { isMerged: true as const } : {}) };
    });
    const facts = { headSha: this.branch.headOf(prNumber), title, ...(below === undefined ? {} : { below }) };
    return aPullRequest(prNumber, { ...facts, ...changes });
  }

  submit(
    prNumber: PrNumber,
    more: {
      priority?: string;
      noBatch?: boolean;
      repair?: boolean;
      submitter?: Submitter;
      pr?: Partial<PullRequestFacts>;
    } = {},
  ): Step {
    return this.tell({
      kind: 'pull_request_submitted',
      ...this.byAda,
      entryId: `entry-${prNumber}` as EntryId,
      pr: this.facts(prNumber, more.pr),
      targets: this.targets.get(prNumber),
      priority: more.priority === undefined ? undefined : parsePriority(more.priority),
      noBatch: more.noBatch,
      ...present({ repair: more.repair, submitter: more.submitter }),
    });
  }

  reportCheck(
    candidate: CandidateNumber,
    check: {
      name?: string;
      reporter?: string;
      conclusion?: CheckConclusion;
      startedAt?: number;
      status?: CheckStatus;
      hasUploads?: true;
      summary?: string;
    },
  ): Step {
    const { status = 'COMPLETED' } = check;
    return this.tell({
      kind: 'check_reported',
      at: this.now,
      candidate,
      check: {
        name: check.name ?? 'ci',
        ...(check.reporter === undefined ? {} : { reporter: check.reporter }),
        status,
        conclusion: status === 'COMPLETED' ? (check.conclusion ?? 'SUCCESS') : undefined,
        startedAt: check.startedAt,
        ...(check.hasUploads === true && { hasUploads: true }),
        url: undefined,
        summary: check.summary,
      },
    });
  }

  /** An ended candidate comes with its record, as the shell sends it. */
  judgeCheck(candidate: CandidateNumber, { check, attempt, tests, isWaived, isLate, ...more }: JudgedCheck): Step {
    const isLive = getIn(this.queue.candidates, candidate) !== undefined;
    const ended = isLive ? undefined : this.endedCandidates.get(candidate);
    return this.tell({
      kind: 'check_judged',
      at: this.now,
      candidate,
      check,
      attempt,
      isWaived,
      ...more,
      reason: isWaived ? 'All that failed are quarantined.' : 'Some that failed are not quarantined.',
      tests: tests.map((name) => ({ id: name, name, ...(isWaived ? {} : { why: 'It is not quarantined.' }) })),
      failing: tests.length,
      ...(ended === undefined ? {} : { ended }),
      ...(isLate === true && {
        landed: [...this.ended.values()].filter((each) => each.landed?.candidate === candidate),
      }),
    });
  }

  observe(prNumber: PrNumber, changes: Partial<PullRequestFacts>): Step {
    const pr = this.facts(prNumber, changes);
    return this.tell({ kind: 'pull_request_observed', at: this.now, prNumber, pr, targets: undefined });
  }

  observeTarget(isDescendant = true): void {
    const { heads: since } = this.queue;
    this.tell({ kind: 'target_observed', at: this.now, head: this.branch.head, since, isDescendant });
  }

  #carryOut(effect: Effect): void {
    switch (effect.kind) {
      case 'build_candidate':
        return this.forge.build(effect.candidate);
      case 'start_checks':
        // A candidate that ended in the step that requested its checks has no run.
        if (getIn(this.queue.candidates, effect.candidate) !== undefined)
          this.runs.push(this.#labelOf(effect.candidate));
        return;
      case 'land_candidate':
        return this.forge.land(effect.candidate);
      case 'raise_alarm':
        this.alarms.push(effect.code);
        return;
      case 'judge_check':
        this.judgements.push(effect);
        this.asked.push(`${this.#labelOf(effect.candidate)} ${effect.check}`);
        return;
      case 'review_required': {
        const { candidate } = effect;
        return void this.tell({ kind: 'required_reviewed', at: this.now, candidate, sources: this.sources });
      }
      case 'readmit_entry':
        return void this.#readmit(effect.prNumber, effect.submission);
      case 'end_alarm':
        this.endedAlarms.push(effect.code);
        return;
      case 'compute_targets':
        this.laneQuestions.push(letter(effect.prNumber));
        return;
      case 'review_lanes':
        this.laneQuestions.push('review');
        return;
      case 'read_line':
      case 'discard_candidate':
      case 'update_page':
        return;
    }
  }

  #readmit(prNumber: PrNumber, submission: number): Step {
    const pr = this.facts(prNumber, this.closed.has(prNumber) ? { status: 'closed' } : {});
    const targets = this.targets.get(prNumber);
    return this.tell({ kind: 'removed_pull_request_observed', at: this.now, prNumber, submission, pr, targets });
  }

  /** The newest live candidate with this label. */
  candidate(label: string): Candidate {
    const found = this.candidates().findLast((candidate) => this.label(candidate) === label);
    if (found === undefined) throw new Error(`there is no candidate ${label}`);
    return found;
  }

  /** Live candidates: the line front first, then bisections, then tests of the head. */
  candidates(): Candidate[] {
    const others = [...valuesOf(this.queue.candidates)].filter(({ purpose }) => purpose.kind !== 'main');
    const rank = ({ purpose }: Candidate) => Number(purpose.kind === 'head');
    return [...lineOf(this.queue), ...others.sort((a, b) => rank(a) - rank(b) || a.number - b.number)];
  }

  underTest(): string[] {
    return this.candidates()
      .filter(isUnderTest)
      .map((candidate) => this.label(candidate));
  }

  label(candidate: Candidate): string {
    const { members, purpose } = candidate;
    if (purpose.kind === 'head') return this.#labelOfHead(candidate.base.sha);
    if (purpose.kind === 'repair') return `!${namesOf(members)}`;
    if (candidate.question !== undefined && members.length === 0) return '?HEAD';
    if (purpose.kind === 'bisection')
      return `${candidate.question === undefined ? '~' : '?'}${[namesOf(candidate.beneath), namesOf(members)].filter(Boolean).join('+')}`;
    const groups: string[] = [];
    let before: number | undefined;
    for (const member of candidate.beneath) {
      const live = findLiveMember(this.queue, member);
      if (live === undefined) continue;
      const own = candidateNumberOf(live);
      if (own !== undefined && own === before) groups.push(`${groups.pop()}${letter(member.prNumber)}`);
      else groups.push(letter(member.prNumber));
      before = own;
    }
    return [...groups, namesOf(members)].join('+');
  }

  /** The test of a former head, which ends with A, is `HEAD~A`. */
  #labelOfHead(sha: string): string {
    const isFormer = this.queue.hold?.breakage !== undefined && sha !== this.queue.head?.sha;
    return isFormer ? `HEAD~${shaToHistory(sha).at(-1)}` : 'HEAD';
  }

  #labelOf(number: CandidateNumber): string {
    const known = getIn(this.queue.candidates, number) ?? this.endedCandidates.get(number);
    return known === undefined ? String(number) : this.label(known);
  }

  trailOf(name: string): Transition[] {
    return this.transitions.filter(({ prNumber }) => prNumber === numberOf(name));
  }

  lastOf(name: string): Transition | undefined {
    return this.transitions.findLast(({ prNumber }) => prNumber === numberOf(name));
  }

  stateOf(name: string): EntryState | undefined {
    const prNumber = numberOf(name);
    return findEntry(this.queue, prNumber)?.state ?? this.ended.get(prNumber)?.state;
  }
}

function phrasesOf(text: string): string[][] {
  return text
    .split(';')
    .map((phrase) => phrase.trim())
    .filter((phrase) => phrase !== '')
    .map((phrase) => phrase.split(/\s+/));
}

function verbOf<T>(verbs: { readonly [verb: string]: T }, [verb = '']: readonly string[]): T {
  const found = verbs[verb];
  if (found === undefined) throw new Error(`"${verb}" is not one of ${Object.keys(verbs).join(', ')}`);
  return found;
}

function namesOf(members: Candidate['members']): string {
  return members.map(({ prNumber }) => letter(prNumber)).join('');
}
