import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { setQuery } from '../../core/location.ts';
import { type ListQuery, SORTS, STATUSES } from '../../model/test-list.ts';

const TYPING_MS = 250;

/** Narrows the list. The address keeps everything, so that a list can be sent to somebody. */
export function Filters({ asked, owners }: { readonly asked: ListQuery; readonly owners: readonly string[] }) {
  const change = (changes: Readonly<Record<string, string | undefined>>) => setQuery({ ...changes, page: undefined });
  return (
    <search class="filters">
      <Text
        name="Find"
        value={asked.text}
        placeholder="Name, class, file or suite"
        onChange={(text) => change({ text })}
      />
      <fieldset class="range" aria-label="Status">
        {[undefined, ...STATUSES].map((status) => (
          <button
            key={status ?? ''}
            type="button"
            aria-pressed={asked.status === status}
            onClick={() => change({ status })}
          >
            {status ?? 'all'}
          </button>
        ))}
      </fieldset>
      <select
        aria-label="Quarantine"
        value={asked.quarantined ?? ''}
        onChange={({ currentTarget }) => change({ quarantined: currentTarget.value })}
      >
        <option value="">quarantined or not</option>
        <option value="yes">quarantined</option>
        <option value="no">not quarantined</option>
      </select>
      <Text
        name="Owner"
        value={asked.owner}
        placeholder="Owner"
        list={owners}
        onChange={(owner) => change({ owner })}
      />
      <select
        aria-label="Sort by"
        value={asked.sort}
        onChange={({ currentTarget }) => change({ sort: sortOf(currentTarget.value) })}
      >
        {Object.entries(SORTS).map(([name, [, words]]) => (
          <option key={name} value={name}>
            by {words}
          </option>
        ))}
      </select>
    </search>
  );
}

/** The default is not part of the address. */
export function sortOf(name: string): string | undefined {
  return name === 'impact' ? undefined : name;
}

interface TextProps {
  readonly name: string;
  readonly value: string;
  readonly placeholder: string;
  readonly list?: readonly string[];
  readonly onChange: (value: string) => void;
}

/** Tells what was typed after a moment of rest. */
function Text({ name, value, placeholder, list, onChange }: TextProps) {
  const typed = useSignal(value);
  const told = useRef(value);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    // The address changed by other means: a link, or going back.
    if (value !== told.current) typed.value = value;
    told.current = value;
  }, [value, typed]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const id = `choices-${name}`;
  return (
    <>
      <input
        type="search"
        aria-label={name}
        placeholder={placeholder}
        maxLength={200}
        value={typed.value}
        {...(list === undefined ? {} : { list: id })}
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value;
          clearTimeout(timer.current);
          timer.current = setTimeout(() => {
            told.current = typed.value.trim();
            onChange(told.current);
          }, TYPING_MS);
        }}
      />
      {list !== undefined && (
        <datalist id={id}>
          {list.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </>
  );
}
