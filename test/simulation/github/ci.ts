import type { Timing } from '../../../src/lib/clock.ts';
import { Prng } from '../../../src/lib/prng.ts';
import { CheckRecord } from '../../fake/check-record.ts';
import type { CiRates } from '../../fake/fake-ci.ts';
import type { FakeGithub } from '../../fake/github/fake-github.ts';
import type { Happening } from '../../fake/github/happening.ts';
import type { CheckConclusion, Repository } from '../../fake/github/model.ts';
import { ZEROS } from '../../fake/github/refs.ts';
import { isGreen } from '../../fake/is-green.ts';
import { CHECKS } from '../conditions.ts';
import type { Coverage } from '../coverage.ts';
import type { CiOutage } from './conditions.ts';
import { readFiles } from './real-git.ts';

export interface GithubCiOptions {
  readonly github: FakeGithub;
  readonly repository: Repository;
  readonly clock: Timing;
  readonly seed: number;
  readonly rates: CiRates;
  /** These checks are reported as commit statuses. */
  readonly statuses: readonly string[];
  /** Pull requests are tested too, not only test branches. */
  readonly testsHeads: boolean;
  readonly outage: CiOutage | undefined;
  readonly coverage: Coverage;
  readonly onBug: (error: unknown) => void;
}

interface Attempt {
  readonly sha: string;
  readonly name: string;
  readonly number: number;
  readonly random: Prng;
}

const TEST_BRANCHES = 'refs/heads/sluice/';
const DURATION_MS = [1_000, 9_000] as const;
const RED: readonly CheckConclusion[] = ['failure', 'failure', 'timed_out', 'action_required'];
const GREEN: readonly CheckConclusion[] = ['success', 'success', 'success', 'success', 'neutral', 'skipped'];
const MAX_ATTEMPTS = 3;

/** Runs checks on pushed commits and reports to GitHub. Some results are wrong or missing. */
export class GithubCi {
  readonly record = new CheckRecord();
  readonly #options: GithubCiOptions;
  readonly #seen = new Set<string>();
  readonly #startedAt: number;
  #isCalm = false;

  constructor(options: GithubCiOptions) {
    this.#options = options;
    this.#startedAt = options.clock.now();
    options.github.world.onHappening((happening) => this.#hear(happening));
  }

  /** From now on every result is right and reported. */
  calm(): void {
    this.#isCalm = true;
  }

  async isGreen(sha: string, name: string): Promise<boolean> {
    return isGreen(await readFiles(this.#options.repository.gitDir, sha), name);
  }

  #hear(happening: Happening): void {
    const { repository, testsHeads } = this.#options;
    if (!('repository' in happening) || happening.repository !== repository) return;
    if (happening.event === 'push' && happening.ref.startsWith(TEST_BRANCHES) && happening.after !== ZEROS)
      this.#test(happening.after);
    if (happening.event === 'pull_request' && testsHeads) this.#test(happening.pr.headSha);
  }

  #test(sha: string): void {
    if (this.#seen.has(sha)) return;
    this.#seen.add(sha);
    const count = this.#seen.size;
    for (const name of CHECKS) {
      const random = new Prng(`ci ${this.#options.seed} ${count} ${name}`);
      this.#schedule(random.between(100, 2_000), { sha, name, number: 1, random });
    }
  }

  #schedule(ms: number, attempt: Attempt): void {
    this.#options.clock.after(ms, () => void this.#run(attempt).catch(this.#options.onBug));
  }

  async #run(attempt: Attempt): Promise<void> {
    const { random, sha, name } = attempt;
    const { clock, rates } = this.#options;
    this.#say(attempt, undefined);
    const isRight = await this.isGreen(sha, name);
    const fate = this.#isCalm ? 'honest' : drawFate(random, rates);
    this.#options.coverage.note(`ci.${fate}`);
    if (fate === 'lost') return;
    clock.after(random.between(...DURATION_MS), () => this.#end(attempt, { isRight, fate }));
  }

  #end(attempt: Attempt, { isRight, fate }: { readonly isRight: boolean; readonly fate: Fate }): void {
    const { random, number } = attempt;
    const { rates, outage } = this.#options;
    if (outage !== undefined && this.#isOutOfOrder(outage)) {
      this.#options.coverage.note(`ci.outage ${outage.kind}`);
      this.record.note('brokeDown', attempt);
      if (outage.kind === 'failing') this.#say(attempt, 'failure');
      return;
    }
    if (fate === 'cancelled') {
      this.record.note('cutOff', attempt);
      this.#say(attempt, 'cancelled');
    } else if (isRight && fate !== 'flaky') {
      this.record.note('passed', attempt);
      this.#say(attempt, random.pick(GREEN) ?? 'success');
      return;
    } else {
      this.record.note('failed', attempt);
      if (isRight) this.record.note('flaked', attempt);
      this.#say(attempt, random.pick(RED) ?? 'failure');
    }
    if (number >= MAX_ATTEMPTS || !random.chance(fate === 'cancelled' ? 0.7 : rates.rerun)) return;
    this.#options.coverage.note('ci.rerun');
    this.#schedule(random.between(...DURATION_MS), { ...attempt, number: number + 1 });
  }

  #isOutOfOrder({ at, forMs }: CiOutage): boolean {
    const sinceMs = this.#options.clock.now() - this.#startedAt;
    return !this.#isCalm && sinceMs >= at && sinceMs < at + forMs;
  }

  /** Undefined: the check has started. */
  #say({ sha, name, number, random }: Attempt, conclusion: CheckConclusion | undefined): void {
    const { github, repository, statuses, coverage } = this.#options;
    if (statuses.includes(name)) {
      const state = conclusion === undefined ? 'pending' : GREEN.includes(conclusion) ? 'success' : 'failure';
      github.setStatus(repository, { sha, context: name, state });
      return;
    }
    const progress =
      conclusion === undefined ? ({ status: 'in_progress' } as const) : ({ status: 'completed', conclusion } as const);
    github.reportCheck(repository, { sha, name, attempt: number, ...progress });
    // Another workflow has a job with the same name.
    if (conclusion === undefined || number > 1 || !random.chance(0.08) || !GREEN.includes(conclusion)) return;
    coverage.note('ci.duplicate');
    github.reportCheck(repository, { sha, name, isOtherSuite: true, ...progress });
  }
}

type Fate = 'honest' | 'flaky' | 'cancelled' | 'lost';

function drawFate(random: Prng, rates: CiRates): Fate {
  if (random.chance(rates.lost)) return 'lost';
  if (random.chance(rates.cancelled)) return 'cancelled';
  return random.chance(rates.flaky) ? 'flaky' : 'honest';
}
