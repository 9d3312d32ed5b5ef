import type { QueueHost } from '../../src/app/core/queue-host.ts';
import type { CandidateNumber } from '../../src/engine/model/candidate.ts';
import type { QueueEvent } from '../../src/engine/model/event.ts';
import type { EntryId, Queue } from '../../src/engine/model/queue.ts';
import { ALL_TARGETS, type ImpactedTargets } from '../../src/engine/model/targets.ts';
import type { Instant } from '../../src/lib/clock.ts';
import { valuesOf } from '../../src/lib/int-map.ts';
import type { Sha } from '../../src/lib/sha.ts';
import { MINUTE_MS } from '../../src/policy/workload.ts';
import type { QueueId } from '../../src/storage/queues.ts';
import { aPullRequest } from './a-pull-request.ts';

const SOURCES = { file: undefined, fileProblem: undefined, protection: ['ci'], commands: '' };

/** A queue on a store. Each act happens some minutes after `begin`. */
export class Past {
  readonly #host: QueueHost;
  readonly #id: QueueId;
  readonly #begin: Instant;
  #tries = 0;

  constructor(host: QueueHost, id: QueueId, begin: Instant) {
    this.#begin = begin;
    this.#host = host;
    this.#id = id;
  }

  async tell(minute: number, of: (queue: Queue) => Record<string, unknown>): Promise<void> {
    const at = this.#begin + minute * MINUTE_MS;
    await this.#host.run(this.#id, (queue) => ({ at, actor: 'ada', ...of(queue) }) as unknown as QueueEvent);
  }

  async submit(
    minute: number,
    number: number,
    headSha = `head-${number}`,
    targets: ImpactedTargets = ALL_TARGETS,
  ): Promise<void> {
    const pr = aPullRequest(number, { headSha: headSha as Sha });
    const entryId = `entry-${number}` as EntryId;
    await this.tell(minute, () => ({ kind: 'pull_request_submitted', entryId, pr, targets }));
    await this.#build(minute);
  }

  /** The only candidate under test ends, and lands if it passed. */
  async finish(minute: number, conclusion: 'SUCCESS' | 'FAILURE'): Promise<void> {
    const check = { name: 'ci', status: 'COMPLETED', conclusion };
    await this.tell(minute, (queue) => ({ kind: 'check_reported', candidate: underTest(queue), check }));
    if (conclusion === 'SUCCESS') await this.tell(minute, (queue) => landingOf(queue));
    await this.#build(minute);
  }

  async #build(minute: number): Promise<void> {
    this.#tries += 1;
    const commit = { sha: `sha-${this.#tries}`, tree: `tree-${this.#tries}`, sources: SOURCES };
    await this.tell(minute, (queue) => ({ kind: 'candidate_built', candidate: underTest(queue), ...commit }));
  }
}

function underTest(queue: Queue): CandidateNumber {
  // Two failures in a row make the queue test its head too, which stays unanswered here.
  const [candidate] = [...valuesOf(queue.candidates)].filter(({ purpose }) => purpose.kind === 'main');
  return candidate?.number ?? (0 as CandidateNumber);
}

function landingOf(queue: Queue): Record<string, unknown> {
  const [candidate] = [...valuesOf(queue.candidates)].filter(({ number }) => number === queue.landing?.candidate);
  const tree = candidate?.commit?.tree;
  const entries = candidate?.members.map(({ prNumber }) => ({ prNumber, sha: `landed-${prNumber}`, tree }));
  const pushed = { base: queue.head?.sha, pushedSha: `head after ${candidate?.number}`, pushedTree: tree };
  return { kind: 'candidate_landed', candidate: candidate?.number, how: 'SAME_TREE', ...pushed, entries };
}
