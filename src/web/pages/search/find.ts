import { call, type Reply } from '../../core/api.ts';
import { isSame, nameOf, queueBody, testScope } from '../../core/places.ts';
import { type QueuePlace, type Repo, toPath } from '../../core/route.ts';
import { findPullRequests, fits, numberOf } from '../../model/search.ts';
import { type Look, lookOfEntry, lookOfQueue, lookOfTest } from '../../model/state.ts';

type Queue = Reply<'listQueues'>['queues'][number];
type Entry = Reply<'listPullRequests'>['pullRequests'][number];

export interface Found {
  readonly path: string;
  readonly look: Look;
  readonly title: string;
  /** The place of a queue, or the author of a pull request. */
  readonly detail: string;
}

export interface Group {
  readonly name: string;
  readonly found: readonly Found[];
}

interface Known {
  readonly place: QueuePlace;
  readonly entries: readonly Entry[];
}

/** The queues and pull requests that are searched without asking the server again. */
export interface Catalog {
  readonly queues: readonly Queue[];
  readonly known: readonly Known[];
}

/** More queues would be a flood of requests. */
const MOST_QUEUES = 10;
const MOST_FOUND = 8;

/** Reads the queues of the organization, and the pull requests of those of this repository. */
export async function readCatalog(org: string, repo: Repo | undefined, signal: AbortSignal): Promise<Catalog> {
  const { queues } = await call(org, 'listQueues', {}, { signal });
  const near = queues.filter((queue) => repo === undefined || isSame(queue.repo, repo)).slice(0, MOST_QUEUES);
  const known = await Promise.all(
    near.map(async (queue) => {
      const place = { org, repo: queue.repo, branch: queue.branch };
      const [{ enqueuedPullRequests: live }, { pullRequests: left }] = await Promise.all([
        call(org, 'getQueue', queueBody(place), { signal }),
        call(org, 'listPullRequests', { ...queueBody(place), take: 100 }, { signal }),
      ]);
      const numbers = new Set(live.map(({ prNumber }) => prNumber));
      return { place, entries: [...live, ...left.filter(({ prNumber }) => !numbers.has(prNumber))] };
    }),
  );
  return { queues, known };
}

export function findQueues(org: string, { queues }: Catalog, text: string): readonly Found[] {
  return queues
    .filter(({ repo, branch }) => fits(text, nameOf(repo), branch))
    .slice(0, MOST_FOUND)
    .map(({ repo, branch, ...queue }) => ({
      path: toPath({ page: 'queue', org, repo, branch }),
      look: lookOfQueue(queue),
      title: `${nameOf(repo)} › ${branch}`,
      detail: repo.host,
    }));
}

export function findKnown({ known }: Catalog, text: string): readonly Found[] {
  return known.flatMap(({ place, entries }) => findPullRequests(entries, text, MOST_FOUND).map(toFound(place)));
}

const toFound = (place: QueuePlace) => (entry: Entry) => ({
  path: toPath({ page: 'pr', ...place, prNumber: entry.prNumber }),
  look: lookOfEntry(entry.state),
  title: `#${entry.prNumber} ${entry.prTitle}`,
  detail: `${entry.prAuthor} · ${nameOf(place.repo)} › ${place.branch}`,
});

/** Asks for what no list has: a pull request that left long ago, by its number, and tests by their names. */
export async function askFor(
  org: string,
  repo: Repo | undefined,
  { known }: Catalog,
  text: string,
  signal: AbortSignal,
): Promise<{ readonly pullRequests: readonly Found[]; readonly tests: readonly Found[] }> {
  const number = numberOf(text);
  const isMissing = ({ entries }: Known) => entries.every(({ prNumber }) => prNumber !== number);
  const [pullRequests, tests] = await Promise.all([
    number === undefined
      ? []
      : Promise.all(
          known.filter(isMissing).map(async ({ place }) => {
            const body = { ...queueBody(place), prs: [{ number }] };
            const reply = await call(org, 'getSubmittedPullRequests', body, { signal });
            return reply.pullRequests.map(toFound(place));
          }),
        ),
    repo === undefined ? [] : findTests(org, repo, text, signal),
  ]);
  return { pullRequests: pullRequests.flat(), tests };
}

async function findTests(org: string, repo: Repo, text: string, signal: AbortSignal): Promise<readonly Found[]> {
  const place = { org, repo };
  const body = { ...testScope(place), text, page_query: { page_size: MOST_FOUND } };
  const { tests } = await call(org, 'listTests', body, { signal });
  return tests.map(({ id, name, status, file_path, classname, parent }) => ({
    path: toPath({ page: 'test', ...place, testId: id }),
    look: lookOfTest(status.value),
    title: name,
    detail: file_path ?? classname ?? parent ?? '',
  }));
}
