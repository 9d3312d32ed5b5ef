import assert from 'node:assert/strict';
import type { Candidate, CandidateNumber, LandedKind } from '../../src/engine/candidate.ts';
import { compositionOf, isUnderTest } from '../../src/engine/candidate.ts';
import type { CheckConclusion, CheckStatus } from '../../src/engine/check.ts';
import type { Effect } from '../../src/engine/effect.ts';
import type { LandingStop, QueueEvent } from '../../src/engine/event.ts';
import { findBreachAnywhere } from '../../src/engine/invariants.ts';
import { entriesInOrder } from '../../src/engine/order.ts';
import { parsePriority } from '../../src/engine/priority.ts';
import type { PrNumber, PullRequestFacts } from '../../src/engine/pull-request.ts';
import {
  createQueue,
  type Entry,
  type EntryId,
  type EntryState,
  findEntry,
  findLiveMember,
  type Queue,
} from '../../src/engine/queue.ts';
import type { ReasonCode } from '../../src/engine/reason.ts';
import type { RequiredSources, StartProblem } from '../../src/engine/required.ts';
import { lineOf } from '../../src/engine/roster.ts';
import { DEFAULT_SETTINGS, type QueueSettings } from '../../src/engine/settings.ts';
import { type Step, step } from '../../src/engine/step.ts';
import { REFERENCE_STRATEGY, type Strategy } from '../../src/engine/strategy.ts';
import { ALL_TARGETS, type ImpactedTargets } from '../../src/engine/targets.ts';
import { nextWakeAt } from '../../src/engine/wake.ts';
import type { Transition } from '../../src/engine/work.ts';
import { getIn, valuesOf } from '../../src/lib/int-map.ts';
import type { Sha } from '../../src/lib/sha.ts';
import { aPullRequest } from '../helpers/a-pull-request.ts';
import {
  letter,
  numberOf,
  optionOf,
  pairsOf,
  parseDuration,
  parseReporter,
  parseSettings,
  parseStatus,
  parseTargets,
  STATES,
  shaToHistory,
  suffix,
  treeName,
} from './words.ts';

export const NOON = Date.UTC(2026, 8, 17, 12);

interface JudgedCheck {
  readonly check: string;
  readonly attempt: number | undefined;
  readonly tests: readonly string[];
  readonly isWaived: boolean;
}

/**
 * Plays a story on a queue, line by line: acts, and expectations about the state after them. Pull requests are letters.
 * A candidate is written by its composition: `A+B` is B on top of A, `AB+CD` is the batch CD on top of the batch AB.
 * Landed entries are left out. A candidate of a bisection is written `~AB`, the test of the head `HEAD`.
 *
 * Git and landings answer at once unless the story holds them. CI answers only when the story says so.
 */
export class Scenario {
  queue: Queue;
  now = NOON;
  readonly events: QueueEvent[] = [];
  readonly transitions: Transition[] = [];
  readonly steps: Step[] = [];
  readonly ended = new Map<number, Entry>();
  readonly endedCandidates = new Map<number, Candidate>();
  readonly alarms: string[] = [];
  readonly endedAlarms: string[] = [];
  readonly #closed = new Set<PrNumber>();
  /** The commits of the target branch as letters, oldest first. `M` is the first one. */
  readonly history: string[] = ['M'];
  /** The tested tree of every CI run. */
  readonly runs: string[] = [];
  /** The candidate and check of every requested judgement. */
  readonly asked: string[] = [];
  sources: RequiredSources = { file: undefined, fileProblem: undefined, protection: ['ci'], commands: '' };
  readonly #heads = new Map<number, number>();
  readonly #conflicts: [string, string][] = [];
  /** Pull requests that change nothing. The tree is the same with and without them. */
  readonly #empty = new Set<string>();
  readonly #targets = new Map<number, ImpactedTargets>();
  readonly #landings: Effect[] = [];
  readonly #builds: Effect[] = [];
  #areLandingsHeld = false;
  #areLandingsAwaited = false;
  #areBuildsHeld = false;
  #landingKind: LandedKind | undefined;
  last: Step | undefined;

  readonly strategy: Strategy;

  constructor(settings: Partial<QueueSettings> = {}, strategy: Partial<Strategy> = {}) {
    this.strategy = { ...REFERENCE_STRATEGY, ...strategy };
    this.queue = createQueue('main', { ...DEFAULT_SETTINGS, concurrency: 4, ...settings }, 'RUNNING');
    this.#observeTarget();
  }

  /** Plays a story with one act or expectation a line. `#` begins a comment. */
  play(story: string): this {
    for (const [index, raw] of story.split('\n').entries()) {
      const line = raw.replace(/#.*$/, '').trim();
      if (line === '') continue;
      try {
        this.#playLine(line);
      } catch (error) {
        const detail = error instanceof Error ? error.message : String(error);
        throw new Error(`line ${index + 1}, "${line}": ${detail}\n${this.describe()}`, { cause: error });
      }
    }
    return this;
  }

  /** The state of the queue, for the message of a failed test. */
  describe(): string {
    const entries = [...valuesOf(this.queue.entries)].map((e) => `${letter(e.prNumber)}=${e.state}`).join(' ');
    const line = [...valuesOf(this.queue.candidates)].map((c) => `${c.number}:${this.label(c)}(${c.state})`).join(' ');
    return `entries: ${entries}\ncandidates: ${line}\ntarget: ${this.history.join('+')}`;
  }

  #playLine(line: string): void {
    const [verb = '', ...words] = line.split(/\s+/);
    if (EXPECTATIONS.has(verb)) this.#expect(verb, words);
    else this.#act(verb, words);
  }

  #act(verb: string, words: readonly string[]): void {
    const prs = () => words.map(numberOf);
    switch (verb) {
      case 'submit':
        return this.#submitAll(words);
      case 'set':
        return void this.update(parseSettings(words));
      case 'pause':
        return void this.update({}, 'PAUSED');
      case 'resume':
        return void this.update({}, 'RUNNING');
      case 'drain':
        return void this.update({}, 'DRAINING');
      case 'pass':
        return this.#report(words, 'SUCCESS');
      case 'fail':
        return this.#report(words, 'FAILURE');
      case 'cut':
        return this.#report(words, 'CANCELLED');
      case 'cancel':
        for (const prNumber of prs()) this.tell({ kind: 'pull_request_cancelled', ...this.#act_(), prNumber });
        return;
      case 'restart':
        for (const prNumber of prs()) this.tell({ kind: 'tests_restart_requested', ...this.#act_(), prNumber });
        return;
      case 'push':
        for (const prNumber of prs()) this.#push(prNumber);
        return;
      case 'close':
        for (const prNumber of prs()) this.#closed.add(prNumber);
        return this.#observeAll(prs(), { status: 'closed' });
      case 'draft':
        return this.#observeAll(prs(), { status: 'draft' });
      case 'retarget':
        return this.#observeAll(prs(), { baseBranch: 'next' });
      case 'block':
        return this.#observeAll(prs(), { mergeability: 'NOT_MERGEABLE', blockReasons: ['reviewRequired'] });
      case 'ready':
        return this.#observeAll(prs(), {});
      case 'merge':
        return this.#mergeByHand(prs());
      case 'foreign':
        return this.#foreign(words[0] ?? 'X');
      case 'rewind':
        return this.#rewind(words[0] ?? 'X');
      case 'conflict':
        return void this.#conflicts.push([words[0] as string, words[1] as string]);
      case 'targets':
        return this.#setTargets(words);
      case 'wait':
        return this.#wait(words[0] as string);
      case 'hold':
        return this.#hold(words[0], true);
      case 'release':
        return this.#hold(words[0], false);
      case 'refuse':
        return this.#refuse(words);
      case 'land-as':
        this.#landingKind = words[0] as LandedKind;
        return;
      default:
        return this.#actRarely(verb, words);
    }
  }

  #actRarely(verb: string, words: readonly string[]): void {
    const [first = '', second = ''] = words;
    switch (verb) {
      case 'report':
        return this.#reportAs(words);
      case 'waive':
        return void this.judgeCheck(this.#find(first).number, { ...this.#judged(words), isWaived: true });
      case 'deny':
        return void this.judgeCheck(this.#find(first).number, { ...this.#judged(words), isWaived: false });
      case 'lose':
        return void this.#loseChecks(first, 'runner_lost');
      case 'interrupt':
        return void this.#loseChecks(first, 'server_restarted');
      case 'unbuildable':
        return this.#makeUnbuildable(first, second as StartProblem);
      case 'untrusted':
        this.#heads.set(numberOf(first), (this.#heads.get(numberOf(first)) ?? 1) + 1);
        return void this.observe(numberOf(first), { isHeadUntrusted: true });
      case 'vanish':
        return void this.#vanish(numberOf(first));
      case 'merge-elsewhere':
        return void this.observe(numberOf(first), { status: 'merged', baseBranch: 'next' });
      case 'stop':
        return this.#stop(words);
      case 'sources':
        return this.#setSources(words);
      case 'empty':
        for (const name of words) this.#empty.add(name);
        return;
      case 'clock':
        this.now += parseDuration(first);
        return;
      case 'tick':
        return void this.tell({ kind: 'time_passed', at: this.now });
      case 'gone':
        return this.#loseTarget();
      case 'again':
        return void this.tell(this.events.at(-1) as QueueEvent);
      default:
        throw new Error(`nobody knows what "${verb}" means`);
    }
  }

  /** `report A+B FAILURE by=lint started=-5m`: one delivery of a check; also `RUNNING` and `QUEUED`. */
  #reportAs(words: readonly string[]): void {
    const [label = '', what = ''] = words;
    const started = optionOf(words, 'started');
    this.reportCheck(this.#find(label).number, {
      name: optionOf(words, 'by') ?? 'ci',
      ...(started === undefined ? {} : { startedAt: this.now + parseDuration(started) }),
      ...(what === 'RUNNING' ? { status: 'IN_PROGRESS' } : {}),
      ...(what === 'QUEUED' ? { status: 'QUEUED' } : {}),
      ...(what === 'RUNNING' || what === 'QUEUED' ? {} : { conclusion: what as CheckConclusion }),
    });
  }

  /** `waive A+B tests=t1,t2 by=lint started=-5m`, and `deny` likewise: the judgement of a failure. */
  #judged(words: readonly string[]): Omit<JudgedCheck, 'isWaived'> {
    const started = optionOf(words, 'started');
    return {
      check: optionOf(words, 'by') ?? 'ci',
      attempt: started === undefined ? undefined : this.now + parseDuration(started),
      tests: (optionOf(words, 'tests') ?? 't').split(','),
    };
  }

  /** An ended candidate comes with its record, as the shell sends it. */
  judgeCheck(candidate: CandidateNumber, { check, attempt, tests, isWaived }: JudgedCheck): Step {
    const isLive = getIn(this.queue.candidates, candidate) !== undefined;
    const ended = isLive ? undefined : this.endedCandidates.get(candidate);
    return this.tell({
      kind: 'check_judged',
      at: this.now,
      candidate,
      check,
      attempt,
      isWaived,
      reason: isWaived ? 'All that failed are quarantined.' : 'Some that failed are not quarantined.',
      tests: tests.map((name) => ({ id: name, name, ...(isWaived ? {} : { why: 'It is not quarantined.' }) })),
      failing: tests.length,
      ...(ended === undefined ? {} : { ended }),
    });
  }

  #loseChecks(label: string, cause: 'runner_lost' | 'server_restarted'): Step {
    return this.tell({ kind: 'checks_lost', at: this.now, candidate: this.#find(label).number, cause });
  }

  #makeUnbuildable(label: string, reason: StartProblem): void {
    const candidate = this.#find(label).number;
    this.tell({ kind: 'candidate_unbuildable', at: this.now, candidate, reason, detail: 'no' });
  }

  #vanish(prNumber: PrNumber): Step {
    return this.tell({ kind: 'pull_request_observed', at: this.now, prNumber, pr: undefined, targets: undefined });
  }

  /**
   * `sources file=lint,unit protection=ci commands=v2 problem=START_TEST_RUN_...`. Parts that are not named are unset.
   */
  #setSources(words: readonly string[]): void {
    this.sources = {
      file: optionOf(words, 'file')?.split(',').filter(Boolean).map(parseStatus),
      fileProblem: optionOf(words, 'problem') as StartProblem | undefined,
      protection: optionOf(words, 'protection')?.split(',').map(parseStatus),
      commands: optionOf(words, 'commands') ?? '',
    };
  }

  #loseTarget(): void {
    const { heads } = this.queue;
    this.tell({ kind: 'target_observed', at: this.now, head: undefined, since: heads, isDescendant: false });
  }

  /** A landing waits for the story to end it. */
  get isLandingHeld(): boolean {
    return this.#landings.length > 0;
  }

  tell(event: QueueEvent): Step {
    const result = step(this.queue, event, this.strategy);
    this.events.push(event);
    this.steps.push(result);
    this.queue = result.queue;
    this.last = result;
    this.transitions.push(...result.transitions);
    for (const entry of result.ended) this.ended.set(entry.prNumber, entry);
    for (const candidate of result.endedCandidates) this.endedCandidates.set(candidate.number, candidate);
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

  update(settings: Partial<QueueSettings>, state?: 'RUNNING' | 'PAUSED' | 'DRAINING'): Step {
    return this.tell({ kind: 'queue_updated', ...this.#act_(), settings, state });
  }

  facts(prNumber: PrNumber, changes: Partial<PullRequestFacts> = {}): PullRequestFacts {
    const title = `Change ${letter(prNumber)}`;
    return aPullRequest(prNumber, { headSha: this.#headOf(prNumber), title, ...changes });
  }

  submit(
    prNumber: PrNumber,
    more: { priority?: string; noBatch?: boolean; repair?: boolean; pr?: Partial<PullRequestFacts> } = {},
  ): Step {
    return this.tell({
      kind: 'pull_request_submitted',
      ...this.#act_(),
      entryId: `entry-${prNumber}` as EntryId,
      pr: this.facts(prNumber, more.pr),
      targets: this.#targets.get(prNumber),
      priority: more.priority === undefined ? undefined : parsePriority(more.priority),
      noBatch: more.noBatch,
      ...(more.repair === undefined ? {} : { repair: more.repair }),
    });
  }

  /**
   * Words: `A`, `A[x,y]`, `A[]`, `A[ALL]`. The words `urgent`, `high`, `low`, `nobatch`, `repair`, `unready` and
   * numbers apply to all of them.
   */
  #submitAll(words: readonly string[]): void {
    const isPr = (word: string) => /^[A-Z](\[.*\])?$/.test(word);
    const options = words.filter((word) => !isPr(word));
    const priority = options.find((word) => parsePriority(word) !== undefined);
    for (const word of words.filter(isPr)) {
      const prNumber = numberOf(word);
      const targets = parseTargets(word);
      if (targets !== undefined) this.#targets.set(prNumber, targets);
      this.submit(prNumber, {
        ...(priority === undefined ? {} : { priority }),
        ...(options.includes('nobatch') ? { noBatch: true } : {}),
        ...(options.includes('repair') ? { repair: true } : {}),
        pr: {
          ...(options.includes('unready') ? { mergeability: 'IN_PROGRESS' } : {}),
          ...this.#upToDate(prNumber, options),
        },
      });
    }
  }

  /**
   * `uptodate`: its head contains the head of the target branch and has passed `ci`. `passed=a,b`: it has passed these
   * checks. `on=M`: it contains that head. `tree=x`: its tree differs from the one that would be built.
   */
  #upToDate(prNumber: PrNumber, options: readonly string[]): Partial<PullRequestFacts> {
    if (!options.includes('uptodate')) return {};
    const on = optionOf(options, 'on');
    const targetHead = on === undefined ? this.#head() : (`head:${on}` as Sha);
    const tree = (optionOf(options, 'tree') ?? this.#treeName([...this.history, letter(prNumber)])) as Sha;
    return {
      upToDate: { targetHead, tree, passedChecks: (optionOf(options, 'passed') ?? 'ci').split(',').map(parseStatus) },
    };
  }

  #report(words: readonly string[], conclusion: CheckConclusion): void {
    const check = words.find((word) => word.startsWith('by='))?.slice(3) ?? 'ci';
    for (const label of words.filter((word) => !word.startsWith('by='))) {
      this.reportCheck(this.#find(label).number, { ...parseReporter(check), conclusion });
    }
  }

  reportCheck(
    candidate: CandidateNumber,
    check: { name?: string; app?: string; conclusion?: CheckConclusion; startedAt?: number; status?: CheckStatus },
  ): Step {
    const { status = 'COMPLETED' } = check;
    return this.tell({
      kind: 'check_reported',
      at: this.now,
      candidate,
      check: {
        name: check.name ?? 'ci',
        ...(check.app === undefined ? {} : { app: check.app }),
        status,
        conclusion: status === 'COMPLETED' ? (check.conclusion ?? 'SUCCESS') : undefined,
        startedAt: check.startedAt,
        url: undefined,
        summary: undefined,
      },
    });
  }

  /** The newest candidate with this label; `#5` finds it by number. */
  #find(label: string): Candidate {
    const found = this.candidates().findLast((candidate) => this.label(candidate) === label);
    if (found === undefined) throw new Error(`there is no candidate ${label}`);
    return found;
  }

  candidate(label: string): Candidate {
    return this.#find(label);
  }

  /** Live candidates: the line front first, then bisections, then tests of the head. */
  candidates(): Candidate[] {
    const others = [...valuesOf(this.queue.candidates)].filter(({ purpose }) => purpose.kind !== 'main');
    const rank = ({ purpose }: Candidate) => Number(purpose.kind === 'head');
    return [...lineOf(this.queue), ...others.sort((a, b) => rank(a) - rank(b) || a.number - b.number)];
  }

  label(candidate: Candidate): string {
    if (candidate.purpose.kind === 'head') return 'HEAD';
    if (candidate.purpose.kind === 'repair') return `!${letter(candidate.members[0]?.prNumber as PrNumber)}`;
    const isLive = (member: (typeof candidate.members)[number]) => findLiveMember(this.queue, member) !== undefined;
    const isBisection = candidate.purpose.kind === 'bisection';
    const beneath = candidate.beneath.filter((member) => isBisection || isLive(member));
    const groups: string[] = [];
    let before: number | undefined;
    for (const member of beneath) {
      const own = findLiveMember(this.queue, member)?.candidate;
      if (own !== undefined && own === before) groups.push(`${groups.pop()}${letter(member.prNumber)}`);
      else groups.push(letter(member.prNumber));
      before = own;
    }
    groups.push(candidate.members.map(({ prNumber }) => letter(prNumber)).join(''));
    return `${isBisection ? '~' : ''}${isBisection ? joinBisection(candidate) : groups.join('+')}`;
  }

  #observeAll(prs: readonly PrNumber[], changes: Partial<PullRequestFacts>): void {
    for (const prNumber of prs) this.observe(prNumber, changes);
  }

  observe(prNumber: PrNumber, changes: Partial<PullRequestFacts>): Step {
    return this.tell({
      kind: 'pull_request_observed',
      at: this.now,
      prNumber,
      pr: this.facts(prNumber, changes),
      targets: undefined,
    });
  }

  #push(prNumber: PrNumber): void {
    this.#heads.set(prNumber, (this.#heads.get(prNumber) ?? 1) + 1);
    this.observe(prNumber, {});
  }

  #mergeByHand(prs: readonly PrNumber[]): void {
    for (const prNumber of prs) {
      this.history.push(letter(prNumber));
      this.observe(prNumber, { status: 'merged' });
      this.#observeTarget();
    }
  }

  #foreign(name: string): void {
    this.history.push(name);
    this.#observeTarget();
  }

  /** A force-push resets the branch to its first commit and then to something else. */
  #rewind(name: string): void {
    this.history.splice(0, this.history.length, name);
    this.#observeTarget(false);
  }

  #observeTarget(isDescendant = true): void {
    this.tell({
      kind: 'target_observed',
      at: this.now,
      head: this.#head(),
      since: this.queue.heads,
      isDescendant,
    });
  }

  #setTargets(words: readonly string[]): void {
    for (const word of words) {
      const prNumber = numberOf(word);
      const targets = parseTargets(word) ?? ALL_TARGETS;
      this.#targets.set(prNumber, targets);
      const sha = this.#headOf(prNumber);
      this.tell({ kind: 'impacted_targets_set', ...this.#act_(), prNumber, sha, targets });
    }
  }

  /** Advances the clock to each wake-up of the queue, as the shell does. */
  #wait(duration: string): void {
    const until = this.now + parseDuration(duration);
    for (;;) {
      const wakeAt = nextWakeAt(this.queue, this.now, this.strategy);
      if (wakeAt === undefined || wakeAt > until) break;
      this.now = Math.max(this.now, wakeAt);
      const before = this.queue;
      this.tell({ kind: 'time_passed', at: this.now });
      if (this.queue === before && nextWakeAt(this.queue, this.now, this.strategy) === wakeAt) break;
    }
    this.now = until;
    this.tell({ kind: 'time_passed', at: this.now });
  }

  #hold(what: string | undefined, isHeld: boolean): void {
    if (what === 'landings') this.#areLandingsHeld = isHeld;
    else if (what === 'landers') this.#areLandingsAwaited = isHeld;
    else if (what === 'builds') this.#areBuildsHeld = isHeld;
    else throw new Error(`${what} cannot be held`);
    if (isHeld) return;
    const waiting = what === 'landings' ? this.#landings : this.#builds;
    for (const effect of waiting.splice(0)) this.#carryOut(effect);
  }

  /** `refuse moved X`, `refuse A PR_UPDATED_AT_MERGE_TIME`, `refuse composition`: ends the held landing. */
  #refuse(words: readonly string[]): void {
    const landing = this.#landings.shift();
    if (landing?.kind !== 'land_candidate') throw new Error('no landing is held');
    const [what = '', detail = ''] = words;
    if (what === 'moved') this.history.push(detail);
    this.tell({
      kind: 'landing_refused',
      at: this.now,
      candidate: landing.candidate,
      problem:
        what === 'moved'
          ? { kind: 'target_moved', head: this.#head(), isDescendant: true }
          : what === 'composition'
            ? { kind: 'not_composable' }
            : { kind: 'entry_refused', prNumber: numberOf(what), reason: detail as never },
    });
  }

  /**
   * A merge API stops half-way. `stop AB`: after these, without a reason. `stop A refused B WHY`: the forge refused B.
   * `stop A moved X`: X was pushed outside the queue. `stop A strayed B X`: B was merged onto a pushed X. `stop -`:
   * before anything landed.
   */
  #stop([names = '', ...why]: readonly string[]): void {
    const landing = this.#landings.shift();
    if (landing?.kind !== 'land_candidate') throw new Error('no landing is held');
    const base = this.#head();
    const members = compositionOf(this.#live(landing.candidate));
    const partOf = (name: string) =>
      `${name}${suffix(members.find(({ prNumber }) => prNumber === numberOf(name))?.headSha ?? '')}`;
    const entries = [...names.replace('-', '')].map((name) => ({
      prNumber: numberOf(name),
      ...this.#put(partOf(name)),
    }));
    const { sha: pushedSha, tree: pushedTree } = entries.at(-1) ?? this.#put();
    const event = { kind: 'candidate_landed', at: this.now, candidate: landing.candidate, how: 'PREFIX' } as const;
    const stopped = this.#stopOf(why, partOf);
    this.tell({ ...event, base, pushedSha, pushedTree, entries, ...(stopped === undefined ? {} : { stopped }) });
  }

  #stopOf(why: readonly string[], partOf: (name: string) => string): LandingStop | undefined {
    const [kind, name = '', detail = ''] = why;
    const prNumber = numberOf(name);
    switch (kind) {
      case undefined:
        return undefined;
      case 'refused':
        return { kind: 'entry_refused', prNumber, reason: detail as ReasonCode, detail: 'No.' };
      case 'moved':
        return { kind: 'target_moved', head: this.#put(name).sha, isDescendant: true };
      default: {
        this.#put(detail);
        const { sha, tree } = this.#put(partOf(name));
        return { kind: 'strayed', prNumber, sha, tree, head: sha, isDescendant: true };
      }
    }
  }

  /** Adds parts to the target branch. */
  #put(...parts: readonly string[]): { readonly sha: Sha; readonly tree: Sha } {
    this.history.push(...parts);
    return { sha: this.#head(), tree: this.#treeName(this.history) };
  }

  #carryOut(effect: Effect): void {
    switch (effect.kind) {
      case 'build_candidate':
        if (this.#areBuildsHeld) this.#builds.push(effect);
        else this.#build(effect.candidate);
        return;
      case 'start_checks':
        // A candidate that ended in the step that requested its checks has no run.
        if (getIn(this.queue.candidates, effect.candidate) !== undefined)
          this.runs.push(this.#labelOf(effect.candidate));
        return;
      case 'land_candidate':
        if (this.#areLandingsAwaited) return;
        this.tell({ kind: 'landing_begun', at: this.now, candidate: effect.candidate });
        if (this.#areLandingsHeld) this.#landings.push(effect);
        else this.#land(effect.candidate);
        return;
      case 'raise_alarm':
        this.alarms.push(effect.code);
        return;
      case 'judge_check':
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
      case 'discard_candidate':
      case 'update_page':
        return;
    }
  }

  #readmit(prNumber: PrNumber, submission: number): Step {
    const pr = this.facts(prNumber, this.#closed.has(prNumber) ? { status: 'closed' } : {});
    const targets = this.#targets.get(prNumber);
    return this.tell({ kind: 'removed_pull_request_observed', at: this.now, prNumber, submission, pr, targets });
  }

  #labelOf(number: CandidateNumber): string {
    const known = getIn(this.queue.candidates, number) ?? this.endedCandidates.get(number);
    return known === undefined ? String(number) : this.label(known);
  }

  #live(number: CandidateNumber): Candidate {
    const found = [...valuesOf(this.queue.candidates)].find((candidate) => candidate.number === number);
    if (found === undefined) throw new Error(`candidate ${number} is not live`);
    return found;
  }

  #build(number: CandidateNumber): void {
    const candidate = [...valuesOf(this.queue.candidates)].find((other) => other.number === number);
    if (candidate === undefined) return;
    for (const [index, member] of candidate.members.entries()) {
      const culprit = this.#findConflict(candidate, index);
      if (culprit === undefined) continue;
      this.tell({
        kind: 'candidate_conflicted',
        at: this.now,
        candidate: number,
        prNumber: member.prNumber,
        culprit: culprit === 'main' ? undefined : numberOf(culprit),
      });
      return;
    }
    this.tell({
      kind: 'candidate_built',
      at: this.now,
      candidate: number,
      sha: `c${number}` as Sha,
      tree: this.treeOf(candidate),
      sources: this.sources,
    });
  }

  #findConflict(candidate: Candidate, index: number): string | undefined {
    const name = letter(candidate.members[index]?.prNumber as PrNumber);
    const ahead = [...candidate.beneath, ...candidate.members.slice(0, index)].map(({ prNumber }) => letter(prNumber));
    const base = shaToHistory(candidate.base.sha);
    for (const [one, other] of this.#conflicts) {
      if (one !== name) continue;
      if (other === 'main' || base.includes(other)) return 'main';
      if (ahead.includes(other)) return other;
    }
    return undefined;
  }

  /** The name of a tree depends on its contents and not on their order. */
  treeOf(candidate: Candidate): Sha {
    const base = shaToHistory(candidate.base.sha);
    const members = compositionOf(candidate).map((member) => `${letter(member.prNumber)}${suffix(member.headSha)}`);
    return this.#treeName([...base, ...members]);
  }

  #treeName(parts: readonly string[]): Sha {
    return treeName(parts.filter((part) => !this.#empty.has(part)));
  }

  #land(number: CandidateNumber): void {
    // Effects run at least once, so the landing may be answered already.
    if (this.queue.landing?.candidate !== number) return;
    const candidate = this.#live(number);
    const base = this.#head();
    if (this.queue.landing.expectedHead !== base) {
      const problem = { kind: 'target_moved', head: base, isDescendant: true } as const;
      this.tell({ kind: 'landing_refused', at: this.now, candidate: number, problem });
      return;
    }
    const entries = compositionOf(candidate).filter((member) => findLiveMember(this.queue, member) !== undefined);
    this.history.push(...entries.map((member) => `${letter(member.prNumber)}${suffix(member.headSha)}`));
    const pushedTree = this.#treeName(this.history);
    const isSame = pushedTree === candidate.commit?.tree;
    const how = this.#landingKind ?? (isSame ? 'SAME_TREE' : 'COMPOSED');
    this.tell({
      kind: 'candidate_landed',
      at: this.now,
      candidate: number,
      how,
      base,
      pushedSha: this.#head(),
      pushedTree,
      entries: entries.map(({ prNumber }) => ({ prNumber, sha: `l${prNumber}` as Sha, tree: pushedTree })),
    });
  }

  #head(): Sha {
    return `head:${this.history.join('+')}` as Sha;
  }

  #headOf(prNumber: PrNumber): Sha {
    const count = this.#heads.get(prNumber) ?? 1;
    return `${letter(prNumber)}@${count}` as Sha;
  }

  #act_(): { readonly at: number; readonly actor: string } {
    return { at: this.now, actor: 'ada' };
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

  #expect(verb: string, words: readonly string[]): void {
    switch (verb) {
      case 'testing':
        return assert.deepEqual(
          this.candidates()
            .filter(isUnderTest)
            .map((c) => this.label(c)),
          [...words],
        );
      case 'states':
        for (const word of words) {
          const [names = '', state] = word.split('=');
          for (const name of names) assert.equal(this.stateOf(name), STATES[state ?? ''] ?? state, `${name}`);
        }
        return;
      case 'why':
        for (const word of words) {
          const [name = '', reason] = word.split('=');
          assert.equal(this.lastOf(name)?.because.reason, reason, name);
        }
        return;
      case 'target':
        return assert.equal(this.history.join('+'), words[0]);
      case 'queue':
        return assert.equal(this.queue.state, words[0]);
      case 'alarm':
        return assert.deepEqual(this.alarms, [...words]);
      case 'over':
        return assert.deepEqual(this.endedAlarms, [...words]);
      case 'runs':
        return assert.deepEqual(this.runs, [...words]);
      case 'refused':
        return assert.equal(this.last?.outcome.kind === 'refused' ? this.last.outcome.code : undefined, words[0]);
      case 'ignored':
        return assert.equal(this.last?.outcome.kind, 'ignored');
      default:
        return this.#expectDetail(verb, words);
    }
  }

  #expectDetail(verb: string, words: readonly string[]): void {
    const [first = '', ...rest] = words;
    switch (verb) {
      case 'candidates':
        return assert.deepEqual(
          this.candidates().map((c) => `${this.label(c)}=${c.state}`),
          [...words],
        );
      case 'trail':
        return assert.deepEqual(
          this.trailOf(first)
            .map(({ because }) => because.reason)
            .slice(-rest.length),
          rest,
        );
      case 'path':
        return assert.deepEqual(
          this.trailOf(first)
            .map(({ to }) => to)
            .slice(-rest.length),
          rest.map((s) => STATES[s]),
        );
      case 'cause':
        for (const [name, cause] of pairsOf(words)) {
          const { prNumber } = this.lastOf(name)?.because ?? {};
          assert.equal(prNumber === undefined ? 'nobody' : letter(prNumber), cause, name);
        }
        return;
      case 'checks':
        for (const [name, checks] of pairsOf(words))
          assert.equal(this.lastOf(name)?.because.checks?.join(), checks, name);
        return;
      case 'proof':
        for (const [name, proof] of pairsOf(words)) assert.equal(this.#proofOf(name), proof, name);
        return;
      case 'aside':
        return assert.deepEqual(this.#asides(), [...words]);
      case 'order':
        return assert.deepEqual(
          entriesInOrder(this.queue).map(({ prNumber }) => letter(prNumber)),
          [...words],
        );
      case 'wake':
        return this.#expectWake(first);
      default:
        throw new Error(`nobody knows what "${verb}" means`);
    }
  }

  /** The kind of the landing and the entries it was composed with. */
  #proofOf(name: string): string {
    const landed = this.ended.get(numberOf(name))?.landed;
    return [landed?.kind ?? 'none', ...(landed?.composedWith ?? []).map(letter)].join('+');
  }

  /** `C=A`: C is set aside because of A. */
  #asides(): string[] {
    const entries = [...valuesOf(this.queue.entries)].filter(({ conflictsWith }) => conflictsWith !== undefined);
    return entries.map(({ prNumber, conflictsWith }) => `${letter(prNumber)}=${letter(conflictsWith as number)}`);
  }

  #expectWake(duration: string): void {
    const wakeAt = nextWakeAt(this.queue, this.now, this.strategy);
    const expected = duration === 'never' ? undefined : parseDuration(duration);
    assert.equal(wakeAt === undefined ? undefined : wakeAt - this.now, expected);
  }
}

const EXPECTATIONS = new Set([
  ...['testing', 'states', 'why', 'target', 'queue', 'alarm', 'over', 'runs', 'refused', 'ignored'],
  ...['candidates', 'trail', 'path', 'cause', 'checks', 'proof', 'aside', 'order', 'wake'],
]);

/** Plays a story on a new scenario. */
export function play(settings: Partial<QueueSettings>, story: string, strategy: Partial<Strategy> = {}): Scenario {
  return new Scenario(settings, strategy).play(story);
}

function joinBisection({ beneath, members }: Candidate): string {
  const names = (list: typeof members) => list.map(({ prNumber }) => letter(prNumber)).join('');
  return beneath.length === 0 ? names(members) : `${names(beneath)}+${names(members)}`;
}
