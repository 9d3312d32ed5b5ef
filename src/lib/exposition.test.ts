import assert from 'node:assert/strict';
import { it } from 'node:test';
import { formatExposition, toHistogramSample } from './exposition.ts';

it('an exposition has gauges and histograms, with labels escaped [M1]', () => {
  const text = formatExposition([
    { type: 'gauge', name: 'a', help: 'A\nB', samples: [{ labels: { x: 'q"\\\n' }, value: 3 }] },
    {
      type: 'histogram',
      name: 'h',
      help: 'H',
      bounds: [1, 5],
      samples: [toHistogramSample({ x: 'y' }, [1, 5], [0.5, 1, 4, 9])],
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

it('an exposition leaves out the buckets of a snapshot that say nothing, and keeps every quantile [M12]', () => {
  const bounds = [1, 2, 3, 4, 5, 6];
  const shown = (values: readonly number[]) => {
    const samples = [toHistogramSample({}, bounds, values)];
    const text = formatExposition([{ type: 'histogram', name: 'h', help: 'H', bounds, samples, isTrimmed: true }]);
    return [...text.matchAll(/le="([^"]+)"} (\d+)/g)].map(([, le, count]) => `${le}:${count}`).join(' ');
  };
  assert.equal(shown([3, 3.5, 3.5]), '2:0 3:1 4:3 +Inf:3');
  assert.equal(shown([0.5]), '1:1 +Inf:1');
  assert.equal(shown([7]), '6:0 +Inf:1');
  assert.equal(shown([0.5, 9]), '1:1 2:1 3:1 4:1 5:1 6:1 +Inf:2');
});
