import type { ComponentChildren } from 'preact';
import type { Reply } from '../../core/api.ts';
import { formatHours, formatMinutes } from '../../model/number.ts';

export type Cost = Reply<'costOfFlakes'>['total'];

interface CostRow extends Cost {
  readonly key: string;
  readonly head: ComponentChildren;
}

const FIGURES = ['CI', 'Runs', 'Removed', 'Tested again'] as const;

/** The cost of each of several, with the waiting as bars that can be compared. */
export function CostTable({ what, rows }: { readonly what: string; readonly rows: readonly CostRow[] }) {
  const most = Math.max(...rows.map(({ hours_waited }) => hours_waited));
  return (
    <table class="test-table cost-table">
      <thead>
        <tr>
          <th scope="col">{what}</th>
          <th scope="col">Waiting</th>
          {FIGURES.map((name) => (
            <th key={name} scope="col" class="number">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.key}>
            <th scope="row">{row.head}</th>
            <td class="waiting" data-name="waiting">
              {formatHours(row.hours_waited)}
              <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
                <rect width={most === 0 ? 0 : (100 * row.hours_waited) / most} height="4" />
              </svg>
            </td>
            <td class="number" data-name="CI">
              {formatMinutes(row.ci_minutes)}
            </td>
            <td class="number" data-name="runs">
              {row.test_runs.toLocaleString('en-US')}
            </td>
            <td class="number" data-name="removed">
              {row.entries_removed.toLocaleString('en-US')}
            </td>
            <td class="number" data-name="tested again">
              {row.entries_retested.toLocaleString('en-US')}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
