import type { ComponentChildren } from 'preact';

interface Props {
  readonly heads: readonly string[];
  /** Its rows. */
  readonly children: ComponentChildren;
}

export function Table({ heads, children }: Props) {
  return (
    <div class="table-frame">
      <table>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head}>{head}</th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
