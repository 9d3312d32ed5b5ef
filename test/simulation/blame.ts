import { type Candidate, contains, failedChecks } from '../../src/engine/model/candidate.ts';
import type { PrNumber } from '../../src/engine/model/pull-request.ts';
import { type Entry, findLiveMember, type Queue } from '../../src/engine/model/queue.ts';
import { composedWithOf } from '../../src/engine/model/roster.ts';
import { getIn } from '../../src/lib/int-map.ts';
import type { Sha } from '../../src/lib/sha.ts';
import type { CheckRecord } from '../fake/check-record.ts';
import type { Files } from '../fake/git-model.ts';
import { redCauses } from '../fake/is-green.ts';
import type { Chapter, Chronicle } from './chronicle.ts';

/** The truth about the world, independent of what the queue knows. */
export interface Truth {
  /** The files that a run tested; undefined if they are no longer known. */
  filesOfRun(run: Candidate): Files | undefined;
  /** The files of the target branch at this commit. */
  filesOfHead(sha: Sha): Files | undefined;
  /** The paths that a pull request changes at this commit; undefined if they are no longer known. */
  ownPaths(head: Sha, base: Sha): ReadonlySet<string> | undefined;
  /** Whether merging it into this head of the target branch conflicts. */
  conflicts(head: Sha, base: Sha, method: Candidate['mergeMethod'] | undefined): boolean | undefined;
  readonly record: CheckRecord;
  /** The pull request is open and has this head. */
  isStillThere(prNumber: PrNumber, head: Sha): boolean;
  /** Some red trees pass. */
  readonly isBlind: boolean;
}

/** Ends of a check that say nothing about its commit. */
const LIES = ['flaked', 'cutOff', 'brokeDown'] as const;

/** The facts that the queue could know about a failure. */
interface Circumstances {
  /** Two others failed in the same way just before, on the same head. */
  readonly isThird: boolean;
  /** The head on which it was tested without any other unlanded entry. */
  readonly head: Sha | undefined;
  /** A bisection tested it on a head that a push has replaced since. */
  readonly isLeft: boolean;
}

interface Removal {
  readonly prNumber: PrNumber;
  readonly checks: readonly string[];
}

/** The broken promise when an innocent entry is removed, by what misled the queue. */
export const WRONGS = {
  innocent: 'nobody innocent is removed',
  searched: 'nobody is removed by a search on a broken head',
  required: 'nobody is removed because what is required is gone',
  returned: 'whoever was removed for a red head returns when that is found out',
  excess: 'no more are removed on a broken head than it takes to suspect it',
} as const;
type Wrong = keyof typeof WRONGS;

export interface Finding {
  readonly invariant: (typeof WRONGS)[Wrong];
  readonly text: string;
}

/**
 * After two similar failures the head is suspected. No further entry may be removed before the head was tested by
 * itself.
 */
const REMOVED_BEFORE_SUSPICION = 2;
/** This many removals make the head suspect even if they differ. */
const REMOVED_IN_ANY_WAY = 4;
/** A run that was cut off is tried again this often. */
const MAX_TRIES = 2;
const BY_TESTS = ['TEST_RUN_REQUIRED_STATUS_FAILED', 'TEST_RUN_TIMEOUT', 'TEST_RUN_FAILED_BY_OPTIMIZATION'];

/**
 * Judges every removal. An entry is innocent if its changes make nothing red. On a head that is red by itself, or
 * during a CI outage, the queue may wrongly remove as many entries as it takes to suspect the head, and no more.
 */
export class Jury {
  readonly #chronicle: Chronicle;
  readonly #truth: Truth;
  /** Innocent entries that were removed, by the head they were tested on. */
  readonly #wronged = new Map<Sha, Set<PrNumber>>();
  /** Innocent entries that could not be tested because nothing is required any more. */
  readonly #unstarted = new Map<Sha, Set<PrNumber>>();
  /** Removals after a test alone on a head, in order. */
  readonly #rows = new Map<Sha, Removal[]>();
  readonly #findings: Finding[] = [];
  /** Innocent entries that were removed for a fault of the head or of CI. */
  readonly #victims: { readonly run: Candidate; readonly submission: number }[] = [];

  constructor(chronicle: Chronicle, truth: Truth) {
    this.#chronicle = chronicle;
    this.#truth = truth;
  }

  /** The wrong removals of this chapter. */
  judge(chapter: Chapter): readonly Finding[] {
    this.#forgetWhereReleased(chapter);
    if (chapter.event.kind === 'removed_pull_request_observed') this.#forget(chapter.event.prNumber);
    for (const entry of chapter.step.ended) {
      const wrong = entry.state === 'FAILED' ? this.#judge(chapter, entry) : undefined;
      if (wrong !== undefined) this.#add('innocent', entry, wrong);
    }
    return this.#findings.splice(0);
  }

  /** The entry returned, so its removal no longer counts against the head. */
  #forget(prNumber: PrNumber): void {
    for (const wronged of [...this.#wronged.values(), ...this.#unstarted.values()]) wronged.delete(prNumber);
    for (const [head, row] of this.#rows) {
      this.#rows.set(
        head,
        row.filter((other) => other.prNumber !== prNumber),
      );
    }
  }

  /** At the end, a head that failed by itself must have returned every entry removed for it. */
  judgeReturns(): readonly Finding[] {
    for (const { run, submission } of this.#victims) {
      const entry = this.#chronicle.stays.get(submission)?.entry;
      const isOut = entry?.state === 'FAILED' && entry.because.candidate === run.number;
      if (!isOut || !this.#truth.isStillThere(entry.prNumber, entry.pr.headSha)) continue;
      const isReplaced = [...this.#chronicle.stays].some(
        ([number, other]) => number > submission && other.entry.prNumber === entry.prNumber,
      );
      const test = this.#findRedTest(run, entry.because.checks ?? []);
      if (test !== undefined && !isReplaced)
        this.#add('returned', entry, `run ${test.number} found the head red since`);
    }
    return this.#findings.splice(0);
  }

  /** A failed test of the head by itself, after the run and by the same checks, before any test that passed. */
  #findRedTest({ number, base }: Candidate, checks: readonly string[]): Candidate | undefined {
    const tests = [...this.#chronicle.candidates.values()].filter(
      (other) => other.purpose.kind === 'head' && other.base.sha === base.sha && other.number > number,
    );
    const isGreen = ({ pass }: Candidate) => pass !== undefined;
    const isRed = (test: Candidate) =>
      test.failure !== undefined &&
      test.ending?.reason !== 'TEST_RUN_REPEATED' &&
      checks.every((name) => knownToFail(test).includes(name));
    const telling = tests.sort((one, other) => one.number - other.number).find((test) => isGreen(test) || isRed(test));
    return telling !== undefined && isRed(telling) ? telling : undefined;
  }

  #add(wrong: Wrong, { prNumber }: Pick<Entry, 'prNumber'>, text: string): undefined {
    this.#findings.push({ invariant: WRONGS[wrong], text: `#${prNumber} is removed: ${text}` });
  }

  /** An operator resumed the queue on a red head, so later failures are judged anew. */
  #forgetWhereReleased({ before, step: { queue } }: Chapter): void {
    const head = before.head?.sha;
    if (before.hold === undefined || queue.hold !== undefined || head === undefined) return;
    this.#rows.delete(head);
    this.#wronged.delete(head);
    this.#unstarted.delete(head);
  }

  #judge({ before, step: { queue, endedCandidates } }: Chapter, entry: Entry): string | undefined {
    const { reason } = entry.because;
    const voucher = endedCandidates.find((other) => isTornDown(before, other, entry));
    if (voucher !== undefined && BY_TESTS.includes(reason)) return `run ${voucher.number} passed with it`;
    const isHeld = before.hold !== undefined && queue.hold !== undefined;
    if (isHeld && BY_TESTS.includes(reason)) return 'the target is known to be red';
    this.#breakRow(before, entry);
    switch (reason) {
      case 'TEST_RUN_REQUIRED_STATUS_FAILED':
      case 'TEST_RUN_TIMEOUT':
        return this.#judgeRun(before, entry);
      case 'TEST_RUN_FAILED_BY_OPTIMIZATION':
        return this.#judgeSet(entry);
      case 'START_TEST_RUN_NO_REQUIRED_STATUSES':
        return this.#judgeStart(entry);
      case 'START_TEST_RUN_MERGE_CONFLICT':
        return this.#judgeConflict(queue, entry);
      default:
        return undefined;
    }
  }

  #judgeRun(queue: Queue, entry: Entry): string | undefined {
    const { candidate, checks = [] } = entry.because;
    const run = candidate === undefined ? undefined : this.#chronicle.candidate(candidate);
    if (run?.commit === undefined) return 'no run is named';
    if (run.members.length !== 1 || run.members[0]?.submission !== entry.submission) {
      return `run ${run.number} tested ${run.members.map(({ prNumber }) => `#${prNumber}`).join(' ')}`;
    }
    const { sha } = run.commit;
    const isThird = this.#isThirdInARow(queue, run, checks);
    const head = testedAloneOn(queue, run);
    const isLeft =
      head !== undefined &&
      run.purpose.kind === 'bisection' &&
      run.base.ordinal < queue.pushedHead &&
      run.base.sha !== queue.head?.sha;
    if (checks.some((name) => this.#truth.record.names('brokeDown', sha).includes(name)))
      return this.#count(run, 'CI', { isThird, head, isLeft: false });
    if (entry.because.reason === 'TEST_RUN_TIMEOUT') return undefined;
    if (checks.some((name) => this.#truth.record.names('flaked', sha).includes(name))) return undefined;
    const isGreen = (name: string) => redCauses(this.#truth.filesOfRun(run) ?? new Map(), name).length === 0;
    if (checks.every((name) => isGreen(name) && this.#truth.record.names('cutOff', sha).includes(name))) {
      return run.tries >= MAX_TRIES ? undefined : `its checks were cut off after ${run.tries} other tries`;
    }
    return this.#isGuilty(run, entry, checks) ? undefined : this.#findExcuse(run, checks, { isThird, head, isLeft });
  }

  /** Its changes are part of what makes the tree of the run red. */
  #isGuilty(run: Candidate, entry: Entry, checks: readonly string[]): boolean {
    const files = this.#truth.filesOfRun(run);
    const own = this.#truth.ownPaths(entry.pr.headSha, run.base.sha);
    if (files === undefined || own === undefined) return true;
    // A rebase applies its commits again, also those that the target branch had and dropped.
    const base = run.beneath.length === 0 ? this.#truth.filesOfHead(run.base.sha) : undefined;
    const isOwn = (path: string) => own.has(path) || (base !== undefined && base.get(path) !== files.get(path));
    return checks.some((name) => redCauses(files, name).some((paths) => paths.some(isOwn)));
  }

  #findExcuse(run: Candidate, checks: readonly string[], of: Circumstances): string | undefined {
    const base = this.#truth.filesOfHead(run.base.sha);
    if (base === undefined || this.#truth.isBlind) return undefined;
    if (checks.some((name) => redCauses(base, name).length > 0)) return this.#count(run, 'the target', of);
    // An entry beneath passed by other checks, by a waiver, without what landed beside it, or beside another one beneath.
    const isLax = run.beneath.some(({ submission }) => !this.#hasPassedTruly(submission, checks, run));
    return isLax ? undefined : `nothing that it changes makes ${checks.join()} red in run ${run.number}`;
  }

  #hasPassedTruly(submission: number, checks: readonly string[], run: Candidate): boolean {
    const ahead = run.beneath.slice(
      0,
      run.beneath.findIndex((member) => member.submission === submission),
    );
    const isInLanes = this.#chronicle.queue.settings.mode === 'PARALLEL';
    const isOnAll = (pass: Candidate) =>
      !isInLanes || pass.base.sha !== run.base.sha || ahead.every(({ prNumber }) => contains(pass, prNumber));
    const passes = [...this.#chronicle.candidates.values()].filter(
      ({ pass, members }) => pass !== undefined && members.some((member) => member.submission === submission),
    );
    return passes.every(
      (candidate) =>
        candidate.pass?.waived === undefined &&
        (candidate.composedWith ?? []).length === 0 &&
        isOnAll(candidate) &&
        checks.every((name) => candidate.required?.names.includes(name) === true),
    );
  }

  /** No pull request can remove the branch protection. */
  #judgeStart(entry: Entry): string | undefined {
    const { candidate } = entry.because;
    const run = candidate === undefined ? undefined : this.#chronicle.candidate(candidate);
    if (run === undefined) return 'no run is named';
    const others = countWith(this.#unstarted, run.base.sha, run);
    return others < REMOVED_BEFORE_SUSPICION
      ? undefined
      : this.#add('required', entry, `so were ${others} others on ${run.base.sha.slice(0, 10)}`);
  }

  /** An innocent entry is removed because the head or CI is broken. */
  #count(run: Candidate, culprit: string, { isThird, head, isLeft }: Circumstances): undefined {
    const [member] = run.members;
    const commit = head ?? run.base.sha;
    if (member === undefined || this.#isCleared(commit)) return;
    if (head !== undefined) this.#victims.push({ run, submission: member.submission });
    const others = countWith(this.#wronged, commit, run);
    const text = `${culprit} is to blame, as for ${others} others on ${commit.slice(0, 10)}`;
    if (isLeft && !this.#hasLanded(run.base.sha)) this.#add('searched', member, `${text}, and somebody replaced it`);
    if (isThird) this.#add(run.purpose.kind === 'bisection' ? 'searched' : 'innocent', member, text);
    if (others >= REMOVED_IN_ANY_WAY) this.#add('excess', member, text);
  }

  /** The queue landed this commit after a test. */
  #hasLanded(sha: Sha): boolean {
    return [...this.#chronicle.stays.values()].some(({ entry }) => entry.landed?.pushedSha === sha);
  }

  /** An entry that could not be tested at all interrupts the row of failures. */
  #breakRow({ head }: Queue, { prNumber, because: { reason } }: Entry): void {
    if (head === undefined || !reason.startsWith('START_TEST_RUN_')) return;
    this.#rows.set(head.sha, [...(this.#rows.get(head.sha) ?? []), { prNumber, checks: [reason] }]);
  }

  /** Two others failed just before, alone on the same head, by a check that this one failed too. */
  #isThirdInARow(queue: Queue, run: Candidate, checks: readonly string[]): boolean {
    const head = testedAloneOn(queue, run);
    const prNumber = run.members[0]?.prNumber;
    if (head === undefined || prNumber === undefined) return false;
    const row = this.#rows.get(head) ?? [];
    this.#rows.set(head, [...row.filter((other) => other.prNumber !== prNumber), { prNumber, checks }]);
    const [first, second] = row.slice(-REMOVED_BEFORE_SUSPICION);
    if (first === undefined || second === undefined || row.some((other) => other.prNumber === prNumber)) return false;
    return checks.some((name) => first.checks.includes(name) && second.checks.includes(name));
  }

  /** The head was tested by itself since then and passed. */
  #isCleared(commit: Sha): boolean {
    return [...this.#chronicle.candidates.values()].some(
      ({ purpose, base, pass }) => purpose.kind === 'head' && base.sha === commit && pass !== undefined,
    );
  }

  /** A failed run contained it and failed because of it, or by a flake. */
  #judgeSet(entry: Entry): string | undefined {
    const runs = [...this.#chronicle.candidates.values()].filter(
      ({ failure, members, beneath }) =>
        failure !== undefined && [...members, ...beneath].some(({ submission }) => submission === entry.submission),
    );
    const justifies = (run: Candidate) => {
      const { commit, failure } = run;
      if (commit === undefined || failure === undefined || failure.reason === 'TEST_RUN_TIMEOUT') return true;
      const lies = LIES.flatMap((outcome) => this.#truth.record.names(outcome, commit.sha));
      if (failure.checks.some((name) => lies.includes(name))) return true;
      const base = this.#truth.filesOfHead(run.base.sha);
      const isBaseRed = base !== undefined && failure.checks.some((name) => redCauses(base, name).length > 0);
      return isBaseRed || this.#isGuilty(run, entry, failure.checks);
    };
    // The judgements of this world are random, so a waiver does not clear the others of the set's failure.
    const isExcused = [...this.#chronicle.candidates.values()].some(
      ({ purpose, pass }) => purpose.kind === 'bisection' && pass?.waived !== undefined,
    );
    return isExcused || runs.some(justifies) ? undefined : 'no run failed because of it';
  }

  #judgeConflict(queue: Queue, entry: Entry): string | undefined {
    const { candidate } = entry.because;
    const run = candidate === undefined ? undefined : this.#chronicle.candidate(candidate);
    const heads = [run?.base.sha, queue.head?.sha].filter((sha) => sha !== undefined);
    const answers = heads.map((sha) => this.#truth.conflicts(entry.pr.headSha, sha, run?.mergeMethod));
    return answers.includes(true) || answers.includes(undefined) ? undefined : 'it conflicts with no head';
  }
}

/** The other candidate had passed with the entry beneath it, and ended only because the entry leaves. */
function isTornDown({ settings, candidates }: Queue, other: Candidate, entry: Entry): boolean {
  const then = getIn(candidates, other.number);
  if (!settings.canOptimisticallyMerge || then?.state !== 'passed' || then.pass?.waived !== undefined) return false;
  // A pass in a bisection vouches for no entry.
  if (then.purpose.kind !== 'main') return false;
  const isInside = then.beneath.some(({ submission }) => submission === entry.submission);
  return isInside && other.ending?.prNumber === entry.prNumber;
}

/** The head on which a run tested one entry without any other unlanded entry. */
function testedAloneOn(queue: Queue, candidate: Candidate): Sha | undefined {
  const { purpose, base, beneath } = candidate;
  if (purpose.kind === 'bisection') return beneath.length === 0 ? base.sha : undefined;
  const isAlone = beneath.every((member) => findLiveMember(queue, member) === undefined);
  return isAlone && (candidate.composedWith ?? composedWithOf(queue, candidate)).length === 0
    ? queue.head?.sha
    : undefined;
}

/** Adds the members of a run. Returns how many others were removed on the same head. */
function countWith(wronged: Map<Sha, Set<PrNumber>>, commit: Sha, { members }: Candidate): number {
  const known = wronged.get(commit) ?? new Set();
  wronged.set(commit, known);
  for (const { prNumber } of members) known.add(prNumber);
  return known.size - members.length;
}

/** The checks that had failed for good when the run ended. Later judgements came too late. */
function knownToFail(run: Candidate): readonly string[] {
  const isLate = (name: string) => {
    const judgement = run.checks.find((check) => check.name === name)?.judgement;
    return judgement?.kind === 'judged' && judgement.at >= (run.endedAt ?? Number.POSITIVE_INFINITY);
  };
  return [...(run.failure?.checks ?? []), ...failedChecks(run).filter((name) => !isLate(name))];
}
