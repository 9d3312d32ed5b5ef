import type { Instant } from '../lib/clock.ts';
import type { Monitor } from './core/monitor.ts';
import type { LabelSource, TestState } from './core/state.ts';
import type { TestEvent } from './test-event.ts';

type Source = LabelSource['source'];

/**
 * Removes labels that no label monitor asserts any more, and adds those of the monitors in `speaking`. The other
 * monitors asserted theirs earlier: a label that a person removed does not come back by itself.
 */
// SPEC F12
export function settleLabels(
  state: TestState,
  monitors: readonly Monitor[],
  {
    at,
    speaking,
    gone,
  }: {
    readonly at: Instant;
    readonly speaking: (monitorId: string) => boolean;
    /** Deleted or changed monitors, needed for their names. */
    readonly gone: readonly Monitor[];
  },
): { readonly state: TestState; readonly events: readonly TestEvent[] } {
  let labels = state.labels;
  const events: TestEvent[] = [];
  for (const { label, source, since } of state.labels) {
    if (source.kind !== 'monitor' || keepsLabel(state, monitors, source.id, label)) continue;
    labels = labels.filter((other) => !(other.label === label && isSameSource(other.source, source)));
    const monitor = [...monitors, ...gone].find(({ id }) => id === source.id);
    const named = monitor === undefined ? {} : { monitorName: monitor.name };
    events.push({ kind: 'label_removed', at: Math.max(at, since), actor: null, label, source, ...named });
  }
  for (const monitor of monitors) {
    if (monitor.action.kind !== 'label' || !speaking(monitor.id) || !speaks(state, monitor)) continue;
    const source: Source = { kind: 'monitor', id: monitor.id };
    for (const label of monitor.action.labels) {
      if (labels.some((other) => other.label === label && isSameSource(other.source, source))) continue;
      labels = [...labels, { label, source, since: at }];
      events.push({ kind: 'label_added', at, actor: null, label, source, monitorName: monitor.name });
    }
  }
  return events.length === 0 ? { state, events } : { state: { ...state, labels }, events };
}

/** A person adds a label, or removes it from every source at once. */
export function setLabel(
  state: TestState,
  act: { readonly label: string; readonly isOn: boolean; readonly actor: string; readonly at: Instant },
): { readonly state: TestState; readonly events: readonly TestEvent[] } {
  const { label, actor, at } = act;
  const own: Source = { kind: 'user', name: actor };
  if (act.isOn) {
    if (state.labels.some((other) => other.label === label && isSameSource(other.source, own)))
      return { state, events: [] };
    const labels = [...state.labels, { label, source: own, since: at }];
    return { state: { ...state, labels }, events: [{ kind: 'label_added', at, actor, label, source: own }] };
  }
  const gone = state.labels.filter((other) => other.label === label);
  if (gone.length === 0) return { state, events: [] };
  const events = gone.map(({ source }): TestEvent => ({ kind: 'label_removed', at, actor, label, source }));
  return { state: { ...state, labels: state.labels.filter((other) => other.label !== label) }, events };
}

export function labelsOf(state: TestState): readonly string[] {
  return [...new Set(state.labels.map(({ label }) => label))].sort();
}

function keepsLabel(state: TestState, monitors: readonly Monitor[], id: string, label: string): boolean {
  const monitor = monitors.find((other) => other.id === id);
  if (monitor?.action.kind !== 'label' || !monitor.enabled || !monitor.action.labels.includes(label)) return false;
  if (speaks(state, monitor)) return true;
  const own = state.monitors[id];
  return !monitor.action.removeOnResolve && own?.mute === null;
}

function speaks(state: TestState, monitor: Monitor): boolean {
  const own = state.monitors[monitor.id];
  return monitor.enabled && own !== undefined && own.activeSince !== null && own.mute === null;
}

function isSameSource(one: Source, other: Source): boolean {
  if (one.kind === 'monitor') return other.kind === 'monitor' && one.id === other.id;
  return other.kind === 'user' && one.name === other.name;
}
