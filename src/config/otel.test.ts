import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseConfig } from './config.ts';

const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://collector:4318/';

function tracesOf(environment: Record<string, string>) {
  const parsed = parseConfig(environment);
  assert.ok('config' in parsed, JSON.stringify(parsed));
  return parsed.config.traces;
}

function problemsOf(environment: Record<string, string>): readonly string[] {
  const parsed = parseConfig({ OTEL_EXPORTER_OTLP_ENDPOINT, ...environment });
  return 'problems' in parsed ? parsed.problems : [];
}

describe('the variables of OpenTelemetry', () => {
  it('turn traces on by the address of a receiver, and off again [M21]', () => {
    assert.equal(tracesOf({}), undefined);
    assert.equal(tracesOf({ OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER: 'xray' }), undefined);
    assert.equal(tracesOf({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' }), undefined);
    assert.equal(tracesOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'no address', OTEL_TRACES_EXPORTER: 'none' }), undefined);
    assert.deepEqual(tracesOf({ OTEL_EXPORTER_OTLP_ENDPOINT }), {
      url: 'http://collector:4318/v1/traces',
      headers: {},
      timeoutMs: 10_000,
      resource: { 'service.name': 'sluice' },
      sampling: { isParentBased: true, ratio: 1 },
    });
  });

  it('are read as their specification says [M21]', () => {
    const traces = tracesOf({
      OTEL_EXPORTER_OTLP_ENDPOINT,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.test/own?key=1',
      OTEL_EXPORTER_OTLP_HEADERS: ' authorization = Bearer%20a%3Db , x-two=2=2,',
      OTEL_EXPORTER_OTLP_TIMEOUT: '500',
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,service.namespace=ci%20cd',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
    });
    assert.deepEqual(traces, {
      url: 'https://traces.test/own?key=1',
      headers: { authorization: 'Bearer a=b', 'x-two': '2=2' },
      timeoutMs: 500,
      resource: { 'service.name': 'other', 'service.namespace': 'ci cd' },
      sampling: { isParentBased: false, ratio: 0.25 },
    });
    const named = { OTEL_RESOURCE_ATTRIBUTES: 'service.name=other', OTEL_SERVICE_NAME: 'mine' };
    assert.equal(tracesOf({ OTEL_EXPORTER_OTLP_ENDPOINT, ...named })?.resource['service.name'], 'mine');
    const off = tracesOf({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER: 'parentbased_always_off' });
    assert.deepEqual(off?.sampling, { isParentBased: true, ratio: 0 });
  });

  it('are refused in words where they are wrong, without repeating secrets [M21]', () => {
    const wrong = {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://user:hunter2@collector',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=%zzhunter2',
      OTEL_EXPORTER_OTLP_TIMEOUT: 'soon',
      OTEL_RESOURCE_ATTRIBUTES: 'no pair',
      OTEL_TRACES_SAMPLER: 'xray',
      OTEL_TRACES_SAMPLER_ARG: '2',
    };
    const problems = problemsOf(wrong);
    assert.deepEqual(
      problems.map((problem) => problem.split(' ')[0]),
      Object.keys(wrong),
    );
    assert.ok(problems.every((problem) => /^OTEL_\w+ must (?:not )?(?:be|have) /.test(problem)));
    assert.ok(!problems.join().includes('hunter2'));
    assert.equal(problemsOf({ OTEL_EXPORTER_OTLP_HEADERS: 'a=line%0Abreak' }).length, 1);
    assert.equal(problemsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }).length, 1);
  });

  it('that have no effect are told of, where traces are on [M21]', () => {
    const certificate = { OTEL_EXPORTER_OTLP_CERTIFICATE: '/ca.pem', OTEL_LOG_LEVEL: 'info' };
    const parsed = parseConfig({ OTEL_EXPORTER_OTLP_ENDPOINT, ...certificate });
    assert.ok('config' in parsed);
    assert.match(parsed.warnings.join(), /^OTEL_EXPORTER_OTLP_CERTIFICATE is not read by Sluice\.[^,]*$/);
    const off = parseConfig(certificate);
    assert.deepEqual('config' in off && off.warnings, []);
  });
});
