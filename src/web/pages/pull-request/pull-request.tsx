import { call, callAgain } from '../../core/api.ts';
import { query } from '../../core/location.ts';
import { keyOf, queueBody, touches } from '../../core/places.ts';
import type { PullRequest } from '../../core/replies.ts';
import { useResource } from '../../core/resource.ts';
import type { QueuePlace } from '../../core/route.ts';
import { furtherReasons, sentenceOf } from '../../model/explanation.ts';
import { lookOfEntry } from '../../model/state.ts';
import { QueueHead, useTitle } from '../../ui/layout.tsx';
import { Loaded } from '../../ui/page-states.tsx';
import { State } from '../../ui/shape.tsx';
import { Ago, Copy, Sentence, Sha, Since } from '../../ui/text.tsx';
import { Failing } from './failing.tsx';
import { Ladder } from './ladder.tsx';
import { Proof } from './proof.tsx';
import { PullRequestActions } from './pull-request-actions.tsx';
import { Reasons } from './reasons.tsx';
import { Repro } from './repro.tsx';
import { Timeline } from './timeline.tsx';

interface Props extends QueuePlace {
  readonly prNumber: number;
}

/** Shows where a pull request is, why, and what to do about it. Every comment and check leads here. */
export function PullRequestPage({ prNumber, ...place }: Props) {
  const at = query.value.get('at') ?? undefined;
  const body = { ...queueBody(place), pr: { number: prNumber }, includeTimeline: true, includeExplanation: true };
  const entry = useResource<PullRequest>(
    `pr ${keyOf(place)} ${prNumber} ${at}`,
    (signal, last) =>
      at === undefined
        ? callAgain(
            place.org,
            'pollPullRequest',
            { ...body, includeForecast: true, includeResult: true },
            { signal, last },
          )
        : call(place.org, 'getSubmittedPullRequest', { ...body, at }, { signal }),
    { isTouchedBy: (event) => touches(place, event) },
  );
  const look = lookOfEntry(entry.value?.state);
  useTitle(
    entry.value === undefined ? `#${prNumber}` : `${look.word}: #${prNumber} ${entry.value.prTitle}`,
    entry.value && look.tone,
  );
  return (
    <>
      <QueueHead place={place} tab="pr" />
      <Loaded of={entry}>
        {(value) => <Shown place={place} entry={value} isPast={at !== undefined} onChange={entry.refresh} />}
      </Loaded>
    </>
  );
}

interface ShownProps {
  readonly place: QueuePlace;
  readonly entry: PullRequest;
  readonly isPast: boolean;
  readonly onChange: () => void;
}

function Shown({ place, entry, isPast, onChange }: ShownProps) {
  const {
    prNumber,
    prTitle,
    prAuthor,
    prSha,
    state,
    stateChangedAt,
    explanation,
    forecast,
    landed,
    submittedBy,
    timeline = [],
  } = entry;
  const look = lookOfEntry(state);
  const isLive = entry.isCurrentlySubmittedToQueue;
  const reasons = explanation === undefined ? [] : furtherReasons(explanation);
  return (
    <article class="pr">
      <div class="title-row">
        <h1>
          <span class="number">#{prNumber}</span> {prTitle}
        </h1>
        {!isPast && <PullRequestActions place={place} entry={entry} onChange={onChange} />}
      </div>
      <p class="muted by">
        {prAuthor} · <Sha sha={prSha} /> · {entry.priorityName} priority
        {entry.skipTheLine && ' · urgent'}
        {submittedBy !== undefined && ` · submitted by ${submittedBy.isAgent ? 'the agent ' : ''}${submittedBy.name}`}
      </p>
      <section class={`verdict tone-${look.tone}`} aria-label="State">
        <p class="headline">
          <State look={look} isLarge />
          {state !== undefined && (
            <span class="muted">
              {isLive ? (
                <>
                  for <Since at={stateChangedAt} />
                </>
              ) : (
                <Ago at={stateChangedAt} />
              )}
            </span>
          )}
          {explanation?.position !== undefined && <span class="muted">place {explanation.position}</span>}
        </p>
        {explanation !== undefined && (
          <p class="sentence">
            <Sentence text={sentenceOf(explanation)} />
          </p>
        )}
        {forecast !== undefined && isLive && (
          <p class="forecast">
            <Sentence text={forecast.text} />
          </p>
        )}
      </section>
      {explanation !== undefined && explanation.next !== '' && (
        <section class="next" aria-label="Next">
          <h2>{isLive ? 'What happens next' : 'What to do'}</h2>
          <p>
            <Sentence text={explanation.next} />
          </p>
          {explanation.commands.length > 0 && (
            <ul class="commands">
              {explanation.commands.map((command) => (
                <li key={command}>
                  <Copy text={command} />
                </li>
              ))}
            </ul>
          )}
        </section>
      )}
      <Ladder place={place} entry={entry} isPast={isPast} />
      {entry.result !== undefined && <Repro result={entry.result} />}
      <Failing place={place} entry={entry} />
      {reasons.length > 0 && (
        <section aria-label="Why">
          <h2>Why</h2>
          <Reasons place={place} reasons={reasons} />
        </section>
      )}
      {landed !== undefined && <Proof place={place} landed={landed} />}
      {timeline.length > 0 && <Timeline place={place} prNumber={prNumber} timeline={timeline} />}
    </article>
  );
}
