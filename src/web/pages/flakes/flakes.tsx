import type { ComponentChildren } from 'preact';
import { call, type Reply } from '../../core/api.ts';
import { now } from '../../core/clock.ts';
import { readEvents } from '../../core/events.ts';
import { nameOf, type RepoPlace, repoKey, testScope, touchesTests } from '../../core/places.ts';
import { useResource } from '../../core/resource.ts';
import { toPath } from '../../core/route.ts';
import { countWaived, type Landing } from '../../model/landings.ts';
import { formatHours, formatMinutes, plural } from '../../model/number.ts';
import { lookOfTest } from '../../model/state.ts';
import { RepoHead, useTitle } from '../../ui/layout.tsx';
import { Empty, Loaded } from '../../ui/page-states.tsx';
import { beginOf, daysShown, Range } from '../../ui/range.tsx';
import { State } from '../../ui/shape.tsx';
import { type Cost, CostTable } from './cost-table.tsx';

type CostOfFlakes = Reply<'costOfFlakes'>;

/** Tells what flaky tests cost the queues: waiting and CI time, by test and by owner. */
export function FlakesPage({ org, repo }: RepoPlace) {
  const place = { org, repo };
  const days = daysShown(30);
  useTitle(`Cost of flakes in ${nameOf(repo)}`);
  const cost = useResource(
    `flakes ${repoKey(place)} ${days}`,
    (signal) => {
      const until = now.peek();
      const range = { start_time: beginOf(days, until), end_time: new Date(until).toISOString() };
      return call(org, 'costOfFlakes', { ...testScope(place), ...range }, { signal });
    },
    { isTouchedBy: (event) => touchesTests(repo, event) },
  );
  return (
    <>
      <RepoHead org={org} repo={repo} tab="flakes" />
      <div class="title-row">
        <h1>Cost of flakes</h1>
        <Range days={days} />
      </div>
      <Saved place={place} days={days} />
      <Loaded of={cost}>{(value) => <Shown place={place} cost={value} days={days} />}</Loaded>
    </>
  );
}

/** Landings that are looked through. */
const MOST_LANDINGS = 2_000;

/** Tells what quarantine saved: pull requests that landed although tests failed. */
function Saved({ place, days }: { readonly place: RepoPlace; readonly days: number }) {
  const landings = useResource(
    `waived ${repoKey(place)} ${days}`,
    (signal) => {
      const filter = { repo: place.repo, types: ['landing.recorded'], after: beginOf(days, now.peek()) };
      return readEvents(place.org, filter, MOST_LANDINGS, signal);
    },
    { isTouchedBy: (event) => event.type === 'landing.recorded' },
  );
  const { events = [], isWhole = true } = landings.value ?? {};
  const waived = countWaived(events.map(({ data }) => data as unknown as Landing));
  if (waived === 0) return null;
  return (
    <section class="saving" aria-label="Quarantine saved">
      <h2>Quarantine saved</h2>
      <p class="saved">
        <strong>
          {isWhole ? '' : 'at least '}
          {plural(waived, 'pull request')}
        </strong>{' '}
        landed although quarantined tests failed
      </p>
    </section>
  );
}

interface Props {
  readonly place: RepoPlace;
  readonly cost: CostOfFlakes;
  readonly days: number;
}

function Shown({ place, cost, days }: Props) {
  const { total, tests, owners } = cost;
  if (total.test_runs === 0) return <NoCost days={days} />;
  return (
    <>
      <p class="flakes-lead">
        In the last {plural(days, 'day')} {plural(total.test_runs, 'test run')} of the queue failed in flaky tests only.
      </p>
      <dl class="test-figures tiles">
        <Tile name="waited by pull requests" value={formatHours(total.hours_waited)} />
        <Tile name="of CI lost" value={formatMinutes(total.ci_minutes)} />
        <Tile name="pull requests removed" value={total.entries_removed.toLocaleString('en-US')} />
        <Tile name="pull requests tested again" value={total.entries_retested.toLocaleString('en-US')} />
      </dl>
      <Savings place={place} cost={cost} />
      <section aria-label="By test">
        <h2>By test</h2>
        <CostTable what="Test" rows={tests.map((test) => ({ ...test, key: test.id, head: headOf(place, test) }))} />
      </section>
      {owners.length > 0 && (
        <section aria-label="By owner">
          <h2>By owner</h2>
          <CostTable
            what="Owner"
            rows={owners.map((each) => ({ ...each, key: each.owner, head: ownerOf(place, each.owner) }))}
          />
        </section>
      )}
      <p class="muted">
        A run in which several tests failed counts for each of them. Runs whose failed checks uploaded no test results
        are not counted.
      </p>
    </>
  );
}

function headOf(place: RepoPlace, test: CostOfFlakes['tests'][number]) {
  return (
    <>
      <a href={toPath({ page: 'test', ...place, testId: test.id })}>{test.name}</a>
      <span class="where">
        <State look={lookOfTest(test.status)} />
        {test.quarantined && <span class="tag">quarantined</span>}
        <span>{test.codeowners.join(', ')}</span>
      </span>
    </>
  );
}

function ownerOf(place: RepoPlace, owner: string) {
  const list = toPath({ page: 'repo', ...place, tab: 'tests' });
  return <a href={`${list}?${new URLSearchParams({ owner })}`}>{owner}</a>;
}

function Tile({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** Tells how the queues would have lost less. */
function Savings({ place, cost }: Omit<Props, 'days'>) {
  const { total, tests, advice, saved_by_honoring: honored } = cost;
  return (
    <>
      {advice !== undefined && (
        <Saving title="More quarantine would have saved" total={total} saved={advice}>
          <p>If {advice.test_ids.length === 1 ? 'this test' : 'these tests'} had been quarantined:</p>
          <ul class="advised">
            {advice.test_ids.map((id) => (
              <li key={id}>
                <a href={toPath({ page: 'test', ...place, testId: id })}>
                  {tests.find((test) => test.id === id)?.name ?? id}
                </a>
              </li>
            ))}
          </ul>
        </Saving>
      )}
      {honored.test_runs > 0 && (
        <Saving title="Honoring quarantine would have saved" total={total} saved={honored}>
          <p>
            In {plural(honored.test_runs, 'run')} all tests that failed were quarantined already. A queue with{' '}
            <code>honorQuarantine ON</code> lets such runs pass.
          </p>
        </Saving>
      )}
    </>
  );
}

interface SavingProps {
  readonly title: string;
  readonly total: Cost;
  readonly saved: Cost;
  readonly children: ComponentChildren;
}

/** A part of the cost, as a share of the whole. */
function Saving({ title, total, saved, children }: SavingProps) {
  const share = total.hours_waited === 0 ? 0 : saved.hours_waited / total.hours_waited;
  return (
    <section class="saving" aria-label={title}>
      <h2>{title}</h2>
      <p class="saved">
        <strong>{formatHours(saved.hours_waited)}</strong> of waiting and{' '}
        <strong>{formatMinutes(saved.ci_minutes)}</strong> of CI
      </p>
      <meter min={0} max={1} value={share} aria-label="Share of all waiting for flaky tests" />
      {children}
    </section>
  );
}

function NoCost({ days }: { readonly days: number }) {
  return (
    <Empty title={`Flaky tests cost the queue nothing in the last ${plural(days, 'day')}.`} isPart>
      <p>
        Only runs are counted whose failed checks uploaded their test results. CI says which run and check these are of:
      </p>
      <pre>
        <code>{'sluice upload --test-run-id "$TEST_RUN_ID" --check test "reports/**/*.xml"'}</code>
      </pre>
      <p>The id of the test run is the last part of the test branch.</p>
    </Empty>
  );
}
