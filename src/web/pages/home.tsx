import { useSignal } from '@preact/signals';
import { call, type Reply } from '../core/api.ts';
import { keyOf, nameOf, queueBody } from '../core/places.ts';
import { useResource } from '../core/resource.ts';
import { toPath } from '../core/route.ts';
import { isStranger } from '../core/stranger.ts';
import { lookOfQueue } from '../model/state.ts';
import { EntryList } from '../ui/entry-list.tsx';
import { useTitle } from '../ui/layout.tsx';
import { Empty, Loaded } from '../ui/page-states.tsx';
import { State } from '../ui/shape.tsx';
import { Ago } from '../ui/text.tsx';

type Queue = Reply<'listQueues'>['queues'][number];

/** Every queue of the organization at a glance. */
export function HomePage({ org }: { readonly org: string }) {
  useTitle(org);
  const queues = useResource(`home ${org}`, (signal) => call(org, 'listQueues', {}, { signal }), {
    isTouchedBy: ({ type }) => type !== 'upload.processed',
  });
  return (
    <>
      <div class="title-row">
        <h1>Queues</h1>
        {!isStranger.value && (
          <nav class="actions" aria-label="Pages of the organization">
            <a href={toPath({ page: 'org', org, tab: 'audit' })}>Audit</a>
            <a href={toPath({ page: 'org', org, tab: 'setup' })}>Setup</a>
          </nav>
        )}
      </div>
      <Mine org={org} />
      <Loaded of={queues}>
        {({ queues: all }) =>
          all.length === 0 ? (
            <NoQueue />
          ) : (
            <ul class="cards">
              {all.map((queue) => (
                <QueueCard key={`${queue.repo.host} ${nameOf(queue.repo)} ${queue.branch}`} org={org} queue={queue} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </>
  );
}

function NoQueue() {
  if (isStranger.value) return <Empty title="There is no public queue yet." isPart />;
  return (
    <Empty title="There is no queue yet." isPart>
      <p>A queue stands before a branch. The command line registers a repository and makes one:</p>
      <pre>
        <code>
          {
            'sluice repo add local/acme/app --git /srv/git/app.git --check "test=npm test"\nsluice queue create -R local/acme/app main'
          }
        </code>
      </pre>
      <p>
        For GitHub, <code>sluice forge setup github</code> guides through it.
      </p>
    </Empty>
  );
}

function QueueCard({ org, queue }: { readonly org: string; readonly queue: Queue }) {
  const { repo, branch, counts, alarms = [] } = queue;
  const live = Object.values(counts as Record<string, number>).reduce((sum, count) => sum + count, 0);
  const newest = alarms.find(({ endedAt }) => endedAt === undefined);
  return (
    <li class="card">
      <a class="whole" href={toPath({ page: 'queue', org, repo, branch })}>
        <span class="name">
          {nameOf(repo)} <span class="muted">›</span> {branch}
        </span>
        <State look={lookOfQueue(queue)} />
      </a>
      <dl class="counts">
        <Count name="in the queue" value={live} />
        <Count name="testing" value={counts.TESTING} />
        <Count name="waiting" value={counts.PENDING} />
        <Count name="passed" value={counts.TESTS_PASSED} />
        <Count name="failing" value={counts.PENDING_FAILURE} />
        <Count name="not ready" value={counts.NOT_READY} />
      </dl>
      {newest !== undefined && (
        <p class="alarm">
          {newest.text}{' '}
          <span class="muted">
            <Ago at={newest.at} />
          </span>
        </p>
      )}
    </li>
  );
}

function Count({ name, value = 0 }: { readonly name: string; readonly value: number | undefined }) {
  return (
    <div class={value === 0 ? 'none' : ''}>
      <dd>{value}</dd>
      <dt>{name}</dt>
    </div>
  );
}

/** The pull requests of one person, by the name that was typed once. */
function Mine({ org }: { readonly org: string }) {
  const name = useSignal(localStorage.getItem(NAME_KEY) ?? '');
  const queues = useResource(
    `mine ${org} ${name.value}`,
    (signal) => (name.value === '' ? Promise.resolve([]) : findMine(org, name.value, signal)),
    {
      isTouchedBy: ({ type }) => type.startsWith('pull_request.'),
    },
  );
  const mine = queues.value ?? [];
  return (
    <section class="mine" aria-label="My pull requests">
      <div class="toolbar">
        <div>
          <label for="my-name">My name, as author of pull requests</label>
          <input
            id="my-name"
            value={name.value}
            placeholder="ada"
            onChange={(event) => {
              name.value = event.currentTarget.value.trim();
              localStorage.setItem(NAME_KEY, name.value);
            }}
          />
        </div>
      </div>
      {mine.map(({ place, entries }) => (
        <EntryList
          key={keyOf(place)}
          place={place}
          title={`Mine in ${nameOf(place.repo)} ${place.branch}`}
          entries={entries}
        />
      ))}
    </section>
  );
}

const NAME_KEY = 'sluice-my-name';
/** More queues would be a flood of requests. */
const MOST_QUEUES = 30;

async function findMine(org: string, name: string, signal: AbortSignal) {
  const { queues } = await call(org, 'listQueues', {}, { signal });
  const busy = queues.filter(({ counts }) =>
    Object.values(counts as Record<string, number>).some((count) => count > 0),
  );
  const found = await Promise.all(
    busy.slice(0, MOST_QUEUES).map(async ({ repo, branch }) => {
      const place = { org, repo, branch };
      const { enqueuedPullRequests } = await call(
        org,
        'getQueue',
        { ...queueBody(place), includeExplanation: true },
        { signal },
      );
      const entries = enqueuedPullRequests.filter(({ prAuthor }) => prAuthor.toLowerCase() === name.toLowerCase());
      return { place, entries };
    }),
  );
  return found.filter(({ entries }) => entries.length > 0);
}
