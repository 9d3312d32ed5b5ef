import { call } from '../../core/api.ts';
import { keyOf, queueBody, touches } from '../../core/places.ts';
import type { PullRequest } from '../../core/replies.ts';
import { useResource } from '../../core/resource.ts';
import { type QueuePlace, toPath } from '../../core/route.ts';
import { ladderOf, neighboursOf, type Rung } from '../../model/ladder.ts';
import { lookOfEntry } from '../../model/state.ts';
import { State } from '../../ui/shape.tsx';

interface Props {
  readonly place: QueuePlace;
  readonly entry: PullRequest;
  readonly at: string | undefined;
}

/** The pull requests that this one is built on, and those that are built on it. */
export function Ladder({ place, entry, at }: Props) {
  const numbers = neighboursOf(entry);
  return numbers.length === 0 ? null : <Rungs {...{ place, entry, at, numbers }} />;
}

function Rungs({ place, entry, at, numbers }: Props & { readonly numbers: readonly number[] }) {
  const body = { ...queueBody(place), prs: numbers.map((number) => ({ number })) };
  const members = useResource<readonly PullRequest[] | undefined>(
    `stack ${keyOf(place)} ${numbers.join()} ${at}`,
    async (signal) => {
      // The states of the past would be a question for each.
      if (at !== undefined) return undefined;
      return (await call(place.org, 'getSubmittedPullRequests', body, { signal })).pullRequests;
    },
    { isTouchedBy: (event) => touches(place, event) },
  );
  return (
    <section aria-label="Stack">
      <h2>Stack</h2>
      <ol class="ladder" reversed>
        {ladderOf(entry, members.value ?? []).map((rung) => (
          <RungLine key={rung.prNumber} place={place} rung={rung} isRead={members.value !== undefined} />
        ))}
      </ol>
      <p class="muted">The lower ones land on {place.branch} first.</p>
    </section>
  );
}

function RungLine({
  place,
  rung,
  isRead,
}: {
  readonly place: QueuePlace;
  readonly rung: Rung;
  readonly isRead: boolean;
}) {
  const { prNumber, title, state, isPresent } = rung;
  const look = lookOfEntry(state);
  const merged = state === 'MERGED' ? { ...look, word: 'Merged' } : look;
  return (
    <li class={`tone-${look.tone}`} {...(isPresent && { 'aria-current': 'true' as const })}>
      {isPresent ? <strong>#{prNumber}</strong> : <a href={toPath({ page: 'pr', ...place, prNumber })}>#{prNumber}</a>}
      <span>{title}</span>
      {(isRead || state !== undefined) && <State look={merged} />}
    </li>
  );
}
