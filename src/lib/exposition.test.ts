import assert from 'node:assert/strict';
import { it } from 'node:test';
import { formatExposition } from './exposition.ts';

it('writes gauges and histograms, labels escaped [M1]', () => {
  const text = formatExposition([
    { type: 'gauge', name: 'a', help: 'A\nB', samples: [{ labels: { x: 'q"\\\n' }, value: 3 }] },
    {
      type: 'histogram',
      name: 'h',
      help: 'H',
      bounds: [1, 5],
      samples: [{ labels: { x: 'y' }, values: [0.5, 1, 4, 9] }],
    },
  ]);
  assert.equal(
    text,
    [
      '# HELP a A\\nB',
      '# TYPE a gauge',
      'a{x="q\\"\\\\\\n"} 3',
      '# HELP h H',
      '# TYPE h histogram',
      'h_bucket{x="y",le="1"} 2',
      'h_bucket{x="y",le="5"} 3',
      'h_bucket{x="y",le="+Inf"} 4',
      'h_sum{x="y"} 14.5',
      'h_count{x="y"} 4',
      '',
    ].join('\n'),
  );
});
