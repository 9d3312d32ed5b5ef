import { now } from '../../core/clock.ts';
import { readEvents } from '../../core/events.ts';
import { keyOf, queueBody, touches } from '../../core/places.ts';
import { useResource } from '../../core/resource.ts';
import { type QueuePlace, toPath } from '../../core/route.ts';
import { isStranger } from '../../core/stranger.ts';
import { describeLandings, type Landing, PROOF_KINDS } from '../../model/landings.ts';
import { useTitle } from '../../ui/layout.tsx';
import { Empty, Loaded } from '../../ui/page-states.tsx';
import { beginOf, daysShown, Range } from '../../ui/range.tsx';
import { Shape } from '../../ui/shape.tsx';
import { Table } from '../../ui/table.tsx';
import { Ago, Sha } from '../../ui/text.tsx';
import { HappenedList } from './happened-list.tsx';

const MOST = 2_000;

/** Every landing with its proof, and beside it alarms and changes of settings: the record of a branch. */
export function LandingsPage({ place }: { readonly place: QueuePlace }) {
  useTitle(`Landings on ${place.branch}`);
  const days = daysShown(30);
  const after = beginOf(days, now.peek());
  const events = useResource(
    `landings ${keyOf(place)} ${days}`,
    (signal) => readEvents(place.org, { ...queueBody(place), types: ['landing.recorded'], after }, MOST, signal),
    { isTouchedBy: (event) => touches(place, event) && event.type === 'landing.recorded' },
  );
  return (
    <>
      <div class="title-row">
        <h1>Landings</h1>
        <Range days={days} />
      </div>
      <Loaded of={events}>
        {({ events: all, isWhole }) => {
          const told = describeLandings(
            all.map(({ data }) => data as unknown as Landing),
            isWhole,
          );
          return (
            <>
              <p class={`tone-${told.isGood ? 'good' : 'bad'} told`}>
                <Shape name={told.isGood ? 'check' : 'cross'} /> {told.sentence}
              </p>
              {all.length === 0 ? <NoLanding /> : <LandingTable place={place} events={all} />}
            </>
          );
        }}
      </Loaded>
      {!isStranger.value && (
        <>
          <HappenedList place={place} title="Alarms" types={['alarm.*']} after={after} />
          <HappenedList place={place} title="Changes of the queue" types={['queue.*']} after={after} />
        </>
      )}
    </>
  );
}

function NoLanding() {
  return (
    <Empty title="No landing in this time" isPart>
      <p>Choose a longer time, or land a pull request.</p>
    </Empty>
  );
}

type Recorded = Awaited<ReturnType<typeof readEvents>>['events'];

function LandingTable({ place, events }: { readonly place: QueuePlace; readonly events: Recorded }) {
  return (
    <Table heads={['When', 'Pull request', 'Commit', 'Tested tree', 'Landed tree', 'Proof']}>
      {events.map((event) => {
        const landing = event.data as unknown as Landing;
        const { prNumber = 0 } = event;
        const isProven = landing.kind !== 'UNPROVEN';
        return (
          <tr key={event.id}>
            <td>
              <Ago at={event.at} isClock />
            </td>
            <td>
              <a class="proof" href={`${location.origin}${toPath({ page: 'pr', ...place, prNumber })}`}>
                #{prNumber}
              </a>
            </td>
            <td>
              <Sha sha={landing.sha} />
            </td>
            <td>
              <Sha sha={landing.testedTree} />
            </td>
            <td>
              <Sha sha={landing.pushedTree} />
            </td>
            <td class={`tone-${isProven ? 'good' : 'bad'}`}>
              <Shape name={isProven ? 'check' : 'cross'} /> {PROOF_KINDS[landing.kind] ?? landing.kind}
              {(landing.waived ?? []).map(({ check }) => (
                <span key={check} class="tag">
                  {check} waived
                </span>
              ))}
            </td>
          </tr>
        );
      })}
    </Table>
  );
}
