import type { Reply } from '../../core/api.ts';
import { setQuery } from '../../core/location.ts';
import type { RepoPlace } from '../../core/places.ts';
import { toPath } from '../../core/route.ts';
import { formatShare } from '../../model/number.ts';
import { lookOfTest } from '../../model/state.ts';
import type { ListQuery, Sort } from '../../model/test-list.ts';
import { formatShort } from '../../model/time.ts';
import { DayBars } from '../../ui/day-bars.tsx';
import { State } from '../../ui/shape.tsx';
import { Ago } from '../../ui/text.tsx';
import { sortOf } from './filters.tsx';

type Test = Reply<'listTests'>['tests'][number];

interface Props {
  readonly place: RepoPlace;
  readonly tests: readonly Test[];
  readonly asked: ListQuery;
}

export function TestTable({ place, tests, asked }: Props) {
  return (
    <table class="test-table">
      <thead>
        <tr>
          <th scope="col">Test</th>
          <th scope="col">Status</th>
          <th scope="col">Last 30 days</th>
          <Sorted by="rate" asked={asked} text="Failed" />
          <Sorted by="impact" asked={asked} text="PRs hit" />
          <Sorted by="duration" asked={asked} text="Takes" />
          <Sorted by="last-failure" asked={asked} text="Last failure" />
        </tr>
      </thead>
      <tbody>
        {tests.map((test) => (
          <TestRow key={test.id} place={place} test={test} />
        ))}
      </tbody>
    </table>
  );
}

function Sorted({ by, asked, text }: { readonly by: Sort; readonly asked: ListQuery; readonly text: string }) {
  const isIt = asked.sort === by;
  return (
    <th scope="col" class="number" {...(isIt ? { 'aria-sort': 'descending' as const } : {})}>
      <button type="button" class="plain" onClick={() => setQuery({ sort: sortOf(by), page: undefined })}>
        {text}
        <span aria-hidden="true">{isIt ? ' ↓' : ''}</span>
      </button>
    </th>
  );
}

function TestRow({ place, test }: { readonly place: RepoPlace; readonly test: Test }) {
  const { id, name, variant, status, quarantined, codeowners, file_path, classname, parent, daily } = test;
  const where = test.quarantined_suites === undefined ? '' : ` Quarantined in ${test.quarantined_suites.join(', ')}.`;
  return (
    <tr>
      <th scope="row">
        <a href={toPath({ page: 'test', ...place, testId: id })}>{name}</a>
        <span class="where">
          <span>{file_path ?? classname ?? parent}</span>
          {variant !== '' && <span>{variant}</span>}
          {codeowners.map((owner) => (
            <a key={owner} href={`?${new URLSearchParams({ owner })}`} title={`Tests of ${owner}`}>
              {owner}
            </a>
          ))}
        </span>
      </th>
      <td class="status" title={status.reason + where}>
        <State look={lookOfTest(status.value)} />
        {quarantined && <span class="tag">quarantined</span>}
      </td>
      <td class="picture">
        <DayBars days={daily} />
      </td>
      <td class="number" data-name="failed">
        {test.runs_last_30d === 0 ? (
          <span class="muted">no run</span>
        ) : (
          <>
            {formatShare(test.failure_rate_last_30d)}
            <span class="small">
              {test.failures_last_30d.toLocaleString('en-US')} of {test.runs_last_30d.toLocaleString('en-US')}
            </span>
          </>
        )}
      </td>
      <td class={`number${test.pull_requests_impacted_last_30d === 0 ? ' muted' : ''}`} data-name="PRs hit">
        {test.pull_requests_impacted_last_30d.toLocaleString('en-US')}
      </td>
      <td class="number muted" data-name="takes">
        {test.average_duration_ms === undefined ? '–' : formatShort(test.average_duration_ms)}
      </td>
      <td class="number muted" data-name="last failure">
        {test.last_failure_at === undefined ? 'never' : <Ago at={test.last_failure_at} />}
      </td>
    </tr>
  );
}
