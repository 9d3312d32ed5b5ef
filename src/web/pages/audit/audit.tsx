import { useSignal } from '@preact/signals';
import { now } from '../../core/clock.ts';
import { type Event, readEvents } from '../../core/events.ts';
import { nameOf } from '../../core/places.ts';
import { useResource } from '../../core/resource.ts';
import { toPath } from '../../core/route.ts';
import { may } from '../../core/session.ts';
import { Crumbs, useTitle } from '../../ui/layout.tsx';
import { Empty, Loaded } from '../../ui/page-states.tsx';
import { beginOf, daysShown, Range } from '../../ui/range.tsx';
import { Table } from '../../ui/table.tsx';
import { Ago, Copy, Sentence } from '../../ui/text.tsx';

const MOST = 1_000;

/** The records that never change: who did what, and every landing. */
export function AuditPage({ org }: { readonly org: string }) {
  useTitle(`Audit of ${org}`);
  const days = daysShown();
  return (
    <>
      <header class="head">
        <Crumbs org={org} />
      </header>
      <div class="title-row">
        <h1>Audit</h1>
        <Range days={days} />
      </div>
      {!may({ org }, 'admin') ? (
        <Empty title="The audit is for administrators" isPart>
          <p>They have the scope or the role admin in the whole organization.</p>
        </Empty>
      ) : (
        <Audit key={days} org={org} days={days} />
      )}
    </>
  );
}

function Audit({ org, days }: { readonly org: string; readonly days: number }) {
  const text = useSignal('');
  const after = beginOf(days, now.peek());
  const records = useResource(`audit ${org} ${days}`, (signal) =>
    readEvents(org, { audit: true, after }, MOST, signal),
  );
  return (
    <>
      <p class="muted">
        Every record has a digest over itself and the one before, so that none can be changed unseen. Check it yourself:{' '}
        <Copy text="sluice audit verify" />
      </p>
      <Loaded of={records}>
        {({ events, isWhole }) => (
          <>
            <div class="toolbar">
              <div>
                <label for="audit-text">Find</label>
                <input
                  id="audit-text"
                  type="search"
                  value={text.value}
                  onInput={(event) => {
                    text.value = event.currentTarget.value;
                  }}
                />
              </div>
              <span class="muted">
                {isWhole ? '' : 'the newest '}
                {events.length} records
              </span>
            </div>
            <Records org={org} events={events.filter((event) => isFound(event, text.value))} />
          </>
        )}
      </Loaded>
    </>
  );
}

function isFound({ text, type, actor }: Event, wanted: string): boolean {
  return `${text} ${type} ${actor.name}`.toLowerCase().includes(wanted.trim().toLowerCase());
}

function Records({ org, events }: { readonly org: string; readonly events: readonly Event[] }) {
  if (events.length === 0) return <p class="muted">No record.</p>;
  return (
    <Table heads={['When', 'What', 'Who', 'Where', 'Digest']}>
      {events.map(({ id, at, text, actor, repo, targetBranch: branch, digest = '' }) => (
        <tr key={id}>
          <td>
            <Ago at={at} isClock />
          </td>
          <td>
            <Sentence text={text} />
          </td>
          <td>{actor.name}</td>
          <td>
            {repo !== undefined && branch !== undefined && (
              <a href={toPath({ page: 'queue', org, repo, branch })}>
                {nameOf(repo)} {branch}
              </a>
            )}
            {repo !== undefined && branch === undefined && nameOf(repo)}
          </td>
          <td>
            <Copy text={digest} shown={digest.slice(0, 10)} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
