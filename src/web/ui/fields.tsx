import type { Signal } from '@preact/signals';
import { now } from '../core/clock.ts';

interface ReasonProps {
  readonly value: Signal<string>;
  readonly isNeeded?: boolean;
}

export function ReasonField({ value, isNeeded = false }: ReasonProps) {
  return (
    <>
      <label for="reason">Reason, for those who read it later</label>
      <input
        id="reason"
        maxLength={1000}
        required={isNeeded}
        value={value.value}
        onInput={({ currentTarget }) => {
          value.value = currentTarget.value;
        }}
      />
    </>
  );
}

/** A choice of at least one. */
export function SuitesField({ suites, chosen }: { suites: readonly string[]; chosen: Signal<readonly string[]> }) {
  const choose = (suite: string) => {
    chosen.value = suites.filter((each) => (each === suite) !== chosen.value.includes(each));
  };
  return (
    <fieldset>
      <legend>In which of its suites</legend>
      {suites.map((suite) => (
        <label key={suite}>
          <input type="checkbox" required={chosen.value.length === 0} onChange={() => choose(suite)} /> {suite}
        </label>
      ))}
    </fieldset>
  );
}

const DAYS = [
  ['1', 'a day'],
  ['7', '7 days'],
  ['14', '14 days'],
  ['30', '30 days'],
] as const;

interface UntilProps {
  readonly value: Signal<string>;
  /** How the choice without an end reads. */
  readonly ends: string;
}

export function UntilField({ value, ends }: UntilProps) {
  return (
    <>
      <label for="until">How long</label>
      <select
        id="until"
        value={value.value}
        onChange={({ currentTarget }) => {
          value.value = currentTarget.value;
        }}
      >
        {DAYS.map(([days, text]) => (
          <option key={days} value={days}>
            for {text}
          </option>
        ))}
        <option value="">{ends}</option>
      </select>
    </>
  );
}

const DAY_MS = 86_400_000;

export function untilOf(days: string): string | undefined {
  return days === '' ? undefined : new Date(now.peek() + Number(days) * DAY_MS).toISOString();
}
