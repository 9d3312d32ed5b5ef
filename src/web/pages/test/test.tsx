import type { ComponentChildren } from 'preact';
import { call } from '../../core/api.ts';
import { now } from '../../core/clock.ts';
import { repoKey, testScope } from '../../core/places.ts';
import { type Resource, useResource } from '../../core/resource.ts';
import { toPath } from '../../core/route.ts';
import { formatDay, sum } from '../../model/days.ts';
import { formatShare, plural } from '../../model/number.ts';
import { lookOfTest } from '../../model/state.ts';
import { formatShort } from '../../model/time.ts';
import { DayChart } from '../../ui/day-bars.tsx';
import { External } from '../../ui/external.tsx';
import { RepoHead, useTitle } from '../../ui/layout.tsx';
import { Loaded } from '../../ui/page-states.tsx';
import { beginOf } from '../../ui/range.tsx';
import { State } from '../../ui/shape.tsx';
import { Ago, Copy, Sentence } from '../../ui/text.tsx';
import { FailureGroups } from './failure-groups.tsx';
import { Monitors } from './monitors.tsx';
import { isTouched, type Test, type TestPlace, testBody } from './place.ts';
import { TestActions } from './test-actions.tsx';
import { TestEvents } from './test-events.tsx';
import { TestRuns } from './test-runs.tsx';

/** One test: how it does, how it fails, and what was decided about it. */
export function TestPage({ org, repo, testId }: TestPlace) {
  const place = { org, repo, testId };
  const test = useResource(
    `test ${repoKey(place)} ${testId}`,
    async (signal) => (await call(org, 'getTestDetails', testBody(place), { signal })).test,
    { isTouchedBy: (event) => isTouched(place, event) },
  );
  return (
    <>
      <RepoHead org={org} repo={repo} tab="tests" />
      <Loaded of={test} lines={10}>
        {(value) => <Shown place={place} test={value} onChange={test.refresh} />}
      </Loaded>
    </>
  );
}

/** Tells what a person's quarantine would save. */
function LostRuns({ place }: { readonly place: TestPlace }) {
  const { value } = useResource(`lost runs ${repoKey(place)} ${place.testId}`, (signal) => {
    const until = now.peek();
    const range = { start_time: beginOf(7, until), end_time: new Date(until).toISOString() };
    return call(place.org, 'costOfFlakes', { ...testScope(place), ...range }, { signal });
  });
  const runs = value?.tests.find(({ id }) => id === place.testId)?.test_runs ?? 0;
  if (runs === 0) return null;
  return (
    <p>It cost queues {plural(runs, 'test run')} in the last 7 days, which a person’s quarantine would have saved.</p>
  );
}

interface Props {
  readonly place: TestPlace;
  readonly test: Test;
  readonly onChange: Resource<Test>['refresh'];
}

function Shown({ place, test, onChange }: Props) {
  const look = lookOfTest(test.status.value);
  useTitle(`${look.word}: ${test.name}`, look.tone);
  return (
    <div class="test">
      <div class="title-row">
        <h1>{test.name}</h1>
        <TestActions place={place} test={test} onChange={onChange} />
      </div>
      <Identity place={place} test={test} />
      <section class={`verdict tone-${look.tone}`} aria-label="Status">
        <p class="headline">
          <State look={look} isLarge />
          {test.quarantined && <span class="tag">quarantined</span>}
          <span class="muted">
            <Ago at={test.status.timestamp} />
          </span>
        </p>
        {test.status.reason !== '' && (
          <p class="sentence">
            <Sentence text={test.status.reason} />
          </p>
        )}
        <Quarantine test={test} />
        {test.status.value === 'FLAKY' && <LostRuns place={place} />}
        {test.flag !== undefined && (
          <p>
            {test.flag.actor} flagged it as flaky <Ago at={test.flag.at} />
            {test.flag.reason !== undefined && <>: “{test.flag.reason}”</>}
          </p>
        )}
      </section>
      <Figures test={test} />
      <History test={test} />
      <FailureGroups place={place} groups={test.most_common_failures} />
      <Monitors place={place} monitors={test.monitors} onChange={onChange} />
      <TestEvents place={place} />
      <TestRuns place={place} />
    </div>
  );
}

function Identity({ place, test }: { readonly place: TestPlace; readonly test: Test }) {
  const { file_path, classname, parent, variant, codeowners, labels, ticket, id } = test;
  const where = [file_path, ...new Set([parent, classname])].filter((part) => part !== undefined && part !== '');
  const list = toPath({ page: 'repo', org: place.org, repo: place.repo, tab: 'tests' });
  return (
    <p class="by identity">
      <span>{where.join(' › ')}</span>
      {variant !== '' && <span>variant {variant}</span>}
      {codeowners.map((owner) => (
        <a key={owner} href={`${list}?${new URLSearchParams({ owner })}`} title={`Tests of ${owner}`}>
          {owner}
        </a>
      ))}
      {labels.map(({ name }) => (
        <span key={name} class="chip">
          {name}
        </span>
      ))}
      {ticket !== undefined && <External url={ticket.html_url}>ticket</External>}
      <Copy text={id} shown={id.slice(0, 8)} />
    </p>
  );
}

/** The decision about its quarantine, by whom, and when it ends. */
function Quarantine({ test }: { readonly test: Test }) {
  const { quarantine_override: decided, quarantined_at } = test;
  if (decided === undefined) {
    if (quarantined_at === undefined) return null;
    return (
      <p>
        Its failures block nobody since <Ago at={quarantined_at} />, as the repository quarantines flaky tests
        automatically.
      </p>
    );
  }
  return (
    <p>
      {decided.setting === 'ALWAYS_QUARANTINE' ? 'Quarantined' : 'Never quarantined'}
      {decided.suites !== undefined && ` in ${decided.suites.join(', ')}`} by {decided.actor} <Ago at={decided.at} />,{' '}
      {decided.expires_at === undefined ? (
        'until somebody decides otherwise'
      ) : (
        <>
          ends <Ago at={decided.expires_at} />
        </>
      )}
      : “{decided.reason}”
    </p>
  );
}

function Figures({ test }: { readonly test: Test }) {
  const { daily } = test;
  const runs = sum(daily.runs);
  return (
    <dl class="test-figures">
      <Figure name="failed, 24 h">{formatShare(test.failure_rate_last_24h)}</Figure>
      <Figure name="failed, 7 days">{formatShare(test.failure_rate_last_7d)}</Figure>
      <Figure name="failed, 30 days">{formatShare(runs === 0 ? 0 : sum(daily.failures) / runs)}</Figure>
      <Figure name="pull requests hit, 30 days">{test.pull_requests_impacted_last_30d.toLocaleString('en-US')}</Figure>
      <Figure name="takes">
        {test.average_duration_ms === undefined ? '–' : formatShort(test.average_duration_ms)}
      </Figure>
      <Figure name="last failure">
        {test.last_failure_at === undefined ? 'never' : <Ago at={test.last_failure_at} />}
      </Figure>
      <Figure name="first seen">
        <Ago at={test.first_seen_at} />
      </Figure>
    </dl>
  );
}

function Figure({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function History({ test: { daily } }: { readonly test: Test }) {
  return (
    <section aria-label="Last 30 days">
      <h2>Last 30 days</h2>
      <DayChart days={daily} />
      <details>
        <summary>As numbers</summary>
        <table class="test-table plain-table">
          <thead>
            <tr>
              <th scope="col">Day (UTC)</th>
              <th scope="col" class="number">
                Runs
              </th>
              <th scope="col" class="number">
                Failed
              </th>
            </tr>
          </thead>
          <tbody>
            {daily.runs
              .map((runs, day) => ({ runs, day }))
              .filter(({ runs }) => runs > 0)
              .reverse()
              .map(({ runs, day }) => (
                <tr key={day}>
                  <th scope="row">{formatDay(daily, day)}</th>
                  <td class="number">{runs}</td>
                  <td class="number">{daily.failures[day]}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </details>
    </section>
  );
}
