import { call } from '../../core/api.ts';
import { pullRequestPath, repoKey } from '../../core/places.ts';
import { useResource } from '../../core/resource.ts';
import { plural } from '../../model/number.ts';
import { External } from '../../ui/external.tsx';
import { Ago, Sha } from '../../ui/text.tsx';
import { useOpening } from '../../ui/use-opening.tsx';
import { type Test, type TestPlace, testBody } from './place.ts';

type Group = Test['most_common_failures'][number];

/** The ways in which it fails, most frequent first, each with its text on demand. */
export function FailureGroups({ place, groups }: { readonly place: TestPlace; readonly groups: readonly Group[] }) {
  if (groups.length === 0) return null;
  return (
    <section aria-label="How it fails">
      <h2>How it fails</h2>
      <ul class="check-list failure-groups">
        {groups.map((group) => (
          <FailureGroup key={`${group.summary} ${group.last_occurrence}`} place={place} group={group} />
        ))}
      </ul>
    </section>
  );
}

function FailureGroup({ place, group }: { readonly place: TestPlace; readonly group: Group }) {
  const { isOpen, button } = useOpening({ show: 'text', hide: 'hide text', isLink: true });
  return (
    <li>
      <span class="line">
        <code>{group.summary === '' ? '(no message)' : group.summary}</code>
        <span class="muted">
          {plural(group.occurrence_count, 'time')}, last <Ago at={group.last_occurrence} />
        </span>
        {button}
      </span>
      {isOpen && <FailureText place={place} summary={group.summary} />}
    </li>
  );
}

/** The latest failures that are looked through for one of the group. */
const LOOKED_AT = 50;

function FailureText({ place, summary }: { readonly place: TestPlace; readonly summary: string }) {
  const failures = useResource(`failure ${repoKey(place)} ${place.testId} ${summary}`, async (signal) => {
    const body = { ...testBody(place), conclusion: 'FAILURE', include_failure_text: true };
    const reply = await call(place.org, 'listTestRuns', { ...body, page_query: { page_size: LOOKED_AT } }, { signal });
    return reply.test_runs;
  });
  if (failures.problem !== undefined) return <p class="muted">{failures.problem.message}</p>;
  if (failures.value === undefined) return <p class="muted">Reading …</p>;
  const run = failures.value.find(({ failure_summary }) => (failure_summary ?? '') === summary);
  if (run === undefined) return <p class="muted">It is not among the last {LOOKED_AT} failures.</p>;
  return (
    <>
      <pre class="log">{run.failure_text === undefined || run.failure_text === '' ? summary : run.failure_text}</pre>
      <p class="muted">
        <Ago at={run.started_at} /> on {run.branch} at <Sha sha={run.sha} />{' '}
        {run.pr_number !== undefined && <a href={pullRequestPath(place, run.pr_number)}>#{run.pr_number}</a>}{' '}
        {run.job_url !== undefined && <External url={run.job_url}>{run.job_name ?? 'job'}</External>}
      </p>
    </>
  );
}
