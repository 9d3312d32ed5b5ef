import { useSignal } from '@preact/signals';
import { call, type Reply } from '../../core/api.ts';
import { pullRequestPath, repoKey } from '../../core/places.ts';
import { useFormer, useResource } from '../../core/resource.ts';
import { lookOfCheck } from '../../model/state.ts';
import { rangeOf } from '../../model/test-list.ts';
import { formatShort } from '../../model/time.ts';
import { External } from '../../ui/external.tsx';
import { Loaded } from '../../ui/page-states.tsx';
import { State } from '../../ui/shape.tsx';
import { Ago, Sha } from '../../ui/text.tsx';
import { isTouched, type TestPlace, testBody } from './place.ts';

type Runs = Reply<'listTestRuns'>;
type Run = Runs['test_runs'][number];

const SIZE = 20;

/** Its runs, newest first, as far back as they are kept. */
export function TestRuns({ place }: { readonly place: TestPlace }) {
  const isFailuresOnly = useSignal(false);
  const token = useSignal('');
  const runs = useResource(
    `runs ${repoKey(place)} ${place.testId} ${isFailuresOnly.value} ${token.value}`,
    (signal) => {
      const only = isFailuresOnly.value ? { conclusion: 'FAILURE' } : {};
      const page_query = { page_size: SIZE, page_token: token.value };
      return call(place.org, 'listTestRuns', { ...testBody(place), ...only, page_query }, { signal });
    },
    { isTouchedBy: (event) => isTouched(place, event) },
  );
  const shown = useFormer(runs);
  const choose = (isOnly: boolean) => {
    isFailuresOnly.value = isOnly;
    token.value = '';
  };
  return (
    <section aria-label="Runs">
      <div class="title-row">
        <h2>Runs</h2>
        <fieldset class="range" aria-label="Which runs">
          <button type="button" aria-pressed={!isFailuresOnly.value} onClick={() => choose(false)}>
            All
          </button>
          <button type="button" aria-pressed={isFailuresOnly.value} onClick={() => choose(true)}>
            Failures
          </button>
        </fieldset>
      </div>
      <Loaded of={shown} lines={5}>
        {({ test_runs: all, page }) => (
          <div class={shown.isFormer ? 'list-part stale' : 'list-part'} aria-busy={shown.isFormer}>
            {all.length === 0 ? (
              <p class="muted">
                {isFailuresOnly.value ? 'It never failed, as far as runs are kept.' : 'No run is kept.'}
              </p>
            ) : (
              <RunTable place={place} runs={all} />
            )}
            <Turn
              page={page}
              count={all.length}
              onTurn={(to) => {
                token.value = to;
              }}
            />
          </div>
        )}
      </Loaded>
    </section>
  );
}

interface TurnProps {
  readonly page: Runs['page'];
  readonly count: number;
  readonly onTurn: (token: string) => void;
}

function Turn({ page, count, onTurn }: TurnProps) {
  const { page_index, prev_page_token, next_page_token } = page;
  return (
    <div class="paging">
      <span class="muted">{rangeOf(page, count, SIZE)}</span>
      {page_index > 0 && (
        <button type="button" class="link" onClick={() => onTurn(prev_page_token)}>
          Newer
        </button>
      )}
      {next_page_token !== '' && (
        <button type="button" class="link" onClick={() => onTurn(next_page_token)}>
          Older
        </button>
      )}
    </div>
  );
}

function RunTable({ place, runs }: { readonly place: TestPlace; readonly runs: readonly Run[] }) {
  return (
    <table class="test-table">
      <thead>
        <tr>
          <th scope="col">Result</th>
          <th scope="col">When</th>
          <th scope="col">Branch and commit</th>
          <th scope="col">Job</th>
          <th scope="col" class="number">
            Took
          </th>
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => (
          <RunRow key={`${run.upload_id} ${run.started_at} ${run.conclusion}`} place={place} run={run} />
        ))}
      </tbody>
    </table>
  );
}

/** Why the runs of an upload decide nothing. */
const NO_EVIDENCE: Readonly<Record<string, string>> = {
  FORK: 'of a fork',
  UNKNOWN_COMMIT: 'unknown commit',
  OUTAGE: 'outage',
  IGNORED: 'taken back',
};

function RunRow({ place, run }: { readonly place: TestPlace; readonly run: Run }) {
  const { conclusion, started_at, branch, sha, pr_number, job_name, job_url, duration_ms } = run;
  return (
    <tr>
      <th scope="row">
        <State look={lookOfCheck({ conclusion })} />
        {run.quarantined && <span class="tag">quarantined</span>}
        {run.no_evidence_because !== undefined && (
          <span class="tag quiet">{NO_EVIDENCE[run.no_evidence_because] ?? run.no_evidence_because}</span>
        )}
        {run.failure_summary !== undefined && <span class="small">{run.failure_summary}</span>}
      </th>
      <td>
        <Ago at={started_at} />
      </td>
      <td>
        {branch} <Sha sha={sha} />{' '}
        {pr_number !== undefined && <a href={pullRequestPath(place, pr_number)}>#{pr_number}</a>}
      </td>
      <td>{job_url === undefined ? job_name : <External url={job_url}>{job_name ?? 'job'}</External>}</td>
      <td class="number muted" data-name="took">
        {duration_ms === null ? '–' : formatShort(duration_ms)}
      </td>
    </tr>
  );
}
