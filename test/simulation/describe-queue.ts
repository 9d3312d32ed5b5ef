import type { Candidate, Member } from '../../src/engine/candidate.ts';
import type { Entry, Queue } from '../../src/engine/queue.ts';
import { valuesOf } from '../../src/lib/int-map.ts';

/** The queue in a few lines, for debugging a failed seed. */
export function describeQueue(queue: Queue): string[] {
  const { settings, state, landing, head } = queue;
  return [
    `queue: ${settings.mode} ${state}, target ${head?.sha.slice(0, 10)} (${head?.ordinal})`,
    ...(queue.hold === undefined ? [] : [`the queue holds: ${JSON.stringify(queue.hold.cause)}`]),
    ...(landing === undefined ? [] : [`landing candidate ${landing.candidate}`]),
    ...[...valuesOf(queue.entries)].map(describeEntry),
    ...[...valuesOf(queue.candidates)].sort((a, b) => a.place - b.place).map(describeCandidate),
  ];
}

function describeEntry(entry: Entry): string {
  const { prNumber, state, submission, priority, targets, candidate, bisection, conflictsWith } = entry;
  const on = targets?.kind === 'list' ? `[${targets.targets.join()}]` : `[${targets?.kind ?? 'unknown'}]`;
  const facts = { candidate, bisection, setAside: conflictsWith, admission: entry.admission?.ordinal };
  const known = Object.entries(facts).flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]));
  return `  #${prNumber}${on} ${state} (submission ${submission}, priority ${priority.value}) ${known.join(', ')}`;
}

function describeCandidate(candidate: Candidate): string {
  const { number, place, purpose, state, base, beneath, members, sameTreeAs, pass, composedWith } = candidate;
  const list = (of: readonly Member[]) => of.map(({ prNumber }) => `#${prNumber}`).join(' ');
  const proof = pass === undefined ? '' : ` by ${pass.by} of ${pass.provenBy}`;
  const beside = composedWith.length === 0 ? '' : ` beside #${composedWith.join(' #')}`;
  const waits = sameTreeAs === undefined ? '' : ` twin of ${sameTreeAs}`;
  const what = `(${list(beneath)}) + ${list(members)}${beside}`;
  return `  candidate ${number} at ${place}, ${purpose.kind}: ${base.ordinal} + ${what}: ${state}${proof}${waits}`;
}
