import assert from 'node:assert/strict';
import type { LandedKind } from '../../../src/engine/model/candidate.ts';
import type { CheckConclusion } from '../../../src/engine/model/check.ts';
import type { QueueEvent } from '../../../src/engine/model/event.ts';
import type { Answer } from '../../../src/engine/model/judgement.ts';
import { parsePriority } from '../../../src/engine/model/priority.ts';
import type { PrNumber, PullRequestFacts } from '../../../src/engine/model/pull-request.ts';
import { askedIn, probeNameOf } from '../../../src/engine/model/question.ts';
import { findEntry } from '../../../src/engine/model/queue.ts';
import type { StartProblem } from '../../../src/engine/model/required.ts';
import { ALL_TARGETS, computedAll } from '../../../src/engine/model/targets.ts';
import { nextWakeAt } from '../../../src/engine/wake.ts';
import { present } from '../../../src/lib/present.ts';
import type { Sha } from '../../../src/lib/sha.ts';
import { LANDING_ACTS } from './landing-acts.ts';
import type { JudgedCheck, Scenario } from './scenario.ts';
import {
  letter,
  numberOf,
  optionOf,
  parseDuration,
  parseReporter,
  parseSettings,
  parseStatus,
  parseTargets,
} from './words.ts';

export type Act = (told: Scenario, words: readonly string[]) => void;

/** One act for each pull request that is named. */
function forEach(act: (told: Scenario, prNumber: PrNumber) => void): Act {
  return (told, words) => {
    for (const word of words) act(told, numberOf(word));
  };
}

/** The forge shows each pull request that is named with these changes. */
function observed(changes: Partial<PullRequestFacts>): Act {
  return forEach((told, prNumber) => told.observe(prNumber, changes));
}

/** `pass A A+B by=lint`: a check of each candidate that is named completes. The reports of a probe are read at once. */
function reported(conclusion: CheckConclusion, more: { readonly hasUploads?: true } = {}): Act {
  return (told, words) => {
    const check = { ...parseReporter(optionOf(words, 'by') ?? 'ci'), conclusion, ...more };
    for (const label of words.filter((word) => !word.startsWith('by='))) {
      const { number, question } = told.candidate(label);
      if (question !== undefined && conclusion === 'SUCCESS') answered('passed')(told, [label]);
      else told.reportCheck(number, { ...check, ...(question && { name: probeNameOf(check.name) }) });
    }
  };
}

/** `mute ?AB`: all checks of a probe complete, and their reports say this. */
function answered(answer: Answer, failed: readonly string[] = []): Act {
  return (told, labels) => {
    for (const label of labels) {
      const { number, question = [], required } = told.candidate(label);
      for (const name of required?.names ?? []) {
        const signature = askedIn(question, name).filter(({ id }) => failed.length === 0 || failed.includes(id));
        const its = answer === 'failed' && signature.length === 0 ? 'passed' : answer;
        told.reportCheck(number, { name, conclusion: its === 'failed' ? 'FAILURE' : 'SUCCESS' });
        told.judgeCheck(number, {
          check: name,
          attempt: undefined,
          tests: [],
          isWaived: false,
          answer: its,
          signature,
        });
      }
    }
  };
}

/**
 * `fail A A+B by=lint`. `tests=t1,t2`: the failed tests; `new=t`: one that the branch does not know; `partly`: some tests did
 * not run. Its reports are read at once, and those of `report A FAILURE` never are. A probe fails in all that it asks, or in
 * the tests that are named.
 */
function failed(told: Scenario, words: readonly string[]): void {
  const named = (option: string) => optionOf(words, option)?.split(',') ?? [];
  const known = named('tests').map((id) => ({ id, name: id }));
  const isNew = true as const;
  const signature = [...known, ...named('new').map((id) => ({ id, name: id, isNew }))];
  const reporter = parseReporter(optionOf(words, 'by') ?? 'ci');
  const whole = !words.includes('partly') && { isWhole: true as const };
  for (const label of words.filter((word) => !word.includes('=') && word !== 'partly')) {
    const { number, question } = told.candidate(label);
    if (question !== undefined) {
      answered('failed', named('tests'))(told, [label]);
      continue;
    }
    const asked = told.judgements.length;
    told.reportCheck(number, { ...reporter, conclusion: 'FAILURE' });
    const { confirmFailures, honorQuarantine } = told.queue.settings;
    // A story of quarantine tells what is found.
    const isTold = honorQuarantine === 'ON' && signature.length === 0;
    if (confirmFailures === 'NEVER' || isTold || told.judgements.length === asked) continue;
    told.judgeCheck(number, {
      check: reporter.name,
      attempt: undefined,
      tests: [],
      isWaived: false,
      signature,
      ...whole,
    });
  }
}

function lost(cause: 'runner_lost' | 'server_restarted'): Act {
  return (told, [label = '']) =>
    told.tell({ kind: 'checks_lost', at: told.now, candidate: told.candidate(label).number, cause });
}

function judged(isWaived: boolean, more: Partial<JudgedCheck> = {}): Act {
  return (told, words) =>
    told.judgeCheck(told.candidate(words[0] ?? '').number, { ...judgement(told, words), isWaived, ...more });
}

/** The failed tests are not excused. */
function denied(told: Scenario, words: readonly string[]): void {
  const { tests } = judgement(told, words);
  judged(false, { signature: tests.map((id) => ({ id, name: id })) })(told, words);
}

/** `waive A+B tests=t1,t2 by=lint started=-5m`, and `deny` likewise. */
function judgement(told: Scenario, words: readonly string[]): Omit<JudgedCheck, 'isWaived'> {
  const started = optionOf(words, 'started');
  return {
    check: optionOf(words, 'by') ?? 'ci',
    attempt: started === undefined ? undefined : told.now + parseDuration(started),
    tests: (optionOf(words, 'tests') ?? 't').split(','),
  };
}

export const ACTS: { readonly [verb: string]: Act } = {
  ...LANDING_ACTS,
  submit: submitAll,
  /** Each of these is built on the one before. */
  stack: (told, words) => {
    for (const [index, word] of words.entries()) {
      const below = words[index - 1];
      if (below !== undefined) told.below.set(numberOf(word), [numberOf(below)]);
    }
  },
  /** Entries are submitted while the queue is paused, so that they form one batch. */
  together: (told, words) => {
    told.update({}, 'PAUSED');
    submitAll(told, words);
    told.update({}, 'RUNNING');
  },
  /** The head has just passed by itself, and so few runs failed by chance that an entry is removed at its second failure. */
  seasoned: (told) => {
    const { head, learned } = told.queue;
    assert.ok(head !== undefined, 'a story begins on a head');
    told.queue = {
      ...told.queue,
      head: { ...head, isProven: true },
      suspicions: [{ base: head, removals: [], cleared: { at: told.now, since: told.now, signs: [] } }],
      learned: { ...learned, flakes: { hits: 0.25, seen: 20 } },
    };
  },
  set: (told, words) => told.update(parseSettings(words)),
  pause: (told, words) => {
    const duration = optionOf(words, 'for');
    const until = duration === undefined ? {} : { until: told.now + parseDuration(duration) };
    told.update({}, 'PAUSED', { reason: 'release', ...until });
  },
  resume: (told) => told.update({}, 'RUNNING'),
  drain: (told) => told.update({}, 'DRAINING'),
  pass: reported('SUCCESS'),
  fail: failed,
  cut: reported('CANCELLED'),
  /** The reports of a probe do not hold its tests. */
  mute: answered('none'),
  report: reportOne,
  waive: judged(true),
  deny: denied,
  /** Only tests failed that are quarantined automatically. */
  repeat: judged(false, { isRepeat: true }),
  /** Passes in a repository with uploads, whose reports are read first. */
  green: reported('SUCCESS', { hasUploads: true }),
  /** Nothing failed in the reports, which came 3 seconds after the result. */
  clean: judged(true, { tests: [], reportsAfterMs: 3_000 }),
  lose: lost('runner_lost'),
  interrupt: lost('server_restarted'),
  cancel: forEach((told, prNumber) => told.tell({ kind: 'pull_request_cancelled', ...told.byAda, prNumber })),
  restart: forEach((told, prNumber) => told.tell({ kind: 'tests_restart_requested', ...told.byAda, prNumber })),
  push: forEach((told, prNumber) => {
    told.branch.push(prNumber);
    told.observe(prNumber, {});
  }),
  untrusted: forEach((told, prNumber) => {
    told.branch.push(prNumber);
    told.observe(prNumber, { isHeadUntrusted: true });
  }),
  close: forEach((told, prNumber) => {
    told.closed.add(prNumber);
    told.observe(prNumber, { status: 'closed' });
  }),
  draft: observed({ status: 'draft' }),
  retarget: observed({ baseBranch: 'next' }),
  block: observed({ mergeability: 'NOT_MERGEABLE', blockReasons: ['reviewRequired'] }),
  ready: observed({}),
  'merge-elsewhere': observed({ status: 'merged', baseBranch: 'next' }),
  merge: forEach((told, prNumber) => {
    told.branch.put(letter(prNumber));
    told.observe(prNumber, { status: 'merged' });
    told.observeTarget();
  }),
  vanish: forEach((told, prNumber) =>
    told.tell({ kind: 'pull_request_observed', at: told.now, prNumber, pr: undefined, targets: undefined }),
  ),
  targets: setTargets,
  computed: compute,
  /** `reviewed same` or `reviewed changed`: the rules of the present head. */
  reviewed: (told, [answer]) => {
    const { head } = told.branch;
    told.tell({ kind: 'lanes_reviewed', at: told.now, head, isChanged: answer === 'changed' });
  },
  /** `tried ci,lint`: these checks passed in a try of the present head; `on=M` of that head. */
  tried: (told, words) => {
    const [passed = ''] = words;
    const on = optionOf(words, 'on');
    const head = on === undefined ? told.branch.head : (`head:${on}` as Sha);
    told.tell({
      kind: 'head_tried',
      at: told.now,
      head,
      ran: { since: told.now, at: told.now },
      passed: passed.split(','),
      sources: told.sources,
    });
  },
  /** `line tested=C`: the branch is read to find what broke it, and the landing of C was of a tested tree. */
  line: (told, words) => {
    const { history } = told.branch;
    const tested = optionOf(words, 'tested');
    const steps = history.map((name, index) => ({
      sha: `head:${history.slice(0, index + 1).join('+')}` as Sha,
      ...(/^[A-L]$/.test(name) && { prNumber: numberOf(name) }),
      ...(name === tested && { wasTested: true as const }),
    }));
    told.tell({ kind: 'line_read', at: told.now, steps });
  },
  /** `find` or `find again`: somebody asks what broke the branch. */
  find: (told, [again]) =>
    told.tell({ kind: 'breakage_asked', ...told.byAda, ...(again === 'again' && { again: true }) }),
  foreign: (told, [name = 'X']) => {
    told.branch.put(name);
    told.observeTarget();
  },
  /** A force-push resets the branch to its first commit and then to something else. */
  rewind: (told, [name = 'X']) => {
    told.branch.history.splice(0, told.branch.history.length, name);
    told.observeTarget(false);
  },
  gone: (told) =>
    told.tell({ kind: 'target_observed', at: told.now, head: undefined, since: told.queue.heads, isDescendant: false }),
  conflict: (told, words) => told.branch.conflicts.push([words[0] as string, words[1] as string]),
  empty: (told, words) => {
    for (const name of words) told.branch.empty.add(name);
  },
  unbuildable: (told, [label = '', reason]) => {
    const candidate = told.candidate(label).number;
    told.tell({
      kind: 'candidate_unbuildable',
      at: told.now,
      candidate,
      reason: reason as StartProblem,
      detail: 'no',
    });
  },
  sources: setSources,
  wait,
  clock: (told, [duration = '']) => {
    told.now += parseDuration(duration);
  },
  tick: (told) => told.tell({ kind: 'time_passed', at: told.now }),
  again: (told) => told.tell(told.events.at(-1) as QueueEvent),
  hold: (told, [what]) => told.forge.hold(what, true),
  release: (told, [what]) => told.forge.hold(what, false),
  'land-as': (told, [kind]) => {
    told.forge.landingKind = kind as LandedKind;
  },
};

/**
 * Words: `A`, `A[x,y]`, `A[]`, `A[ALL]`. The words `urgent`, `high`, `low`, `nobatch`, `repair`, `unready` and
 * numbers apply to all of them. `by=bot` names the submitter.
 */
function submitAll(told: Scenario, words: readonly string[]): void {
  const isPr = (word: string) => /^[A-Z](\[.*\])?$/.test(word);
  const options = words.filter((word) => !isPr(word));
  const by = optionOf(options, 'by');
  const priority = options.find((word) => parsePriority(word) !== undefined);
  for (const word of words.filter(isPr)) {
    const prNumber = numberOf(word);
    const targets = parseTargets(word);
    if (targets !== undefined) told.targets.set(prNumber, targets);
    told.submit(prNumber, {
      ...(priority === undefined ? {} : { priority }),
      ...(options.includes('nobatch') ? { noBatch: true } : {}),
      ...(options.includes('repair') ? { repair: true } : {}),
      ...(by === undefined ? {} : { submitter: { id: `id of ${by}`, name: by } }),
      pr: {
        ...(options.includes('unready') ? { mergeability: 'IN_PROGRESS' } : {}),
        ...upToDate(told, prNumber, options),
      },
    });
  }
}

/**
 * `uptodate`: its head contains the head of the target branch and has passed `ci`. `passed=a,b`: it has passed these
 * checks. `on=M`: it contains that head. `tree=x`: its tree differs from the one that would be built.
 */
function upToDate({ branch }: Scenario, prNumber: PrNumber, options: readonly string[]): Partial<PullRequestFacts> {
  if (!options.includes('uptodate')) return {};
  const on = optionOf(options, 'on');
  const targetHead = on === undefined ? branch.head : (`head:${on}` as Sha);
  const tree = (optionOf(options, 'tree') ?? branch.treeWith(letter(prNumber))) as Sha;
  const passedChecks = (optionOf(options, 'passed') ?? 'ci').split(',').map(parseReporter);
  return { upToDate: { targetHead, tree, passedChecks } };
}

/** `report A+B FAILURE by=lint started=-5m`: one delivery of a check; also `RUNNING` and `QUEUED`. */
function reportOne(told: Scenario, words: readonly string[]): void {
  const [label = '', what = ''] = words;
  const started = optionOf(words, 'started');
  told.reportCheck(told.candidate(label).number, {
    name: optionOf(words, 'by') ?? 'ci',
    ...(started === undefined ? {} : { startedAt: told.now + parseDuration(started) }),
    ...(words.includes('exit=127') ? { summary: 'Failed with exit code 127.' } : {}),
    ...(what === 'RUNNING' ? { status: 'IN_PROGRESS' } : {}),
    ...(what === 'QUEUED' ? { status: 'QUEUED' } : {}),
    ...(what === 'RUNNING' || what === 'QUEUED' ? {} : { conclusion: what as CheckConclusion }),
  });
}

/** `computed A[x] B[ALL] C`: the answer to the last question. Without brackets, the branch has no rules. */
function compute(told: Scenario, words: readonly string[]): void {
  for (const word of words) {
    const prNumber = numberOf(word);
    const found = parseTargets(word);
    const all = computedAll({ code: 'BARRIER', name: '*.lock' });
    const targets = found?.kind === 'all' ? all : found && { ...found, from: 'sluice' as const };
    const { sha, version } = findEntry(told.queue, prNumber)?.lanesAsked ?? {
      sha: told.branch.headOf(prNumber),
      version: 0,
    };
    told.tell({ kind: 'targets_computed', at: told.now, prNumber, sha, version, targets });
  }
}

function setTargets(told: Scenario, words: readonly string[]): void {
  for (const word of words) {
    const prNumber = numberOf(word);
    const targets = parseTargets(word) ?? ALL_TARGETS;
    told.targets.set(prNumber, targets);
    const sha = told.branch.headOf(prNumber);
    told.tell({ kind: 'impacted_targets_set', ...told.byAda, prNumber, sha, targets });
  }
}

/** `sources file=lint,unit protection=ci commands=v2 selecting=ci problem=START_TEST_RUN_... pinned`. Parts that are not named are unset. */
function setSources(told: Scenario, words: readonly string[]): void {
  told.sources = {
    file: optionOf(words, 'file')?.split(',').filter(Boolean).map(parseStatus),
    fileProblem: optionOf(words, 'problem') as StartProblem | undefined,
    protection: optionOf(words, 'protection')?.split(',').map(parseStatus),
    commands: optionOf(words, 'commands') ?? '',
    ...present({ selecting: optionOf(words, 'selecting')?.split(',') }),
    ...(words.includes('pinned') && { isPinned: true as const }),
  };
}

/** Advances the clock to each wake-up of the queue, as the shell does. */
function wait(told: Scenario, [duration = '']: readonly string[]): void {
  const until = told.now + parseDuration(duration);
  const next = () => nextWakeAt(told.queue, told.now, told.strategy);
  for (let wakeAt = next(); wakeAt !== undefined && wakeAt <= until; ) {
    told.now = Math.max(told.now, wakeAt);
    const before = told.queue;
    told.tell({ kind: 'time_passed', at: told.now });
    const following = next();
    if (told.queue === before && following === wakeAt) break;
    wakeAt = following;
  }
  told.now = until;
  told.tell({ kind: 'time_passed', at: told.now });
}
