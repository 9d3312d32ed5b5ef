import { call, type Reply } from '../../core/api.ts';
import { keyOf, queueBody } from '../../core/places.ts';
import type { PullRequest } from '../../core/replies.ts';
import { useResource } from '../../core/resource.ts';
import { type QueuePlace, toPath } from '../../core/route.ts';
import { isStranger } from '../../core/stranger.ts';
import { lookOfCheck } from '../../model/state.ts';
import { External } from '../../ui/external.tsx';
import { Shape } from '../../ui/shape.tsx';
import { useOpening } from '../../ui/use-opening.tsx';

type Run = Exclude<Reply<'getMergeQueueTestingDetails'>, { testRuns: unknown }>;
type Check = Run['checkSuites'][number]['checkRuns'][number];

/** The checks of the run that the pull request is in, or was in last, with the tests that failed. */
export function Failing({ place, entry }: { readonly place: QueuePlace; readonly entry: PullRequest }) {
  const testRunId = entry.landed?.testRunId ?? entry.timeline?.find((each) => each.testRunId !== undefined)?.testRunId;
  if (testRunId === undefined) return null;
  return <RunChecks key={testRunId} place={place} testRunId={testRunId} version={entry.version} />;
}

interface Props {
  readonly place: QueuePlace;
  readonly testRunId: string;
  readonly version: string | undefined;
}

function RunChecks({ place, testRunId, version }: Props) {
  const run = useResource(`run ${keyOf(place)} ${testRunId} ${version}`, async (signal) => {
    const reply = await call(place.org, 'getMergeQueueTestingDetails', { ...queueBody(place), testRunId }, { signal });
    return 'testRuns' in reply ? undefined : reply;
  });
  const { value } = run;
  if (value === undefined) return null;
  const checks = value.checkSuites.flatMap(({ checkRuns }) => checkRuns);
  if (checks.length === 0) return null;
  const beneath = value.dependentPrs ?? [];
  const together = value.testedPullRequests.map(({ prNumber }) => `#${prNumber}`);
  return (
    <section aria-label="Checks">
      <h2>Checks</h2>
      <p class="muted">
        {together.join(', ')} tested on {place.branch}
        {beneath.length > 0 && <> with {beneath.map((number) => `#${number}`).join(', ')}</>}
      </p>
      <ul class="check-list">
        {checks.map((check) => (
          <CheckLine
            key={check.name}
            place={place}
            testRunId={testRunId}
            check={check}
            isOver={value.status !== 'IN_PROGRESS'}
          />
        ))}
      </ul>
    </section>
  );
}

interface LineProps {
  readonly place: QueuePlace;
  readonly testRunId: string;
  readonly check: Check;
  /** The run ended, and nobody waits for the check any more. */
  readonly isOver: boolean;
}

function CheckLine({ place, testRunId, check, isOver }: LineProps) {
  const { isOpen, button } = useOpening({ show: 'log', hide: 'hide log', isLink: true });
  const look = lookOfCheck(check, isOver);
  const failed = check.quarantine?.failedTests ?? [];
  return (
    <li class={`tone-${look.tone}`}>
      <span class="line">
        <Shape name={look.shape} />
        <strong>{check.name}</strong> {look.word}
        {check.quarantine?.verdict === 'WAIVED' && <span class="tag">waived</span>}
        {check.url !== '' && <External url={check.url}>details</External>}
        {!isStranger.value && button}
      </span>
      {check.summary !== undefined && check.summary !== '' && <p class="muted">{check.summary}</p>}
      {failed.length > 0 && (
        <ul class="failed-tests">
          {failed.slice(0, 20).map(({ id, name, suites, isExcused, reason }) => (
            <li key={id}>
              <a href={toPath({ page: 'test', org: place.org, repo: place.repo, testId: id })}>{name}</a>
              {suites !== undefined && <span class="muted"> {suites.join(', ')}</span>}
              {isExcused && <span class="tag">quarantined</span>}
              {reason !== undefined && <span class="muted"> {reason}</span>}
            </li>
          ))}
          {failed.length > 20 && <li class="muted">and {failed.length - 20} more</li>}
        </ul>
      )}
      {isOpen && <Log place={place} testRunId={testRunId} check={check.name} />}
    </li>
  );
}

function Log({
  place,
  testRunId,
  check,
}: {
  readonly place: QueuePlace;
  readonly testRunId: string;
  readonly check: string;
}) {
  const log = useResource(`log ${keyOf(place)} ${testRunId} ${check}`, (signal) =>
    call(place.org, 'getCandidateLog', { ...queueBody(place), testRunId, check }, { signal }),
  );
  if (log.problem !== undefined) return <p class="muted">{log.problem.message}</p>;
  if (log.value === undefined) return <p class="muted">Reading the log …</p>;
  return <pre class="log">{log.value.text === '' ? 'There is no output.' : log.value.text}</pre>;
}
