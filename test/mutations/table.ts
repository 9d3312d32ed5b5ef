import type { SuiteName } from './suites.ts';

/** One deliberate fault: text of a file and its replacement. */
export interface Edit {
  readonly file: string;
  /** Occurs exactly once. */
  readonly before: string;
  readonly after: string;
}

export interface Mutation {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** The suites that may detect it, the fastest first. At least two must. */
  readonly suites: readonly SuiteName[];
}

const ENGINE: readonly SuiteName[] = ['scenario', 'simulation', 'property'];

function engine(name: string, file: string, before: string, after: string): Mutation {
  return { name, edits: [{ file: `src/engine/${file}`, before, after }], suites: ENGINE };
}

/** Faults that would land red code or remove an innocent entry. */
export const MUTATIONS: readonly Mutation[] = [
  engine(
    'composed: what overlaps with a landing stays good',
    'facts/evolve-landing.ts',
    'if (!isDisjoint || mustBeExact(work.queue)) {',
    'if (mustBeExact(work.queue)) {',
  ),
  {
    name: 'composed: paths of both sides are mixed',
    edits: [
      {
        file: 'src/forge/candidate/plan-landing.ts',
        before: "return overlap === undefined ? landing('COMPOSED', remade) : refuse(overlap);",
        after: "return landing('COMPOSED', remade);",
      },
    ],
    suites: ['contract', 'landing'],
  },
  {
    name: 'compare-and-swap: the target is moved from wherever it is',
    edits: [
      {
        file: 'src/forge/candidate/land.ts',
        before: "const move: RefChange = { kind: 'set', ref: branchRef(targetBranch), sha, expected };",
        after: "void expected; const move: RefChange = { kind: 'set', ref: branchRef(targetBranch), sha };",
      },
    ],
    suites: ['contract', 'landing'],
  },
  {
    name: 'heads: a pull request that was pushed to lands',
    edits: [
      {
        file: 'src/forge/candidate/land.ts',
        before: 'return entries.find(({ headSha }, index) => heads[index]?.sha !== headSha)?.prNumber;',
        after: 'return entries.find((_entry, index) => heads[index] === undefined)?.prNumber;',
      },
      {
        file: 'src/forge/candidate/land.ts',
        before: 'const answer = await git.changeRefs([move, ...verifications]);',
        after: 'void verifications; const answer = await git.changeRefs([move]);',
      },
    ],
    suites: ['contract', 'landing'],
  },
  {
    name: 'reuse: a tree that was itself taken over proves another',
    edits: [
      {
        file: 'src/engine/line/test-run.ts',
        before: "if (other.pass?.by === 'own_run') return other;",
        after: 'if (other.pass !== undefined) return other;',
      },
    ],
    suites: ['unit', ...ENGINE],
  },
  {
    name: 'paused: the landing effect does not look',
    edits: [
      {
        file: 'src/app/effects/land-candidate.ts',
        before: "const isStill = now.state === 'PAUSED' || now.parked !== undefined;",
        after: 'const isStill = now.parked !== undefined;',
      },
    ],
    suites: ['effects', 'simulation'],
  },
  engine(
    'paused: plan lands',
    'plan.ts',
    'if (!mayWork(work.queue) || work.queue.landing !== undefined) return;',
    'if (work.queue.landing !== undefined) return;',
  ),
  engine(
    'order: a candidate lands before what it is built on',
    'plan.ts',
    'return mayVouch(queue, candidate) || unlanded(queue, candidate.beneath).length === 0;',
    'return mayVouch(queue, candidate) || unlanded(queue, candidate.beneath).length < 2;',
  ),
  engine(
    'order: the last of equals goes first',
    'model/priority.ts',
    'raisedValue(priority.value, raised) * PRIORITY_WEIGHT + (admission?.ordinal ?? submission)',
    '(1 + raisedValue(priority.value, raised)) * PRIORITY_WEIGHT - (admission?.ordinal ?? submission)',
  ),
  {
    name: 'audit: the tree of a landing is not compared with the one that passed',
    edits: [
      {
        file: 'src/app/upkeep/audit-line.ts',
        before: 'return pushedTree === tree ? undefined : `has the tree',
        after: 'return pushedTree !== undefined ? undefined : `has the tree',
      },
    ],
    suites: ['audit', 'auditing'],
  },
  {
    name: 'audit: the tree of a commit is not read from git',
    edits: [
      {
        file: 'src/app/upkeep/audit-line.ts',
        before: 'return tree === pushedTree ? undefined : `was recorded',
        after: 'return pushedTree !== undefined ? undefined : `was recorded',
      },
      {
        file: 'src/app/upkeep/audit-line.ts',
        before: 'const doubted = entries.find(({ sha, tree }) => trees.get(sha) !== tree);',
        after: 'const doubted = entries.find(({ sha }) => !trees.has(sha));',
      },
    ],
    suites: ['audit', 'auditing'],
  },
  engine(
    'vouch: a pass by a waiver vouches',
    'line/vouch.ts',
    "if (state !== 'passed' || pass?.waived !== undefined) return false;",
    "if (state !== 'passed' || pass === undefined) return false;",
  ),
  engine(
    'vouch: a failure that was vouched for is blamed',
    'line/vouch.ts',
    "candidate.state === 'failed' && unlanded(queue, candidate.members).some((e) => voucherOf(queue, e) === undefined)",
    "candidate.state === 'failed' && unlanded(queue, candidate.members).some((e) => voucherOf(queue, e) !== 0)",
  ),
  engine(
    'landing: what landed beside is forgotten',
    'model/roster.ts',
    '({ ordinal }) => ordinal > base.ordinal',
    '({ ordinal }) => ordinal > base.ordinal + 1',
  ),
  engine(
    'blame: a search removes the last of the chain',
    'search/halves.ts',
    '  const [entry] = unlanded(work.queue, run.members);\n  assert(entry !== undefined && run.failure !== undefined',
    '  const last = findSearch(work.queue, number)?.members.slice(-1) ?? [];\n  const [entry] = unlanded(work.queue, last);\n  assert(entry !== undefined && run.failure !== undefined',
  ),
  engine(
    'blame: a suspected head is not tested',
    'evidence/suspicion.ts',
    'export const ENOUGH = 2;',
    'export const ENOUGH = 2_000;',
  ),
  engine(
    'blame: a search goes on on a base that somebody mended',
    'evidence/suspicion.ts',
    'if (base === undefined || base.ordinal >= queue.pushedHead || isHead(queue, base)) return false;',
    'if (base === undefined || base.ordinal >= 0 || isHead(queue, base)) return false;',
  ),
  engine(
    'blame: whoever was removed for a red head stays removed',
    'evidence/suspicion.ts',
    'const returning = suspicion.removals.filter((removal) => isOfBase(removal) && removal.isReplaced !== true);',
    'const returning = suspicion.removals.filter((removal) => isOfBase(removal) && removal.isReplaced === true);',
  ),
  engine(
    'blame: what was cut off counts as failed',
    'line/test-run.ts',
    'const MAX_TRIES = 2;',
    'const MAX_TRIES = 0;',
  ),
  engine(
    'blame: what lies beneath need not have passed',
    'search/verdict.ts',
    "if (ahead.some(({ state }) => state !== 'TESTS_PASSED')) return false;",
    'if (ahead.length > 100) return false;',
  ),
  engine(
    'hold: a red head is never looked at again',
    'evidence/hold.ts',
    "return last === undefined || last.state === 'failed' ? hold.nextRetestAt : undefined;",
    'return last === undefined ? undefined : undefined;',
  ),
  engine(
    'hold: a failure is held for its successors for ever',
    'search/verdict.ts',
    'if (depth === 0 || work.at >= holdEndsAt(queue, candidate)) return false;',
    'if (depth === 0) return false;',
  ),
  engine(
    'adaptive: an accused entry does not wait for those ahead',
    'search/prefix-search.ts',
    'if (isBehindOthers(queue, search, entry)) return waitAgain(work, search);',
    'if (entry.prNumber < 0) return waitAgain(work, search);',
  ),
  engine(
    'adaptive: a pass clears one member too many',
    'search/prefix-search.ts',
    'clear(work, search, length, proof);',
    'clear(work, search, length + 1, proof);',
  ),
  engine(
    'adaptive: one failure is enough to accuse',
    'search/prefixes.ts',
    'return 1 + confirmationsNeeded(queue.learned) - failuresOf(queue, search);',
    'return 1 - failuresOf(queue, search);',
  ),
  engine(
    'adaptive: a base is trusted without a pass',
    'search/prefix-search.ts',
    'if (survivors.length > 0 || base.isProven === true) return true;',
    'if (survivors.length >= 0 || base.isProven === true) return true;',
  ),
  engine(
    'adaptive: the members of a failed group are removed without a search',
    'search/verdict.ts',
    "else if (searches === 'prefixes') searchCandidate(work, candidate);",
    "else if (searches === 'prefixes') remove(work, candidate);",
  ),
  {
    name: 'adaptive: a pass ahead of its turn lands',
    edits: [
      {
        file: 'src/engine/search/prefix-search.ts',
        before: 'if (passed !== undefined) return clearPassed(',
        after:
          'if (passed !== undefined && passed.length === search.members.length && search.isOnHead) return false;\n  if (passed !== undefined) return clearPassed(',
      },
      {
        file: 'src/engine/plan.ts',
        before: "const ahead = [...candidatesFor(queue, 'direct'), ",
        after: "const ahead = [...candidatesFor(queue, 'bisection'), ...candidatesFor(queue, 'direct'), ",
      },
    ],
    suites: ENGINE,
  },
  engine(
    'adaptive: an accused entry is not tested on the head that moved',
    'search/prefix-search.ts',
    'if (!search.isOnHead && !search.accused.isLast) return rebase(work, search);',
    'if (!search.isOnHead && search.number < 0) return rebase(work, search);',
  ),
  engine(
    'waiver: a prefix that passed by a waiver is grouped to land without a run',
    'line/search-runs.ts',
    'const clearedBySearch = isOnHead && proof.pass?.waived === undefined ? batch : undefined;',
    'const clearedBySearch = isOnHead ? batch : undefined;',
  ),
  engine(
    'waiver: a head that passed by a waiver counts as proven',
    'evidence/hold.ts',
    'if (run.pass?.waived === undefined) proveBase(work, run.base);',
    'proveBase(work, run.base);',
  ),
  engine(
    'urgent: an urgent entry interrupts a landing',
    'search/interrupt.ts',
    'if (isUrgent(queue, candidate) || isBeingLanded(queue, candidate)) return false;',
    'if (isUrgent(queue, candidate)) return false;',
  ),
  engine(
    'adaptive: a search begins before what is beneath the failed run landed',
    'search/verdict.ts',
    'return isSearched(queue, candidate) ? ahead.length === 0 : mayBlame(queue, candidate);',
    'return candidate.members.length > 1 ? ahead.length === 0 : mayBlame(queue, candidate);',
  ),
  engine(
    'adaptive: an accused entry waits for entries that came later',
    'search/prefixes.ts',
    '(other.admission?.ordinal ?? 0) <= admissions &&',
    'admissions >= 0 &&',
  ),
  engine(
    'excuses: a check that passed in spite of flaky failures counts at once',
    'model/check.ts',
    "if (isAwaited(check)) return 'pending';\n      return ruling?.isWaived === false ? 'failed' : 'passed';",
    "return 'passed';",
  ),
  engine(
    'excuses: a candidate is repeated without end',
    'evidence/judge.ts',
    'if ((candidate.repeats?.length ?? 0) < MAX_REPETITIONS) repeatCandidate(work, candidate);',
    'if ((candidate.repeats?.length ?? 0) >= 0) repeatCandidate(work, candidate);',
  ),
  engine(
    'excuses: a failure that is to be repeated counts as waived',
    'model/check.ts',
    "if (ruling?.isRepeat) return 'flaky';",
    "if (ruling?.isRepeat) return 'passed';",
  ),
];
